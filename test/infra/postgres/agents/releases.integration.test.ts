import { beforeEach, describe, expect, test } from 'vitest';

import type { AgentRelease } from '../../../../src/agents/releases/release.ts';
import type { Tool } from '../../../../src/agents/tool.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { useDatabase } from '../support/databases.ts';
import { type SessionWorld, sessionWorld } from '../support/sessions.ts';

const TOOL = {
  name: 'look_up',
  description: '',
  parameters: {},
  http: { method: 'GET', url: 'https://example.com', headers: [], timeoutMs: 1_000 },
} as const;

const postSessionWebhook = {
  url: 'https://example.com/hook',
  headers: [{ key: 'Authorization', value: 'Bearer shh' }],
};

describe('Releases and memories', () => {
  const opened = useDatabase();
  let world: SessionWorld;
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

  test('stores equal releases once, regardless of key order, and reads them back', async () => {
    const { agent, ...rest } = world.release;
    const turned = { ...rest, agent: Object.fromEntries(Object.entries(agent).reverse()) } as AgentRelease;
    expect(await world.stores.releases.keep(world.projectId, turned)).toBe(world.releaseId);
    expect(await kept()).toHaveLength(1);
    expect(await world.stores.releases.find(world.projectId, world.releaseId)).toEqual(world.release);
    const other = await world.stores.releases.keep(world.projectId, { ...world.release, pathwayVersion: 4 });
    expect(other).not.toBe(world.releaseId);
    expect(await kept()).toHaveLength(2);
  });

  test('seals secrets in headers, and keeps projects apart', async () => {
    expect((await kept())[0]?.text).not.toContain('shh');
    const stranger = await sessionWorld(opened.database);
    expect(await stranger.stores.releases.find(stranger.projectId, world.releaseId)).toBeUndefined();
  });

  test('changes the stamp with everything that callers get, and with nothing else', async () => {
    const { projectId, stores } = world;
    const stampOf = () => stores.releases.stampOf(projectId);
    const at = new Date().toISOString();
    const stamps = [await stampOf()];
    const change = async (work: Promise<unknown>) => {
      await work;
      stamps.push(await stampOf());
    };
    await stores.agents.insert(projectId, { config: world.release.agent, live: null });
    stamps[0] = await stampOf();
    await change(stores.agents.save(projectId, { config: world.release.agent, live: null }, at));
    const version = { version: 1, graph: world.release.pathway, author: { kind: 'admin' }, createdAt: at };
    await change(stores.pathways.insert(projectId, uuidV7(), version));
    await change(stores.pathways.append(projectId, { ...version, version: 2 }));
    const tool: Tool = {
      ...TOOL,
      http: { ...TOOL.http, headers: [] },
      id: uuidV7(),
      createdAt: at,
      updatedAt: at,
    };
    await change(stores.tools.insert(projectId, tool));
    await change(stores.tools.update(projectId, { ...tool, description: 'Other' }));
    expect(new Set(stamps).size).toBe(stamps.length);
    await change(stores.tools.remove(projectId, tool.id));
    expect(stamps.at(-1)).not.toBe(stamps.at(-2));
    expect(await stampOf()).toBe(stamps.at(-1));
    const stranger = await sessionWorld(opened.database);
    await world.start();
    await stranger.start();
    expect(await stampOf()).toBe(stamps.at(-1));
    expect(await stores.releases.stampOf(uuidV7())).toBeUndefined();
  });

  test('removes old unused releases; keeps those of a session or an unfinished webhook', async () => {
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

  test('returns the last memory of the project’s customer that a session added', async () => {
    const stranger = await sessionWorld(opened.database);
    const { memory } = world.stores;
    expect(await memory.find(world.projectId, 'id:7')).toBeUndefined();
    const { instanceId } = await world.start();
    await memory.keep(world.projectId, 'id:7', 'likes tea', instanceId);
    await memory.keep(world.projectId, 'id:7', 'likes coffee', instanceId);
    await memory.keep(world.projectId, 'id:7', 'likes milk', uuidV7());
    expect(await memory.find(world.projectId, 'id:7')).toBe('likes coffee');
    expect(await memory.find(stranger.projectId, 'id:7')).toBeUndefined();
  });
});
