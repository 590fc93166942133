import { expect, test } from 'vitest';
import { type McpServer, NOT_LISTED } from '../../../src/agents/mcp/mcpServer.ts';
import { McpServers, type McpServersDeps } from '../../../src/agents/mcp/mcpServers.ts';
import type { SchemaChecker } from '../../../src/agents/schemaChecker.ts';
import type { McpTool, Tool } from '../../../src/agents/tool.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const MINUTE_MS = 60_000;
const SERVER_ID = '019ceb00-1d2e-7f00-8a4b-5c6d7e8f9a0b';

function setUp() {
  const clock = createSimulatedClock();
  const at = () => new Date(clock.now()).toISOString();
  let server: McpServer = {
    id: SERVER_ID,
    name: 'city',
    url: 'https://example.com/',
    headers: [],
    timeoutMs: 100,
    listing: NOT_LISTED,
    createdAt: at(),
    updatedAt: at(),
  };
  const tools = new Map<string, Tool>();
  const state = { listings: 0, listed: ['weather'], isDown: false };
  const refuse = () => expect.unreachable();
  const stores = {
    mcpServers: {
      find: async () => server,
      all: async () => [server],
      async saveListing(_: string, __: object, listing: McpServer['listing']) {
        server = { ...server, listing };
      },
      ...{ insert: refuse, update: refuse, remove: refuse, list: refuse },
    },
    tools: {
      all: async () => [...tools.values()],
      insert: async (_: string, tool: Tool) => void tools.set(tool.id, tool),
      update: async (_: string, tool: Tool) => void tools.set(tool.id, tool),
      remove: async (_: string, id: string) => tools.delete(id),
      ...{ find: refuse, list: refuse },
    },
  } satisfies McpServersDeps['storage']['stores'];
  const servers = new McpServers({
    storage: { stores, transaction: (work) => work(stores) },
    tools: {
      async list() {
        state.listings += 1;
        if (state.isDown) throw new CallwayError('unavailable', 'connect_failed', 'no connection');
        return state.listed.map((name) => ({ name, inputSchema: { type: 'object' } }));
      },
      call: async (_, { name }) => ({ ok: true, text: name }),
    },
    schemas: unused<SchemaChecker>('schemas', { checkSchema: async () => undefined }),
    clock,
    onError: (error) => {
      throw error;
    },
  });
  const call = async () => {
    const tool = [...tools.values()][0] as McpTool;
    const result = await servers.call('p', tool, { args: {}, signal: AbortSignal.timeout(5_000) });
    // What runs in the background has only microtasks to wait for here.
    await new Promise((resolve) => setImmediate(resolve));
    return result;
  };
  return { clock, servers, state, tools, call, listing: () => server.listing };
}

test('A call refreshes in the background what was listed more than ten minutes ago', async () => {
  const { clock, servers, state, tools, call } = setUp();
  await servers.refresh('p', SERVER_ID);
  await clock.advance(9 * MINUTE_MS);
  expect(await call()).toEqual({ ok: true, text: 'weather' });
  expect(state.listings).toBe(1);
  await clock.advance(2 * MINUTE_MS);
  state.listed = ['weather', 'news'];
  await call();
  expect(state.listings).toBe(2);
  expect([...tools.values()].map(({ name }) => name)).toEqual(['weather', 'news']);
});

test('A server that is down keeps its tools, and is asked again after ten minutes', async () => {
  const { clock, servers, state, tools, call, listing } = setUp();
  await servers.refresh('p', SERVER_ID);
  const listedAt = listing().at;
  state.isDown = true;
  await clock.advance(11 * MINUTE_MS);
  await call();
  await call();
  expect(state.listings).toBe(2);
  expect(listing()).toMatchObject({ at: listedAt, error: { code: 'connect_failed' } });
  expect([...tools.values()]).toMatchObject([{ mcp: { available: true } }]);
  await clock.advance(11 * MINUTE_MS);
  await call();
  expect(state.listings).toBe(3);
});

test('A listing without change writes no tool, so that releases stay as they are', async () => {
  const { clock, servers, tools } = setUp();
  await servers.refresh('p', SERVER_ID);
  const [before] = tools.values();
  await clock.advance(MINUTE_MS);
  await servers.refresh('p', SERVER_ID);
  expect([...tools.values()]).toEqual([before]);
});
