import { NotFoundError } from '../errors.ts';
import type { Job, JobStore } from '../ports.ts';
import type { StoreContext } from './context.ts';
import { ITEM_VERSION } from './items.ts';
import { keys } from './keys.ts';

const KEPT_FOR_S = 24 * 3_600;

export function createJobStore({ db, clock }: StoreContext): JobStore {
  return {
    async putJob(job) {
      const expiresAt = Math.floor(clock() / 1_000) + KEPT_FOR_S;
      await db.batchPut([{ ...keys.job(job.channelId, job.id), v: ITEM_VERSION, job, expiresAt }]);
    },

    async getJob(channelId, jobId) {
      const item = await db.get(keys.job(channelId, jobId));
      if (item === undefined) {
        throw new NotFoundError(
          'compaction_not_found',
          `There is no compaction ${jobId}; they are kept for a day.`,
        );
      }
      return item.job as Job;
    },
  };
}
