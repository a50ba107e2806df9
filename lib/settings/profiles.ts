import { AUTO_MIN_PATH, AUTO_MIN_SINCE_BOUNDARY, MANUAL_MIN_SINCE_BOUNDARY } from './defaults.ts';

/** How one kind of conversation is compacted (design 5). A profile is data; the engine has one code path. */
export type Profile = {
  readonly name: 'channel';
  /** Newest turns kept verbatim; 0 follows document A to the letter. */
  readonly keepTurns: number;
  /** The kept tail weighs at most this share of the budget. */
  readonly keepMaxRatio: number;
  readonly minSinceBoundary: { readonly manual: number; readonly auto: number };
  readonly minPath: { readonly manual: number; readonly auto: number };
};

export const CHANNEL_PROFILE: Profile = {
  name: 'channel',
  keepTurns: 2,
  keepMaxRatio: 0.2,
  minSinceBoundary: { manual: MANUAL_MIN_SINCE_BOUNDARY, auto: AUTO_MIN_SINCE_BOUNDARY },
  minPath: { manual: 0, auto: AUTO_MIN_PATH },
};
