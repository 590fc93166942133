import { v7 } from 'uuid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewApiKey } from '../../../src/agents/accounts/accountStores.ts';
import { NO_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
import { DEFAULT_QUOTAS } from '../../../src/agents/accounts/quotas.ts';
import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { starterPathway } from '../../../src/agents/pathway/schema/starterPathway.ts';
import type { TestCase } from '../../../src/agents/testSuites/testCase.ts';
import type { TestSuite } from '../../../src/agents/testSuites/testSuite.ts';
import type { Tool } from '../../../src/agents/tool.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import { createStorage } from '../../../src/infra/postgres/storage.ts';
import { databases, OPEN_TIMEOUT_MS, useDatabase } from './support/databases.ts';

const [T1, T2, T3] = ['2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00.002Z', '2026-01-03T00:00:00.003Z'];
const PAGE = { limit: 50, offset: 0 };
const NOT_IDS = ['', 'rubbish', "' OR 1=1", '0197a000-0000-7000-8000-00000000000g'];
const at = { createdAt: T1, updatedAt: T1 };

describe.each(databases)('Stores on the $name database', ({ open }) => {
  const opened = useDatabase(open);
  let storage: ReturnType<typeof createStorage>;
  let mine: string;
  let theirs: string;
  beforeAll(async () => {
    storage = createStorage(opened.database, createSealer(Buffer.alloc(32, 7)));
  }, OPEN_TIMEOUT_MS);
  beforeEach(async () => {
    [mine, theirs] = [await addProject('mine'), await addProject('theirs')];
  });

  async function addProject(name: string) {
    const id = uuidV7();
    const settings = {
      sessionIdleMinutes: 5,
      historyRetentionDays: 0,
      reportUsage: true,
      callLimits: { ...NO_CALL_LIMITS, maxCallsPerHour: 7 },
    };
    await storage.stores.projects.insert({ id, name, ...settings, ...at });
    return id;
  }
  const makeKey = (projectId: string, createdAt = T1): NewApiKey => ({
    id: uuidV7(),
    projectId,
    name: 'k',
    kind: 'developer',
    digest: uuidV7(),
    hint: 'dk_…abcd',
    scopes: ['read'],
    createdAt,
    lastUsedAt: null,
  });
  const makeTool = (name: string): Tool => ({
    id: uuidV7(),
    name,
    description: 'ü',
    parameters: { type: 'object', properties: { b: {}, a: { enum: [1.5, null, 'x'] } } },
    http: {
      method: 'GET',
      url: 'https://example.com/',
      headers: [{ key: 'a', value: 'plain words' }],
      timeoutMs: 100,
    },
    ...at,
  });
  const makeCase = (projectId: string): TestCase => ({
    id: uuidV7(),
    projectId,
    name: 'c',
    description: null,
    channel: 'chat',
    persona: null,
    variables: { deep: [{ a: null }] },
    turns: [{ say: 'hello' }],
    toolMocks: [],
    allowRealTools: false,
    phone: null,
    assertions: [],
    ...at,
  });

  test('projects', async () => {
    const { projects } = storage.stores;
    const found = await projects.find(mine);
    expect(found).toEqual({
      id: mine,
      name: 'mine',
      sessionIdleMinutes: 5,
      chatIdleMinutes: 5,
      historyRetentionDays: 0,
      retentionDays: { sessions: 0, recordings: 0, deliveries: 30, traces: 0, tests: 30 },
      reportUsage: true,
      callLimits: { ...NO_CALL_LIMITS, maxCallsPerHour: 7 },
      quotas: DEFAULT_QUOTAS,
      callingHours: null,
      reviewRules: [],
      ...at,
    });
    const callLimits = { blockedPrefixes: ['+1900'] };
    expect(await projects.update(mine, { reportUsage: false, name: 'new', callLimits }, T2)).toEqual({
      ...found,
      callLimits: { ...found?.callLimits, ...callLimits },
      reportUsage: false,
      name: 'new',
      updatedAt: T2,
    });
    expect((await projects.find(theirs))?.name).toBe('theirs');
    // A node of a later release has more limits than this one.
    const ofLater = `UPDATE projects SET call_limits = call_limits || '{"maxCallsPerYear": 9}' WHERE id = $1`;
    await opened.database.query(ofLater, [mine]);
    expect((await projects.find(mine))?.callLimits).toEqual({ ...found?.callLimits, ...callLimits });
    const { total } = await projects.list({ limit: 1, offset: 0 });
    expect((await projects.list({ limit: 200, offset: total - 1 })).items).toHaveLength(1);
    for (const id of [...NOT_IDS, uuidV7()]) {
      expect(await projects.find(id)).toBeUndefined();
      expect(await projects.update(id, { name: 'x' }, T2)).toBeUndefined();
      expect(await projects.remove(id)).toBe(false);
    }
    expect(await projects.remove(mine)).toBe(true);
    expect(await projects.find(mine)).toBeUndefined();
  });

  test('API keys', async () => {
    const { apiKeys } = storage.stores;
    const [first, second, other] = [makeKey(mine), makeKey(mine, T2), makeKey(theirs)];
    for (const key of [second, first, other]) await apiKeys.insert(key);
    const shown = ({ projectId: _p, digest: _d, ...key }: NewApiKey) => key;

    expect(await apiKeys.list(mine, PAGE)).toEqual({
      items: [shown(first), shown(second)],
      total: 2,
      nextCursor: null,
    });
    expect(await apiKeys.findByDigest(first.digest)).toEqual({
      kind: 'developer',
      keyId: first.id,
      hint: first.hint,
      projectId: mine,
      scopes: ['read'],
    });
    expect(await apiKeys.findByDigest('nothing')).toBeUndefined();
    await apiKeys.markUsed(
      new Map([
        [first.id, new Date(T3)],
        [other.id, new Date(T1)],
        [uuidV7(), new Date(T1)],
      ]),
    );
    await apiKeys.markUsed(new Map([[first.id, new Date(T2)]]));
    expect((await apiKeys.list(mine, PAGE)).items.map(({ lastUsedAt }) => lastUsedAt)).toEqual([T3, null]);
    expect(await apiKeys.remove(mine, other.id)).toBeUndefined();
    for (const id of NOT_IDS) expect(await apiKeys.remove(mine, id)).toBeUndefined();
    expect(await apiKeys.remove(mine, first.id)).toBe(first.digest);
    expect(await apiKeys.digestsOf(mine)).toEqual([second.digest]);
    expect(await apiKeys.digestsOf(theirs)).toEqual([other.digest]);
    await expect(apiKeys.insert({ ...makeKey(theirs), digest: second.digest })).rejects.toThrow();
  });

  test('A widget’s minutes are taken before they are talked, by UTC day, while its token is valid', async () => {
    const { widgetTokens } = storage.stores;
    const { id, digest, hint } = makeKey(mine);
    await widgetTokens.insert({
      ...{ id, projectId: mine, digest, hint, createdAt: T1 },
      allowedOrigins: ['https://a.example'],
      maxMinutesPerDay: 1,
      requestsPerMinute: 1,
      maxConcurrent: 1,
      expiresAt: '2030-01-03T00:00:00.000Z',
    });
    const [first, second, expired] = ['01T23:59', '02T00:00', '03T00:00'].map(
      (time) => new Date(`2030-01-${time}:00.000Z`),
    ) as [Date, Date, Date];
    const together = [40_000, 40_000].map((ms) => widgetTokens.take(id, ms, first));
    expect((await Promise.all(together)).toSorted()).toEqual([20_000, 40_000]);
    expect(await widgetTokens.take(id, 1, first)).toBe(0);
    await widgetTokens.giveBack(id, 5_000, first);
    expect(await widgetTokens.msLeftToday(id, first)).toBe(5_000);
    expect((await widgetTokens.list(mine, PAGE, first)).items[0]).toMatchObject({ minutesUsedToday: 0.92 });
    expect(await widgetTokens.take(id, 20_000, second)).toBe(20_000);
    expect(await widgetTokens.take(id, 20_000, expired)).toBe(0);
    const origin = { projectId: mine, origin: 'https://a.example' };
    expect(await widgetTokens.allOrigins(second)).toContainEqual(origin);
    expect(await widgetTokens.allOrigins(expired)).not.toContainEqual(origin);
    expect(await widgetTokens.remove(mine, id)).toBe(digest);
    expect(await widgetTokens.take(id, 20_000, second)).toBe(0);
  });

  test('The audit log outlives its project', async () => {
    const { audit, projects } = storage.stores;
    const entry = (time: string, projectId = mine) => ({
      id: uuidV7(),
      projectId,
      at: time,
      actor: { kind: 'admin' },
      action: 'x.done',
      target: null,
      details: { list: [1] },
      requestId: 'r',
    });
    const [early, late, other] = [entry(T1), entry(T2), entry(T3, theirs)];
    for (const one of [early, late, other]) await audit.append(one);
    await projects.remove(mine);

    expect(await audit.list(mine, PAGE)).toEqual({ items: [late, early], total: 2, nextCursor: null });
  });

  test('Audit entries end after their time, those of a deleted project too', async () => {
    const { audit } = storage.stores;
    const [now, gone] = [Date.now(), uuidV7()];
    // Ids carry the real time.
    const entry = (ms: number) => ({
      id: v7({ msecs: ms }),
      projectId: gone,
      at: new Date(ms).toISOString(),
      actor: { kind: 'admin' },
      action: 'x.done',
      target: null,
      details: {},
      requestId: null,
    });
    const [old, young] = [entry(now - 10_000), entry(now)];
    for (const one of [old, young]) await audit.append(one);
    await audit.removeOlderThan(new Date(now - 5_000));
    expect(await audit.list(gone, PAGE)).toEqual({ items: [young], total: 1, nextCursor: null });
  });

  test('agents, their header values sealed', async () => {
    const { agents } = storage.stores;
    const headers = [{ key: 'token', value: 'plain words' }];
    const config = {
      ...newAgentConfig('a'),
      postSessionWebhook: { url: 'https://example.com/', headers },
      beforeStartConfig: { url: 'https://example.com/', headers },
    };
    await agents.insert(mine, { config: newAgentConfig('first'), live: null });
    await agents.insert(theirs, { config: newAgentConfig('theirs'), live: null });

    await agents.save(mine, { config, live: 3 }, T2);

    expect(await agents.find(mine)).toEqual({ config, live: 3 });
    expect(await agents.find(theirs)).toEqual({ config: newAgentConfig('theirs'), live: null });
    expect(await agents.find(uuidV7())).toBeUndefined();
    const [raw] = await opened.database.query('SELECT * FROM agents WHERE project_id = $1', [mine]);
    expect(JSON.stringify(raw)).toContain('v1.');
    expect(JSON.stringify(raw)).not.toContain('plain words');
  });

  test('Pathways and their versions', async () => {
    const { pathways } = storage.stores;
    const [graph, other] = [starterPathway(), { ...starterPathway(), edges: [] }];
    const author = { kind: 'developer', keyId: uuidV7(), hint: 'dk_…abcd' };
    const id = uuidV7();
    await pathways.insert(mine, id, { graph, version: 1, createdAt: T1, author });
    await pathways.insert(theirs, uuidV7(), { graph, version: 1, createdAt: T1, author });
    await pathways.append(mine, { graph: other, version: 2, createdAt: T2, author, restoredFrom: 1 });

    expect(await pathways.find(mine)).toEqual({ id, version: 2, graph: other, updatedAt: T2 });
    expect(await pathways.find(theirs)).toMatchObject({ version: 1, graph });
    const info = { author, nodeCount: 3 };
    const second = { ...info, version: 2, createdAt: T2, restoredFrom: 1, edgeCount: 0 };
    const first = { ...info, version: 1, createdAt: T1, restoredFrom: null, edgeCount: 2 };
    expect(await pathways.versions(mine, PAGE)).toEqual({
      items: [second, first],
      total: 2,
      nextCursor: null,
    });
    expect(await pathways.findVersion(mine, 1)).toEqual({ ...first, graph });
    expect(await pathways.findVersion(theirs, 2)).toBeUndefined();
    const again = { graph, version: 2, createdAt: T2, author };
    await expect(pathways.append(mine, again)).rejects.toThrow();
  });

  test('tools, their header values sealed', async () => {
    const { tools } = storage.stores;
    const [first, second, other] = [makeTool('first'), makeTool('second'), makeTool('first')];
    await tools.insert(mine, first);
    await tools.insert(mine, second);
    await tools.insert(theirs, other);

    expect(await tools.all(mine)).toEqual([first, second]);
    expect(await tools.list(mine, { limit: 1, offset: 1 })).toEqual({
      items: [second],
      total: 2,
      nextCursor: null,
    });
    expect(await tools.find(mine, other.id)).toBeUndefined();
    expect(await tools.remove(mine, other.id)).toBe(false);
    await tools.update(mine, { ...other, description: 'taken over' });
    expect(await tools.find(theirs, other.id)).toEqual(other);
    const taken = { code: 'tool_name_taken' };
    await expect(tools.insert(mine, makeTool('first'))).rejects.toMatchObject(taken);
    await expect(tools.update(mine, { ...second, name: 'first' })).rejects.toMatchObject(taken);
    const raw = await opened.database.query('SELECT * FROM tools WHERE project_id = $1', [mine]);
    expect(JSON.stringify(raw)).not.toContain('plain words');
    for (const id of NOT_IDS) expect(await tools.find(mine, id)).toBeUndefined();
    expect(await tools.remove(mine, first.id)).toBe(true);
    expect(await tools.all(mine)).toEqual([second]);
  });

  test('Test cases and suites', async () => {
    const { testCases, testSuites } = storage.stores;
    const [a, b, other] = [makeCase(mine), makeCase(mine), makeCase(theirs)];
    for (const one of [a, b, other]) await testCases.insert(one);
    const cases = [{ id: b.id }, { id: a.id }];
    const suite: TestSuite = { id: uuidV7(), projectId: mine, name: 's', testCases: cases, ...at };
    await testSuites.insert(suite);

    expect(await testCases.find(mine, a.id)).toEqual(a);
    expect(await testCases.find(mine, other.id)).toBeUndefined();
    const { casesOf } = storage.stores.testRuns;
    expect(await casesOf(mine, suite.id, 10_000)).toMatchObject({ name: 's', cases });
    expect(await casesOf(mine, suite.id, 10)).toEqual({ name: 's', cases: undefined });
    expect(await casesOf(theirs, suite.id, 10_000)).toBeUndefined();
    expect(await testCases.known(mine, [a.id, other.id, 'rubbish', uuidV7()])).toEqual(new Set([a.id]));
    await testCases.update({ ...other, projectId: mine, name: 'taken over' });
    expect(await testCases.find(theirs, other.id)).toEqual(other);
    expect(await testCases.remove(mine, other.id)).toBe(false);

    expect(await testSuites.find(mine, suite.id)).toEqual(suite);
    expect(await testSuites.find(theirs, suite.id)).toBeUndefined();
    expect(await testSuites.list(mine, PAGE)).toEqual({ items: [suite], total: 1, nextCursor: null });
    expect(await testSuites.remove(theirs, suite.id)).toBe(false);
    expect(await testCases.remove(mine, b.id)).toBe(true);
    expect((await testSuites.find(mine, suite.id))?.testCases).toEqual([{ id: a.id }]);
    await testSuites.update({ ...suite, name: 'n', testCases: [] });
    expect(await testSuites.find(mine, suite.id)).toMatchObject({ name: 'n', testCases: [] });
    expect(await testSuites.remove(mine, suite.id)).toBe(true);
  });

  test('Legacy route usage by day', async () => {
    const { legacyUsage } = storage.stores;
    const use = (projectId: string, day: string, requests: number) => ({
      projectId,
      route: 'GET /x',
      day,
      requests,
    });
    await legacyUsage.add([
      use(mine, '2026-01-01', 2),
      use(mine, '2026-01-02', 1),
      use(uuidV7(), '2026-01-01', 5),
    ]);
    await legacyUsage.add([use(mine, '2026-01-02', 3), use(theirs, '2026-01-02', 9)]);

    expect(await legacyUsage.since(mine, '2026-01-02')).toEqual([
      { route: 'GET /x', day: '2026-01-02', requests: 4 },
    ]);
    expect(await legacyUsage.since(mine, '2026-01-01')).toHaveLength(2);
  });

  test('A transaction is atomic', async () => {
    const failure = storage.transaction(async (stores) => {
      await stores.tools.insert(mine, makeTool('lost'));
      expect(await stores.tools.all(mine)).toHaveLength(1);
      throw new Error('second thoughts');
    });

    await expect(failure).rejects.toThrow('second thoughts');
    expect(await storage.stores.tools.all(mine)).toEqual([]);
  });

  test('Removing a project removes all of its rows and no others', async () => {
    const { stores } = storage;
    const author = { kind: 'admin' };
    for (const id of [mine, theirs]) {
      await stores.agents.insert(id, { config: newAgentConfig('a'), live: null });
      await stores.pathways.insert(id, uuidV7(), {
        graph: starterPathway(),
        version: 1,
        createdAt: T1,
        author,
      });
      await stores.apiKeys.insert(makeKey(id));
      await stores.tools.insert(id, makeTool('t'));
      const testCase = makeCase(id);
      await stores.testCases.insert(testCase);
      const testCases = [{ id: testCase.id }];
      await stores.testSuites.insert({ id: uuidV7(), projectId: id, name: 's', testCases, ...at });
      await stores.legacyUsage.add([{ projectId: id, route: 'r', day: '2026-01-01', requests: 1 }]);
    }

    await stores.projects.remove(mine);

    const counts = async (id: string) => {
      const tables = [
        'agents',
        'pathways',
        'pathway_versions',
        'api_keys',
        'tools',
        'test_cases',
        'test_suites',
        'legacy_usage',
      ];
      return await Promise.all(
        tables.map(async (table) => {
          const rows = await opened.database.query(`SELECT 1 FROM ${table} WHERE project_id = $1`, [id]);
          return rows.length;
        }),
      );
    };
    expect(await counts(mine)).toEqual(Array(8).fill(0));
    expect(await counts(theirs)).toEqual(Array(8).fill(1));
  });
});
