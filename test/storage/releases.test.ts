import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { AgentRelease } from '../../src/agents/release.ts';
import { databases, migrated, type OpenDatabase } from './support/databases.ts';
import { type SessionWorld, sessionWorld } from './support/sessions.ts';

const postSessionWebhook = {
  url: 'https://example.com/hook',
  headers: [{ key: 'Authorization', value: 'Bearer shh' }],
};

describe.each(databases)('releases and memories on the $name database', ({ open }) => {
  let opened: OpenDatabase;
  let world: SessionWorld;
  beforeAll(async () => {
    opened = await migrated(open);
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    world = await sessionWorld(opened.database, { config: { postSessionWebhook } });
  });
  const kept = () =>
    opened.database.query<{ id: string; text: string }>(
      'SELECT id, release::text AS text FROM agent_releases WHERE project_id = $1',
      [world.projectId],
    );
  const age = () =>
    opened.database.query(`UPDATE agent_releases SET kept_at = kept_at - interval '25 hours'`, []);

  test('equal ones are kept once, whatever the order of their keys, and read back whole', async () => {
    const { agent, ...rest } = world.release;
    const turned = { ...rest, agent: Object.fromEntries(Object.entries(agent).reverse()) } as AgentRelease;
    expect(await world.stores.releases.keep(world.projectId, turned)).toBe(world.releaseId);
    expect(await kept()).toHaveLength(1);
    expect(await world.stores.releases.find(world.projectId, world.releaseId)).toEqual(world.release);
    const other = await world.stores.releases.keep(world.projectId, { ...world.release, pathwayVersion: 4 });
    expect(other).not.toBe(world.releaseId);
    expect(await kept()).toHaveLength(2);
  });

  test('secrets in headers are sealed, and one project does not read another’s', async () => {
    expect((await kept())[0]?.text).not.toContain('shh');
    const stranger = await sessionWorld(opened.database);
    expect(await stranger.stores.releases.find(stranger.projectId, world.releaseId)).toBeUndefined();
  });

  test('unused ones go once they are old; what a session or an unfinished webhook needs stays', async () => {
    const session = await world.start();
    await age();
    await world.stores.releases.removeUnused();
    expect(await kept()).toHaveLength(1);
    await world.end(session);
    await world.stores.releases.removeUnused();
    expect(await kept()).toHaveLength(1);
    await opened.database.query('DELETE FROM webhook_outbox WHERE instance_id = $1', [session.instanceId]);
    await world.stores.releases.keep(world.projectId, world.release);
    await world.stores.releases.removeUnused();
    expect(await kept()).toHaveLength(1);
    await age();
    await world.stores.releases.removeUnused();
    expect(await kept()).toEqual([]);
  });

  test('a memory is the last that was kept, of that project’s customer', async () => {
    const stranger = await sessionWorld(opened.database);
    const { memory } = world.stores;
    expect(await memory.find(world.projectId, 'id:7')).toBeUndefined();
    await memory.keep(world.projectId, 'id:7', 'likes tea');
    await memory.keep(world.projectId, 'id:7', 'likes coffee');
    expect(await memory.find(world.projectId, 'id:7')).toBe('likes coffee');
    expect(await memory.find(stranger.projectId, 'id:7')).toBeUndefined();
  });
});
