import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';

import type { Dependency } from '../../api/ports.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Queryable } from '../../infra/postgres/connection/database.ts';
import type { Surroundings } from '../../observability/metrics/surroundings.ts';
import type { Config } from '../settings/config.ts';

/** A scrape must not wait for a service that is away. */
const CHECK_TIMEOUT_MS = 2_000;

/** Measures what this node depends on. */
export function measureSurroundings(
  { DATA_DIR, SIP_TLS_PORT, SIP_TLS_CERT_FILE }: Config,
  dependencies: readonly Dependency[],
  database: Queryable,
  clock: Clock,
): Surroundings {
  const inTime = <Result>(work: Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      const timer = clock.setTimer(() => reject(new Error('no answer in time')), CHECK_TIMEOUT_MS);
      work.finally(() => timer.cancel()).then(resolve, reject);
    });
  const isUp = async (one: Dependency): Promise<boolean> => {
    if (one.isDown?.()) return false;
    return await inTime(one.check()).then(
      () => true,
      () => false,
    );
  };
  const number = async (sql: string): Promise<number> => {
    const [row] = await inTime(database.query<{ value: number | null }>(sql));
    return row?.value ?? 0;
  };
  const certificate = SIP_TLS_PORT === undefined ? undefined : SIP_TLS_CERT_FILE;
  return {
    dependencies: async () =>
      new Map(await Promise.all(dependencies.map(async (one) => [one.name, await isUp(one)] as const))),
    async disk() {
      const { bavail, blocks, bsize } = await statfs(DATA_DIR);
      return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
    },
    async clockOffsetMs() {
      const sentMs = clock.now();
      const theirsMs = await number(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS value',
      );
      return (sentMs + clock.now()) / 2 - theirsMs;
    },
    webhookDelayMs: () =>
      number(
        `SELECT (greatest(0, extract(epoch FROM clock_timestamp() - min(next_at))) * 1000)::double precision AS value
         FROM webhook_outbox`,
      ),
    ...(certificate === undefined
      ? {}
      : {
          // Read each time: it is renewed in place.
          certificateEndMs: async () => Date.parse(new X509Certificate(await readFile(certificate)).validTo),
        }),
  };
}
