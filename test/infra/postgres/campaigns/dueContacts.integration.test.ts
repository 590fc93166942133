import { afterAll, beforeAll, expect, test } from 'vitest';

import { dueContacts } from '../../../../src/infra/postgres/campaigns/dueContacts.ts';
import { insertCampaign } from '../support/campaigns.ts';
import { migrated, type OpenDatabase, openServerDatabase } from '../support/databases.ts';
import { countRowsRead } from '../support/rowsRead.ts';
import { BEGIN, sessionWorld } from '../support/sessions.ts';

/** Enough for the planner to prefer an index. */
const CONTACTS = 20_000;
const ZONES = ['Asia/Taipei', 'Asia/Tokyo', 'America/New_York'];

let open: OpenDatabase;
let campaignId: string;
beforeAll(async () => {
  open = await migrated(openServerDatabase);
  const world = await sessionWorld(open.database);
  const { projectId } = world;
  campaignId = (await insertCampaign(world)).id;
  // Half of them are done, and a tenth is called later.
  await open.database.query(
    `INSERT INTO campaign_contacts (id, campaign_id, project_id, to_number, variables, zones, priority, status, not_before)
     SELECT gen_random_uuid(), $1, $2, '+8869' || n, '{}', ($3::text[])[n % 3 + 1], n % 7,
       CASE WHEN n % 2 = 0 THEN 'done' ELSE 'pending' END, CASE WHEN n % 10 = 1 THEN timestamptz '2030-01-01' END
     FROM generate_series(1, ${CONTACTS}) AS n`,
    [campaignId, projectId, ZONES],
  );
  await open.database.query('ANALYZE campaign_contacts');
});
afterAll(() => open.close());

test('The next contact of a long list, its zones and the next time of a contact cost a few rows', async () => {
  const counting = countRowsRead(open.database, 'campaign_contacts');
  const contacts = dueContacts(counting);
  expect(await contacts.zones(campaignId)).toEqual(ZONES.toSorted().map((zone) => [zone]));
  const next = await contacts.first(campaignId, [['Asia/Taipei'], ['Asia/Tokyo']]);
  expect([next?.priority, next?.status, next?.zones[0]?.startsWith('Asia/')]).toEqual([6, 'pending', true]);
  expect(await contacts.first(campaignId, [['Europe/Paris']])).toBeUndefined();
  await contacts.release(campaignId, BEGIN);
  expect(await contacts.nextRelease(campaignId)).toBe('2030-01-01T00:00:00.000Z');
  expect(counting.rowsRead).toBeLessThan(50);
});
