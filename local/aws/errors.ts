import { AppError } from '../../lib/errors.ts';

/** Something that keeps the embedded AWS from doing what the template says; the message is one sentence for a person. */
export class EmbeddedAwsError extends AppError {}

/** The template uses something that the embedded AWS does not know, so what runs here would not be what is deployed. */
export class UnsupportedTemplateError extends EmbeddedAwsError {
  constructor(where: string, what: string) {
    super('template_unsupported', `${where}: ${what}`);
  }
}

/** The template contradicts itself; a deployment would refuse it as well. */
export class InvalidTemplateError extends EmbeddedAwsError {
  constructor(where: string, what: string) {
    super('template_invalid', `${where}: ${what}`);
  }
}

/** Another program listens on the port that was asked for. */
export class PortTakenError extends EmbeddedAwsError {
  constructor(port: number, purpose: string) {
    super(
      'port_taken',
      `Port ${port} for the ${purpose} is taken by another program: stop that program, or choose another port (0 picks a free one).`,
      { details: { port } },
    );
  }
}
