/** An error in an AWS service's own words: its type and its HTTP status reach the SDK client. */
export class ServiceError extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.name = 'ServiceError';
    this.type = type;
    this.status = status;
  }
}
