import * as z from 'zod';
import { AppError } from '../../lib/errors.ts';

/** The API refused a call; carries its stable code. */
export class ApiError extends AppError {
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(code, message);
    this.status = status;
  }
}

const problem = z.looseObject({ code: z.string(), detail: z.string() });

export type Api = <T extends z.ZodType>(
  method: string,
  path: string,
  reply: T,
  body?: unknown,
) => Promise<z.output<T>>;

/** What is no JSON is for the schemas to refuse. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls the API as one person; replies are parsed by the schema that the caller needs. Throws `ApiError`. */
export function createApi(url: string, token: string): Api {
  return async (method, path, reply, body) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = jsonOf(text);
    if (response.ok) return reply.parse(json);
    const told = problem.safeParse(json);
    const { code, detail } = told.success ? told.data : { code: 'unexpected', detail: text.slice(0, 200) };
    throw new ApiError(response.status, code, detail);
  };
}

export const channelReply = z.looseObject({ id: z.string(), title: z.string() });
export const pressureReply = z.looseObject({
  tokens: z.number(),
  messages: z.number(),
  chars: z.number(),
  budget: z.number(),
  ratio: z.number(),
  over_threshold: z.boolean(),
  state: z.string(),
  boundary_id: z.string().nullable(),
});
export const messageReply = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: z.unknown(),
  metadata: z.record(z.string(), z.unknown()),
});
export const contextReply = z.looseObject({
  summary_id: z.string().nullable(),
  messages: z.array(messageReply),
});
export const anyReply = z.unknown();

export type Pressure = z.output<typeof pressureReply>;
