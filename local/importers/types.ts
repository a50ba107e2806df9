import { AppError } from '../../lib/errors.ts';
import type { ImportedMessage } from '../../lib/ports.ts';

export type ImportedConversation = {
  readonly title: string;
  /** ISO 8601 of the last message, when the export tells. */
  readonly updatedAt?: string;
  readonly messages: readonly ImportedMessage[];
  /** The leaf that was shown last; `null`: the newest. */
  readonly currentRef: string | null;
  /** What was said later, below the current message; the demo says it after the first compaction. */
  readonly continues?: readonly Pick<ImportedMessage, 'role' | 'content'>[];
};

/** A file that is no conversation: says which file, where in it, and why. Nothing of it was imported. */
export class ImportError extends AppError {
  constructor(file: string, place: string, reason: string) {
    super('invalid_import', `${file}: ${place === '' ? '' : `${place}: `}${reason}`);
  }
}

/** Raised while one conversation is read; the caller adds the file. */
export class PlaceError extends Error {
  readonly place: string;

  constructor(place: string, reason: string) {
    super(reason);
    this.place = place;
  }
}

/** A message before its tree is put in order; `undefined` content means: leave it out, its answers move up. */
export type RawNode = Omit<ImportedMessage, 'content'> & { readonly content?: ImportedMessage['content'] };
