import type {
  Clock,
  CompactionMessage,
  CompactionQueue,
  Logger,
  NewId,
  PressureStore,
  ScanState,
  SettingsStore,
  SkipReason,
} from '../ports.ts';
import { ACTIVE_WITHIN_MS, CLAIM_MS, MAX_CLAIMS_PER_SCAN, QUIET_MS } from '../settings/defaults.ts';
import { type GlobalSettings, globalSettings } from '../settings/global.ts';
import { windowsOf } from '../settings/index.ts';
import { findCandidates, type Pressed } from './candidates.ts';
import { logLines } from './log-lines.ts';

export type ScanDeps = {
  readonly store: PressureStore & ScanState & SettingsStore;
  readonly queue: CompactionQueue;
  /** Id of the summarizing model; its window in the catalog is the third step of A14. */
  readonly utilityModel?: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
};

export type ScanReport =
  | { readonly ran: false; readonly why: 'disabled' | 'not_due' }
  | {
      readonly ran: true;
      readonly candidates: number;
      readonly claimed: number;
      readonly sent: number;
      readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
      /** Candidates that this scan did not get to; the next one starts where pressure is highest. */
      readonly backlog: number;
    };

/** Candidates read beyond the claims of one scan, so that a few unclaimable ones do not starve the rest. */
const READ_LIMIT = MAX_CLAIMS_PER_SCAN * 4;
/** Ticks come every minute, seconds early or late; a scan must not slip to the next tick for that. */
const TICK_SLACK_MS = 30_000;

/** One tick of the scanner (design 7, A17): a kill switch that costs one read, a due check, claims, messages. */
export async function scan(deps: ScanDeps): Promise<ScanReport> {
  const { store, logger } = deps;
  const settings = globalSettings(await store.readGlobal());
  if (!settings.auto_compaction_enabled) return { ran: false, why: 'disabled' };
  const now = deps.clock();
  const intervalMs = Math.max(0, settings.auto_compaction_interval_minutes * 60_000 - TICK_SLACK_MS);
  if (!(await store.startScan(now, intervalMs))) return { ran: false, why: 'not_due' };

  const windows = windowsOf(await store.readCatalog(), deps.utilityModel);
  const candidates = await findCandidates(store, windows, settings.auto_compaction_threshold, READ_LIMIT);
  logger.info(logLines.scanning(candidates.length), { candidates: candidates.length });

  const claims = await claimMostPressed(deps, candidates, settings, now);
  const failed = await deps.queue.send(claims.messages);
  await Promise.all(failed.map((message) => store.releaseClaim(message.channel_id)));
  const report = {
    ran: true as const,
    candidates: candidates.length,
    claimed: claims.messages.length,
    sent: claims.messages.length - failed.length,
    skipped: claims.skipped,
    backlog: candidates.length - claims.seen,
  };
  logger.info('compaction: scan finished', report);
  return report;
}

/** Checks that cost nothing, made on what the index itself says (A18). */
function freshness(candidate: Pressed, now: number): SkipReason | undefined {
  const quietFor = now - candidate.activeAt;
  if (quietFor < QUIET_MS) return 'too_fresh';
  return quietFor > ACTIVE_WITHIN_MS ? 'stale' : undefined;
}

type Claims = {
  readonly messages: CompactionMessage[];
  readonly skipped: Partial<Record<SkipReason, number>>;
  seen: number;
};

async function claimMostPressed(
  deps: ScanDeps,
  candidates: readonly Pressed[],
  settings: GlobalSettings,
  now: number,
): Promise<Claims> {
  const claims: Claims = { messages: [], skipped: {}, seen: 0 };
  const cooldownMs = settings.auto_compaction_cooldown_minutes * 60_000;
  for (const candidate of candidates) {
    if (claims.messages.length >= MAX_CLAIMS_PER_SCAN) break;
    claims.seen += 1;
    const stale = freshness(candidate, now);
    const claim = stale
      ? { claimed: false as const, reason: stale }
      : await deps.store.claim(candidate.channelId, {
          tokens: candidate.tokens,
          now,
          claimMs: CLAIM_MS,
          cooldownMs,
        });
    if (claim.claimed) {
      deps.logger.info(qualifies(candidate), { channel_id: candidate.channelId });
      claims.messages.push(messageFor(candidate, deps.newId()));
    } else {
      claims.skipped[claim.reason] = (claims.skipped[claim.reason] ?? 0) + 1;
      deps.logger.info(
        logLines.skipped(
          candidate.channelId,
          claim.reason,
          'remainingMs' in claim ? claim.remainingMs : undefined,
        ),
        {
          channel_id: candidate.channelId,
          reason: claim.reason,
        },
      );
    }
  }
  return claims;
}

const qualifies = ({ channelId, ratio, budget, messages }: Pressed): string =>
  logLines.qualifies(channelId, ratio, budget, messages);

const messageFor = (candidate: Pressed, correlationId: string): CompactionMessage => ({
  channel_id: candidate.channelId,
  user_id: candidate.userId,
  trigger: 'auto',
  correlation_id: correlationId,
});
