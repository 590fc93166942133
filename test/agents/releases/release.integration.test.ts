import { beforeAll, beforeEach, expect, test } from 'vitest';

import { createAgent, releaseFor, updateAgent } from '../../../src/agents/agents.ts';
import { editPathway } from '../../../src/agents/pathway/editPathway.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { createStorage } from '../../../src/infra/postgres/storage.ts';
import { useDatabase } from '../../infra/postgres/support/databases.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const POLICY = { allowInsecureLoopback: false };
const AUTHOR = { kind: 'admin' };

const opened = useDatabase();
let storage: ReturnType<typeof createStorage>;
let projectId: string;
beforeAll(() => {
  storage = createStorage(opened.database, createSealer(Buffer.alloc(32)));
});
beforeEach(async () => {
  projectId = uuidV7();
  const times = { createdAt: NOW, updatedAt: NOW };
  const settings = { sessionIdleMinutes: 5, historyRetentionDays: 0, reportUsage: true };
  await storage.stores.projects.insert({ id: projectId, name: 'p', ...settings, ...times });
  await createAgent(storage.stores, { makeId: uuidV7 }, { id: projectId, name: 'p', createdAt: NOW }, AUTHOR);
});

const update = (patch: object) =>
  storage.transaction((stores) => updateAgent(stores, POLICY, projectId, patch, { author: AUTHOR, at: NOW }));
const retitle = (title: string) =>
  storage.transaction((stores) =>
    editPathway(stores, projectId, { author: AUTHOR, at: NOW }, ({ nodes, edges }) => ({
      nodes: nodes.map((node) => (node.type === 'start' ? { ...node, data: { ...node.data, title } } : node)),
      edges,
    })),
  );
const addTool = (name: string) =>
  storage.stores.tools.insert(projectId, {
    id: uuidV7(),
    name,
    description: '',
    parameters: { type: 'object' },
    http: {
      method: 'GET',
      url: 'https://example.com/',
      headers: [{ key: 'a', value: 'words' }],
      timeoutMs: 100,
    },
    createdAt: NOW,
    updatedAt: NOW,
  });
/** Global prompt, title of the start node and tools of the release for callers, or for testers of the draft. */
async function releaseOf(who: 'callers' | 'testers') {
  const release = await releaseFor(storage.stores, projectId, who === 'testers' ? 'draft' : undefined);
  const start = release.pathway.nodes.find(({ type }) => type === 'start');
  return [release.agent.globalPrompt, start?.data.title, release.tools.map(({ name }) => name).join()];
}

test('Callers get the working copy before the first publication', async () => {
  await update({ globalPrompt: 'one' });
  await retitle('First');

  expect(await releaseOf('callers')).toEqual(['one', 'First', '']);
  await update({ status: 'draft' });
  await update({ globalPrompt: 'two' });
  expect(await releaseOf('callers')).toEqual(['two', 'First', '']);
});

test('Callers get every change at once while the agent is published', async () => {
  await update({ status: 'published', globalPrompt: 'one' });
  await retitle('Second');
  await addTool('lookup');

  expect(await releaseOf('callers')).toEqual(['one', 'Second', 'lookup']);
});

test('Draft status freezes the release of callers until the next publication', async () => {
  await update({ status: 'published', globalPrompt: 'one' });
  await retitle('First');
  await addTool('lookup');
  // Other changes in the same update are not part of the frozen release.
  await update({ status: 'draft', globalPrompt: 'two' });
  await retitle('Second');
  await addTool('book');
  await update({ executionMode: 'smart' });

  expect(await releaseOf('callers')).toEqual(['one', 'First', 'lookup']);
  expect(await releaseOf('testers')).toEqual(['two', 'Second', 'lookup,book']);
  expect((await releaseFor(storage.stores, projectId)).tools[0]).toMatchObject({
    http: { headers: [{ key: 'a', value: 'words' }] },
  });

  await update({ status: 'draft' });
  expect(await releaseOf('callers')).toEqual(['one', 'First', 'lookup']);

  await update({ status: 'published' });
  expect(await releaseOf('callers')).toEqual(['two', 'Second', 'lookup,book']);
  expect((await releaseFor(storage.stores, projectId)).pathwayVersion).toBe(3);
});

test('A project without an agent has no release', async () => {
  await expect(releaseFor(storage.stores, uuidV7())).rejects.toMatchObject({
    code: 'agent_not_found',
  });
});

test('Releases that edits made are kept up to the quota, and those that a rollout or a session had', async () => {
  const { agents, numberedReleases, projects } = storage.stores;
  await projects.update(projectId, { quotas: { pathwayVersions: 2 } }, NOW);
  await update({ status: 'published' });
  const edit = (minute: number) =>
    storage.transaction((stores) =>
      updateAgent(
        stores,
        POLICY,
        projectId,
        { globalPrompt: `of minute ${minute}` },
        { author: AUTHOR, at: new Date(Date.parse(NOW) + minute * 120_000).toISOString() },
      ),
    );
  for (const minute of [2, 3, 4, 5]) await edit(minute);
  await opened.database.query(
    `INSERT INTO session_history (instance_id, project_id, session_id, channel, release, status, started_at)
     VALUES (gen_random_uuid(), $1, 's', 'chat', 4, 'active', $2)`,
    [projectId, NOW],
  );
  for (const minute of [6, 7, 8]) await edit(minute);

  const { items } = await numberedReleases.list(projectId, { limit: 100, offset: 0 });
  // 1 is a publication.
  expect(items.map(({ release }) => release)).toEqual([8, 7, 4, 1]);
  expect((await agents.find(projectId))?.live).toBe(8);
  expect((await numberedReleases.findBefore(projectId, 7))?.release).toBe(4);
  expect(await numberedReleases.findBefore(projectId, 1)).toBeUndefined();
});
