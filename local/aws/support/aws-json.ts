import { AppError } from '../../../lib/errors.ts';

/** An error that a service answered; `code` is its type, such as `QueueDoesNotExist`. */
export class AwsCallError extends AppError {}

export type AwsCaller = {
  readonly endpoint: string;
  readonly region: string;
  /** Name of the caller in the credentials, for the gateway's log. */
  readonly accessKeyId: string;
};

type Protocol = { readonly service: string; readonly target: string; readonly version: '1.0' | '1.1' };

const PROTOCOLS = {
  dynamodb: { service: 'dynamodb', target: 'DynamoDB_20120810', version: '1.0' },
  sqs: { service: 'sqs', target: 'AmazonSQS', version: '1.0' },
} as const satisfies Record<string, Protocol>;

/** One call of an AWS service in its JSON protocol. The signature is not computed: the engines here do not check it. */
export async function callAws(
  caller: AwsCaller,
  service: keyof typeof PROTOCOLS,
  operation: string,
  input: object,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const { target, version } = PROTOCOLS[service];
  const response = await fetch(caller.endpoint, {
    method: 'POST',
    headers: {
      'content-type': `application/x-amz-json-${version}`,
      'x-amz-target': `${target}.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: credentials(caller, service),
    },
    body: JSON.stringify(input),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const output = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  if (response.ok) return output;
  const type = String(output.__type ?? response.status).replace(/^.*#/, '');
  throw new AwsCallError(type, `${operation}: ${output.message ?? output.Message ?? text}`);
}

function credentials({ accessKeyId, region }: AwsCaller, service: string): string {
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${region}/${service}/aws4_request, SignedHeaders=host;x-amz-date, Signature=0`;
}
