import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sharedGateway, startTestGateway, startTwoGateways } from '../../../support/gateway.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

const gateway = sharedGateway();

describe('API keys', () => {
  test.each([
    ['secret', undefined, /^sk_[0-9A-Za-z]{43}$/, ['read', 'write', 'calls']],
    ['developer', undefined, /^dk_[0-9A-Za-z]{43}$/, ['read', 'write', 'calls']],
    ['developer', ['keys:write'], /^dk_[0-9A-Za-z]{43}$/, ['keys:write']],
  ])('of kind %s with scopes %j are shown only once', async (kind, scopes, form, granted) => {
    const { path } = await gateway().createProject();
    const body = { name: 'CRM', kind, ...(scopes && { scopes }) };

    const created = await gateway().api('POST', `${path}/api-keys`, { body });

    expect(created.status).toBe(201);
    const { key, ...shown } = created.body;
    expect(key).toMatch(form);
    expect(shown).toMatchObject({
      name: 'CRM',
      kind,
      scopes: granted,
      hint: `${key.slice(0, 3)}…${key.slice(-4)}`,
    });
    const list = (await gateway().api('GET', `${path}/api-keys`)).body;
    expect(list.data).toContainEqual({ ...shown, lastUsedAt: null });
    expect(JSON.stringify(list)).not.toContain(key);
  });

  test.each([
    [{ name: 'x' }, '/kind'],
    [{ name: 'x', kind: 'public' }, '/kind'],
    [{ name: '', kind: 'secret' }, '/name'],
    [{ name: 'x', kind: 'secret', scopes: ['read'] }, '/scopes'],
    [{ name: 'x', kind: 'developer', scopes: [] }, '/scopes'],
    [{ name: 'x', kind: 'developer', scopes: ['admin'] }, '/scopes/0'],
  ])('cannot be %j', async (body, path) => {
    const project = await gateway().createProject();
    const answer = await gateway().api('POST', `${project.path}/api-keys`, { body });

    expect(answer).toMatchObject({ status: 400, body: { details: [{ path }] } });
  });

  test('with keys:write manage their own project’s keys, with audit log entries', async () => {
    const project = await gateway().createProject();
    const keeper = await gateway().createKey(project, { scopes: ['keys:write', 'read'] });
    const body = { name: 'made by a key', kind: 'developer', scopes: ['read'] };
    const headers = { 'x-request-id': 'trace-7' };

    const made = await gateway().api('POST', `${project.path}/api-keys`, { key: keeper.key, body, headers });
    expect(made.status).toBe(201);
    const removed = await gateway().api('DELETE', `${project.path}/api-keys/${made.body.id}`, {
      key: keeper.key,
    });
    expect(removed.status).toBe(204);

    const log = (await gateway().api('GET', `${project.path}/audit-log`, { key: keeper.key })).body;
    expect(log.data.slice(0, 2)).toMatchObject([
      { action: 'api_key.revoked', target: made.body.id, actor: { kind: 'developer', keyId: keeper.id } },
      {
        action: 'api_key.created',
        target: made.body.id,
        requestId: 'trace-7',
        details: { name: 'made by a key' },
      },
    ]);
    expect(log.data.at(-1)).toMatchObject({ action: 'project.created', actor: { kind: 'admin' } });
    expect(JSON.stringify(log)).not.toContain(made.body.key);
  });

  test('give no scope that they lack', async () => {
    const project = await gateway().createProject();
    const { key } = await gateway().createKey(project, { scopes: ['keys:write', 'read', 'supervise'] });
    const give = (body: object) =>
      gateway().api('POST', `${project.path}/api-keys`, { key, body: { name: 'more', ...body } });
    for (const more of [
      { kind: 'secret' },
      { kind: 'developer' },
      { kind: 'developer', scopes: ['read', 'calls'] },
      { kind: 'developer', scopes: ['write'] },
    ]) {
      expect(await give(more)).toMatchObject({ status: 403, body: { code: 'missing_scope' } });
    }
    const given = await give({ kind: 'developer', scopes: ['supervise', 'keys:write'] });
    expect([given.status, given.body.scopes]).toEqual([201, ['supervise', 'keys:write']]);
  });

  test('show their last use', async () => {
    const [database, folder] = [await createTestDatabase('newest'), makeTempDir()];
    const options = { env: { DATABASE_URL: database.url }, dataDir: folder.path };
    const first = await startTestGateway(options);
    const { path, developerKey: key } = await first.createProject();
    const before = Date.now();
    await first.api('GET', `${path}/agent`, { key });
    await first.stop();
    const second = await startTestGateway(options);

    const { data } = (await second.api('GET', `${path}/api-keys`)).body;

    const lastUse = (kind: string) => data.find((one: { kind: string }) => one.kind === kind).lastUsedAt;
    expect(lastUse('secret')).toBeNull();
    // The machine's clock may be set back meanwhile.
    expect(Date.parse(lastUse('developer'))).toBeGreaterThan(before - 1_000);
    await second.stop();
    await database.drop();
    folder.remove();
  });
});

describe('A revoked key', () => {
  let nodes: Awaited<ReturnType<typeof startTwoGateways>>;
  beforeAll(async () => {
    nodes = await startTwoGateways();
  });
  afterAll(() => nodes.stop());

  test('is refused at once by a node that has it in its cache', async () => {
    const project = await nodes.first.createProject();
    for (let round = 0; round < 20; round += 1) {
      const { id, key } = await nodes.first.createKey(project);
      const use = () => nodes.second.api('GET', `${project.path}/agent`, { key });
      expect((await use()).status).toBe(200);

      expect((await nodes.first.api('DELETE', `${project.path}/api-keys/${id}`)).status).toBe(204);

      expect([round, (await use()).status]).toEqual([round, 401]);
    }
  });

  test('is not cached by a concurrent lookup', async () => {
    const project = await nodes.first.createProject();
    for (let round = 0; round < 10; round += 1) {
      const { id, key } = await nodes.first.createKey(project);
      const use = () => nodes.second.api('GET', `${project.path}/agent`, { key });
      const uses = Array.from({ length: 8 }, use);
      await nodes.first.api('DELETE', `${project.path}/api-keys/${id}`);

      expect((await use()).status).toBe(401);
      await Promise.all(uses);
      expect((await use()).status).toBe(401);
    }
  });

  test('is every key of a deleted project', async () => {
    const { path, developerKey: key } = await nodes.first.createProject();
    const use = () => nodes.second.api('GET', `${path}/agent`, { key });
    expect((await use()).status).toBe(200);

    await nodes.first.api('DELETE', path);

    expect((await use()).status).toBe(401);
  });
});
