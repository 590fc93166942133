import { fileURLToPath } from 'node:url';

import { createSealer } from '../../src/base/sealer.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { campaignInput, settingsFrom } from '../../src/campaigns/campaign.ts';
import { dueCampaigns, dueContacts } from '../../src/infra/postgres/campaigns/dueContacts.ts';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { median } from '../support/statistics.ts';
import type { Line } from './report.ts';

const FILL_TIMEOUT_MS = 900_000;
const RUNS = 300;
const DAY_MS = 86_400_000;
const ZONES = 40;
const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));
const OPEN = Array.from({ length: ZONES / 2 }, (_, zone) => [`Zone/${zone}`]);
const CAPACITY = { rows: 1, perProject: 1, leftByProject: new Map<string, number>() };

/** Compares the choice of the next contact among many with that among few, in turn, so that the machine's load is shared. */
export async function measureChoice(contacts: number): Promise<Line[]> {
  const server = await startPostgres();
  const url = server.url;
  const database = openPostgres({ url, onIdleError: () => undefined, statementTimeoutMs: FILL_TIMEOUT_MS });
  try {
    await migrate(database, await readMigrations(MIGRATIONS));
    const stores = createStorage(database, createSealer(Buffer.alloc(32, 1))).stores;
    const projectId = uuidV7();
    await database.query(
      `INSERT INTO projects (id, name, session_idle_minutes, history_retention_days, report_usage, created_at, updated_at)
       VALUES ($1, 'p', 5, 30, false, now(), now())`,
      [projectId],
    );
    const add = async (count: number, ofEach: number): Promise<string[]> => {
      const ids = Array.from({ length: count }, uuidV7);
      for (const id of ids)
        await stores.campaigns.insert({
          ...settingsFrom(campaignInput.parse({ name: 'c' })),
          ...{
            id,
            projectId,
            name: 'c',
            description: null,
            status: 'running',
            statusReason: null,
            placed: 0,
          },
          pacedAt: null,
          ...{ recentOutcomes: '', createdAt: new Date().toISOString(), startedAt: null, endedAt: null },
        });
      // A third of them is done, and a tenth is called later.
      await database.query(
        `INSERT INTO campaign_contacts (id, campaign_id, project_id, to_number, variables, zones, priority, status, not_before)
         SELECT gen_random_uuid(), id, $2, '+8869' || n, '{}', 'Zone/' || n % ${ZONES}, 0,
           CASE WHEN n % 3 = 0 THEN 'done' ELSE 'pending' END, CASE WHEN n % 10 = 1 THEN timestamptz '2100-01-01' END
         FROM unnest($1::uuid[]) AS id, generate_series(1, $3::integer) AS n`,
        [ids, projectId, ofEach],
      );
      return ids;
    };
    const [few = ''] = await add(1, 1_000);
    const many = await add(1_000, contacts / 1_000);
    const [one = ''] = await add(1, contacts);
    await database.query('VACUUM ANALYZE campaign_contacts');
    const times = { few: [] as number[], many: [] as number[], one: [] as number[] };
    for (let run = 0; run < RUNS; run += 1) {
      times.few.push(await timeOf(database, few));
      times.many.push(await timeOf(database, many[run % many.length] ?? ''));
      times.one.push(await timeOf(database, one));
    }
    const fewMs = median(times.few);
    const ratio = (these: readonly number[]) => {
      const ms = median(these);
      return `${(ms / fewMs).toFixed(2)} times; ${ms.toFixed(2)} ms and ${fewMs.toFixed(2)} ms`;
    };
    const aim = 'at most 1.5 times';
    return [
      {
        what: `next contact: ${contacts} in 1,000 campaigns, and 1,000 in one`,
        aim,
        figure: ratio(times.many),
      },
      { what: `next contact: ${contacts} in one campaign, and 1,000 in one`, aim, figure: ratio(times.one) },
    ];
  } finally {
    await database.close();
    await server.close();
  }
}

/** The reads of a step: the claim, contacts that are due again, zones, the first of the open ones. @returns Milliseconds. */
async function timeOf(database: ReturnType<typeof openPostgres>, id: string): Promise<number> {
  const contacts = dueContacts(database);
  const { claimDue } = dueCampaigns(database);
  await database.query('UPDATE campaigns SET next_at = now() WHERE id = $1', [id]);
  const startMs = performance.now();
  await claimDue(new Date(), new Date(Date.now() + DAY_MS), CAPACITY);
  await contacts.release(id, new Date().toISOString());
  await contacts.zones(id);
  await contacts.first(id, OPEN);
  return performance.now() - startMs;
}
