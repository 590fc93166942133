import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startMcpServer, type TestMcpServer, toolNamed } from '../support/mcpServer.ts';
import { type ContractProject, contractRig } from './support.ts';

const rig = contractRig();
let server: TestMcpServer;
let project: ContractProject;
beforeAll(async () => {
  server = await startMcpServer();
});
afterAll(() => server?.close());
beforeEach(async () => {
  Object.assign(rig.script, { say: 'Hello.', tool: undefined });
  Object.assign(server, { tools: [toolNamed('weather', { city: { type: 'string' } })], answer: () => SUNNY });
  server.calls.length = 0;
  server.headers.length = 0;
  project = await rig.project();
});

const SUNNY = { content: [{ type: 'text', text: 'sunny' }], structuredContent: { sky: { degrees: 21 } } };

async function register(changes: object = {}) {
  const answer = await project.call('POST', '/mcp-servers', { name: 'city', url: server.url, ...changes });
  expect(answer.status).toBe(201);
  return answer.body;
}

const toolsOf = async () => (await project.call('GET', '/tools')).body.data;

async function offer(toolId: string) {
  const data = { title: 'Start', prompt: 'Talk.', tools: [toolId] };
  const graph = { nodes: [{ id: 'start', type: 'start', data }], edges: [] };
  expect((await project.call('PUT', '/pathway', graph)).status).toBe(200);
}

/** The model calls the tool of this name. @returns The results in the history. */
async function chat(name: string, args: object = {}, sessionId = 's') {
  rig.script.tool = { name, arguments: args };
  expect(await project.chat('Hi', sessionId)).toBe('Hello.');
  const { events } = await project.history(sessionId);
  return events.flatMap(({ type, data }: { type: string; data: object }) =>
    type === 'tool_result' ? [data] : [],
  );
}

test('A node names a tool of an MCP server, which the model calls', async () => {
  const { id: serverId, listing } = await register({ url: server.url });
  expect(listing).toEqual({ at: expect.any(String), error: null, skipped: [] });
  const [tool] = await toolsOf();
  expect(tool).toMatchObject({
    source: 'mcp',
    name: 'weather',
    description: 'Does weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
    mcp: { serverId, name: 'weather', available: true },
  });
  const patch = { resultMapping: [{ path: 'sky.degrees', variable: 'degrees' }] };
  expect((await project.call('PATCH', `/tools/${tool.id}`, patch)).body).toMatchObject(patch);
  await offer(tool.id);

  expect(await chat('weather', { city: 'Bad Ems' })).toMatchObject([{ ok: true, result: 'sunny' }]);
  expect(server.calls).toEqual([{ name: 'weather', arguments: { city: 'Bad Ems' } }]);
  const [asked, told] = project.asked('answer');
  expect(asked?.tools).toMatchObject([{ function: { name: 'weather', description: 'Does weather.' } }]);
  expect(told?.messages).toContainEqual(expect.objectContaining({ role: 'tool', content: 'sunny' }));
  expect((await project.history('s')).variables).toMatchObject({ degrees: 21 });
  await vi.waitFor(() => expect(server.sessions()).toBe(0));
});

test('Arguments that do not fit, and a failure that the tool reports, are failed results', async () => {
  await register();
  const [tool] = await toolsOf();
  await offer(tool.id);
  expect(await chat('weather', { city: 7 }, 'a')).toMatchObject([{ ok: false }]);
  expect(server.calls).toEqual([]);
  server.answer = () => ({ isError: true, content: [{ type: 'text', text: 'no such city' }] });
  expect(await chat('weather', { city: 'X' }, 'b')).toMatchObject([{ ok: false, result: 'no such city' }]);
});

test('A tool that vanishes shows in the review, is not offered, and comes back under its id', async () => {
  const { id } = await register();
  const [tool] = await toolsOf();
  await offer(tool.id);
  server.tools = [];
  await project.call('POST', `/mcp-servers/${id}/refresh`);

  expect(await toolsOf()).toMatchObject([{ id: tool.id, mcp: { available: false } }]);
  const vanished = {
    severity: 'error',
    code: 'vanished_tool',
    nodeId: 'start',
    path: '/nodes/0/data/tools/0',
  };
  const review = (await project.call('POST', '/pathway/validate')).body;
  expect(review).toMatchObject({ valid: false });
  expect(review.problems).toContainEqual(expect.objectContaining(vanished));
  await project.chat('Hi');
  expect(project.asked('answer')[0]?.tools ?? []).toEqual([]);

  server.tools = [toolNamed('weather')];
  await project.call('POST', `/mcp-servers/${id}/refresh`);
  expect(await toolsOf()).toMatchObject([{ id: tool.id, mcp: { available: true } }]);
  const { problems } = (await project.call('POST', '/pathway/validate')).body;
  expect(problems).not.toContainEqual(expect.objectContaining({ code: 'vanished_tool' }));
});

test('A server that is slower than its timeoutMs, or down, is a failed result', async () => {
  const other = await startMcpServer();
  other.tools = [toolNamed('slow')];
  other.answer = () => new Promise(() => {});
  const { id } = await register({ url: other.url });
  const [tool] = await toolsOf();
  // Afterwards, since the list of the tools must not take longer either.
  await project.call('PATCH', `/mcp-servers/${id}`, { timeoutMs: 400 });
  await offer(tool.id);
  expect(await chat('slow', {}, 'slow')).toMatchObject([
    { ok: false, result: expect.stringContaining('400 ms') },
  ]);
  await other.close();
  expect(await chat('slow', {}, 'down')).toMatchObject([
    { ok: false, result: expect.stringContaining('no connection') },
  ]);
  const refreshed = await project.call('POST', `/mcp-servers/${id}/refresh`);
  expect(refreshed.body.listing).toMatchObject({ at: expect.any(String), error: { code: 'connect_failed' } });
  expect(await toolsOf()).toMatchObject([{ id: tool.id, mcp: { available: true } }]);
});

