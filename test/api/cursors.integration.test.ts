import { beforeAll, describe, expect, test } from 'vitest';
import { sharedGateway, type TestProject } from '../support/gateway.ts';

const gateway = sharedGateway();
const LISTS = [
  '/api-keys',
  '/audit-log',
  '/calls',
  '/mcp-servers',
  '/pathway/edges',
  '/pathway/nodes',
  '/pathway/versions',
  '/phone-numbers',
  '/session-history',
  '/session-history?channel=phone',
  '/test-cases',
  '/test-suites',
  '/tools',
  '/trunks',
];
let project: TestProject;
let other: TestProject;

/** Five of everything. */
async function fill(which: TestProject, digit: number): Promise<void> {
  const create = async (path: string, body: object) => {
    const { status } = await gateway().api('POST', which.path + path, { body, key: which.developerKey });
    expect([path, status < 300]).toEqual([path, true]);
  };
  const http = { method: 'GET', url: 'https://example.com/' };
  await create('/trunks', { name: 'T', host: 'sip.example.com' });
  for (const n of [1, 2, 3, 4, 5]) {
    const [name, number] = [`n${n}`, `+88622345${digit}00${n}`];
    await gateway().createKey(which, { name });
    await create('/tools', { name, http });
    await create('/test-cases', { name });
    await create('/test-suites', { name });
    await create('/trunks', { name, host: 'sip.example.com' });
    await create('/phone-numbers', { number });
    await create('/pathway/nodes', { type: 'say', data: { title: name, prompt: name } });
    await create('/sessions', { session_id: name, variables: { name } });
    const order = { projectId: which.id, fromNumber: number, toNumber: `+88691200000${n}` };
    await gateway().api('POST', '/v1/calls/outbound', { key: which.developerKey, body: order });
  }
}
beforeAll(async () => {
  [project, other] = [await gateway().createProject(), await gateway().createProject()];
  await fill(project, 0);
  await fill(other, 1);
});

const get = (path: string, { limit, cursor }: { limit?: number; cursor?: string }, of = project) => {
  const parameters = new URLSearchParams({
    ...(limit === undefined ? {} : { limit: String(limit) }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  const separator = path.includes('?') ? '&' : '?';
  // The admin token reads no project's data.
  const isAdmin = path.startsWith('/api-keys') || path.startsWith('/audit-log');
  return gateway().api('GET', `${of.path}${path}${separator}${parameters}`, {
    key: isAdmin ? gateway().adminToken : of.developerKey,
  });
};

/** The use of a key is written later than its response. */
const unused = (item: object) => ({ ...item, lastUsedAt: null });

describe.each(LISTS)('%s', (path) => {
  test('by cursor is the same list', async () => {
    const all = (await get(path, { limit: 200 })).body;
    const seen: object[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { status, body } = await get(path, { limit: 2, ...(cursor ? { cursor } : {}) });
      expect(status).toBe(200);
      expect(body.pagination).toMatchObject({ limit: 2, offset: 0, total: all.pagination.total });
      seen.push(...(body.data ?? body.results));
      cursor = body.pagination.nextCursor;
    }
    expect(seen.map(unused)).toEqual((all.data ?? all.results).map(unused));
    expect(all.pagination.nextCursor).toBeNull();
  });

  test('refuses the cursors of others', async () => {
    const wrong = [
      (await get('/test-cases', { limit: 2 })).body.pagination.nextCursor,
      (await get(path, { limit: 1 }, other)).body.pagination.nextCursor,
      'AAAA',
    ].slice(path === '/test-cases' ? 1 : 0);
    for (const cursor of wrong) {
      const { status, body } = await get(path, { cursor: cursor ?? 'none' });
      expect([status, body.code, body.details?.[0]?.path]).toEqual([400, 'invalid_cursor', '/cursor']);
    }
  });
});

describe('A session search', () => {
  const search = (body: object, of = project) =>
    gateway().api('POST', `${of.path}/sessions/search`, { key: of.developerKey, body });

  test.each(['"name":"n', 'role', 'n3'])('for %s by cursor is the same list', async (text) => {
    const all = (await search({ search_string: text })).body;
    const seen: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { body } = await search({ search_string: text, limit: 2, ...(cursor ? { cursor } : {}) });
      expect(body.pagination.total).toBe(all.pagination.total);
      seen.push(...body.results);
      cursor = body.pagination.nextCursor;
    }
    expect(seen).toEqual(all.results);
  });

  test('refuses the cursor of another text, and one beside an offset', async () => {
    const { nextCursor } = (await search({ search_string: 'name', limit: 1 })).body.pagination;
    const foreign = await search({ search_string: 'other', cursor: nextCursor });
    expect([foreign.status, foreign.body.code]).toEqual([400, 'invalid_cursor']);
    const both = await search({ search_string: 'name', cursor: nextCursor, offset: 1 });
    expect([both.status, both.body.code]).toEqual([400, 'invalid_request']);
  });
});

test.each(['/v1/projects', '/v1/numbers'])('%s has cursors too', async (path) => {
  const all = (await gateway().api('GET', path)).body.data;
  const first = (await gateway().api('GET', `${path}?limit=1`)).body;
  const cursor = first.pagination.nextCursor;
  const rest = (await gateway().api('GET', `${path}?cursor=${cursor}`)).body;
  expect([...first.data, ...rest.data]).toEqual(all);
});
