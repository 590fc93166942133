import { v7 } from 'uuid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NewApiKey } from '../../../src/agents/accounts/accountStores.ts';
import { NO_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
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

  test('Call limits that a node of a later release has stored are left out', async () => {
    const { projects } = storage.stores;
    const found = await projects.find(mine);
    const ofLater = `UPDATE projects SET call_limits = call_limits || '{"maxCallsPerYear": 9}' WHERE id = $1`;
    await opened.database.query(ofLater, [mine]);
    expect(await projects.find(mine)).toEqual(found);
  });

  test('The last use of an API key does not go back', async () => {
    const { apiKeys } = storage.stores;
    const key = makeKey(mine);
    await apiKeys.insert(key);
    for (const time of [T3, T2]) await apiKeys.markUsed(new Map([[key.id, new Date(time)]]));
    expect((await apiKeys.list(mine, PAGE)).items).toMatchObject([{ lastUsedAt: T3 }]);
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

  test('A suite with more characters than a run may copy has no cases', async () => {
    const { testCases, testSuites, testRuns } = storage.stores;
    const [a, b] = [makeCase(mine), makeCase(mine)];
    for (const one of [a, b]) await testCases.insert(one);
    const cases = [{ id: b.id }, { id: a.id }];
    const suite: TestSuite = { id: uuidV7(), projectId: mine, name: 's', testCases: cases, ...at };
    await testSuites.insert(suite);
    expect(await testRuns.casesOf(mine, suite.id, 10_000)).toMatchObject({ name: 's', cases });
    expect(await testRuns.casesOf(mine, suite.id, 10)).toEqual({ name: 's', cases: undefined });
    expect(await testRuns.casesOf(theirs, suite.id, 10_000)).toBeUndefined();
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