test('The key and value of a header are sent to the server, and the value is never shown', async () => {
  const headers = [{ key: 'x-token', value: 'secret-words' }];
  const created = await register({ headers });
  const place = `/mcp-servers/${created.id}`;
  expect(server.headers.every((sent) => sent['x-token'] === 'secret-words')).toBe(true);
  const kept = await project.call('PATCH', place, { name: 'town', headers: created.headers });
  expect(kept.body).toMatchObject({ name: 'town', headers: [{ key: 'x-token', value: null }] });
  expect(server.headers.at(-1)).toMatchObject({ 'x-token': 'secret-words' });
  const moved = await project.call('PATCH', place, { url: 'http://127.0.0.1:1/elsewhere' });
  expect(moved).toMatchObject({ status: 400, body: { code: 'secret_needed_again' } });
  const shown = [created, kept, moved, await project.call('GET', place), await toolsOf()];
  expect(JSON.stringify(shown)).not.toContain('secret-words');
});

test('Tools whose names are taken have the name of their server before them', async () => {
  const http = { method: 'GET', url: `${rig.endpoint}/x` };
  await project.call('POST', '/tools', { name: 'weather', http });
  server.tools = [toolNamed('weather'), toolNamed('end_call'), toolNamed('a.b'), toolNamed('a/b')];
  await register({ name: 'The City' });
  const tools: { source: string; name: string }[] = await toolsOf();
  expect(tools.map(({ source, name }) => `${source} ${name}`).toSorted()).toEqual([
    'http weather',
    'mcp The_City_a_b',
    'mcp The_City_end_call',
    'mcp The_City_weather',
    'mcp a_b',
  ]);
});

test('Tools that are malformed or too many are skipped, with the reason', async () => {
  const huge = { note: { type: 'string', description: 'x'.repeat(70_000) } };
  const broken = { city: { type: 'nonsense' } };
  server.tools = [
    { ...toolNamed('long'), description: 'y'.repeat(5_000) },
    toolNamed('huge', huge),
    toolNamed('broken', broken),
    ...Array.from({ length: 130 }, (_, index) => toolNamed(`t${index}`)),
  ];
  const { listing } = await register();
  const { data } = (await project.call('GET', '/tools?limit=200')).body;
  expect(data).toHaveLength(127);
  expect(data.find(({ name }: { name: string }) => name === 'long').description).toHaveLength(2_000);
  const skipped = new Map(
    listing.skipped.map(({ name, reason }: { name: string; reason: string }) => [name, reason]),
  );
  expect(skipped.get('huge')).toContain('65536');
  expect(skipped.get('broken')).toContain('JSON Schema');
});

test.each(['https://10.0.0.1/mcp', 'https://169.254.169.254/mcp', 'http://example.com/mcp'])(
  'The url %s is refused',
  async (url) => {
    const answer = await project.call('POST', '/mcp-servers', { name: 'x', url });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_mcp_server' } });
  },
);

test('A server whose tool a node names stays; without such a node it goes with its tools', async () => {
  const { id } = await register();
  const [tool] = await toolsOf();
  const offered = await project.call('DELETE', `/tools/${tool.id}`);
  expect(offered).toMatchObject({ status: 409, body: { code: 'tool_of_mcp_server' } });
  const renamed = await project.call('PATCH', `/tools/${tool.id}`, { name: 'other' });
  expect(renamed).toMatchObject({ status: 400, body: { code: 'invalid_tool' } });
  await offer(tool.id);
  const used = await project.call('DELETE', `/mcp-servers/${id}`);
  expect(used).toMatchObject({ status: 409, body: { code: 'tool_in_use' } });
  const data = { title: 'Start', prompt: 'Talk.' };
  await project.call('PUT', '/pathway', { nodes: [{ id: 'start', type: 'start', data }], edges: [] });
  expect((await project.call('DELETE', `/mcp-servers/${id}`)).status).toBe(204);
  expect(await toolsOf()).toEqual([]);
  expect((await project.call('GET', `/mcp-servers/${id}`)).status).toBe(404);
});

test('The release that callers get keeps the tools of MCP servers', async () => {
  const { id } = await register();
  const [tool] = await toolsOf();
  await offer(tool.id);
  await project.call('PATCH', '/agent', { status: 'published' });
  await project.call('PATCH', '/agent', { status: 'draft' });
  const data = { title: 'Start', prompt: 'Talk.' };
  await project.call('PUT', '/pathway', { nodes: [{ id: 'start', type: 'start', data }], edges: [] });
  expect(await chat('weather')).toMatchObject([{ ok: true, result: 'sunny' }]);
  expect(await project.call('DELETE', `/mcp-servers/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'tool_in_use' },
  });
});

test('A project has a quota of MCP servers', async () => {
  await rig.gateway().api('PATCH', project.path, { body: { quotas: { mcpServers: 1, tools: 1 } } });
  server.tools = [toolNamed('one'), toolNamed('two')];
  await register();
  const second = await project.call('POST', '/mcp-servers', { name: 'second', url: server.url });
  expect(second).toMatchObject({ status: 429, body: { code: 'quota_exceeded', quota: 'mcpServers' } });
  const http = { method: 'GET', url: `${rig.endpoint}/x` };
  expect((await project.call('POST', '/tools', { name: 'own', http })).status).toBe(201);
});
