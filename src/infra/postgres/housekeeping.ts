import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import { DAY_MS } from '../../base/values/clock.ts';
import type { Queryable } from './connection/database.ts';
import { EXPIRED, type Expired, removeExpired } from './retention.ts';

const EVERY_MS = 10 * 60_000;

export interface HousekeepingDeps {
  readonly database: Queryable;
  readonly audit: { removeOlderThan(time: Date): Promise<void> };
  readonly auditRetentionDays: number;
  readonly releases: { removeUnused(): Promise<void> };
  readonly clock: Clock;
  readonly logger: { warn(fields: object, message: string): void };
}

/**
 * Removes expired rows at an interval. Several nodes may run it.
 *
 * @returns A function that stops it and waits for the running statement; idempotent.
 */
export function startHousekeeping(deps: HousekeepingDeps): () => Promise<void> {
  const { database, audit, auditRetentionDays, releases, clock, logger } = deps;
  let isStopping = false;
  const tasks: [what: string, remove: (now: Date) => Promise<unknown>][] = [
    ...(Object.keys(EXPIRED) as Expired[]).map((what): (typeof tasks)[number] => [
      what,
      (now) => removeExpired(database, what, now, () => isStopping),
    ]),
    ['audit', (now) => audit.removeOlderThan(new Date(now.getTime() - auditRetentionDays * DAY_MS))],
    ['releases', () => releases.removeUnused()],
  ];
  const removeAll = async () => {
    const now = new Date(clock.now());
    for (const [what, remove] of tasks) {
      if (isStopping) return;
      // A failure of one does not hold up the others.
      await remove(now).catch((error: unknown) =>
        logger.warn({ err: error, what }, 'expired data not removed, retrying'),
      );
    }
  };
  const stop = repeat(clock, EVERY_MS, removeAll, (error) =>
    logger.warn({ err: error }, 'housekeeping failed, retrying'),
  );
  return () => {
    isStopping = true;
    return stop();
  };
}
