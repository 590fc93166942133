import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../../src/app/gateway.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RedisDatabase, redisDatabase } from '../support/redis.ts';
import { makeTempDir, type TempDir } from '../support/tempDir.ts';
import { cli } from './support.ts';

const TOKEN = 'the-operator-of-this-test-only';

let folder: TempDir;
let database: TestDatabase;
let redis: RedisDatabase;
let gateway: Gateway;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = makeTempDir();
  [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  const config = loadConfig({
    PORT: '0',
    SIP_PORT: '0',
    DATA_DIR: folder.path,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    CALLWAY_ADMIN_TOKEN: TOKEN,
  });
  gateway = await startGateway(config, pino({ level: 'silent' }));
  environment = { CALLWAY_URL: gateway.url, CALLWAY_ADMIN_TOKEN: TOKEN };
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([database.drop(), redis.drop()]);
  folder.remove();
});

async function makeProject(name: string): Promise<string> {
  const { out } = await cli(['project', 'create', '--name', name, '--json'], environment);
  return JSON.parse(out).id;
}

describe('callway doctor', () => {
  it('checks the settings of the running service, not those of the shell', async () => {
    const { out, code } = await cli(['doctor'], {
      ...environment,
      DATA_DIR: '/nonexistent',
      LOG_LEVEL: 'error',
    });

    expect(out).toMatch(new RegExp(`^ok +settings +of the service at ${gateway.url}$`, 'm'));
    expect(out).toContain(folder.path);
    expect(out).not.toContain('/nonexistent');
    expect(out).toMatch(/^ok +Redis +not checked from here: REDIS_URL of the service/m);
    expect(code).toBe(0);
  });

  it('checks what needs a secret with the one in the shell', async () => {
    const { out } = await cli(['doctor'], { ...environment, REDIS_URL: redis.url });
    expect(out).toMatch(/^ok +Redis +redis:.*version/m);
  });

  it('says when the service does not tell its settings', async () => {
    const { out } = await cli(['doctor'], {
      ...environment,
      CALLWAY_ADMIN_TOKEN: 'not-the-token-of-this-service',
    });
    expect(out).toMatch(/^WARN +settings +of this shell, not of the service/m);
  });
});

describe('callway project', () => {
  it('creates a project and prints the next command', async () => {
    const { code, out, err } = await cli(['project', 'create', '--name', 'Clinic'], environment);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [, id] = /^Created project (\S+) \(Clinic\)\.$/m.exec(out) ?? [];
    expect(out).toContain(`callway key create --project ${id} --kind secret`);
  });

  it('lists projects in columns, and as JSON', async () => {
    const id = await makeProject('Listed');

    const human = await cli(['project', 'list'], environment);
    const json = await cli(['project', 'list', '--json'], environment);

    expect(human.out).toMatch(/^ID {2,}CREATED {2,}NAME$/m);
    expect(human.out).toMatch(new RegExp(`^${id}  \\S+Z  Listed$`, 'm'));
    expect(JSON.parse(json.out)).toContainEqual(expect.objectContaining({ id, name: 'Listed' }));
  });

  it('lists all projects over several pages', async () => {
    const names = Array.from({ length: 201 }, (_, index) => `Page ${index}`);
    for (let from = 0; from < names.length; from += 20)
      await Promise.all(names.slice(from, from + 20).map(makeProject));

    const { out } = await cli(['project', 'list', '--json'], environment);

    const listed = (JSON.parse(out) as { name: string }[]).map(({ name }) => name);
    expect(names.filter((name) => !listed.includes(name))).toEqual([]);
  });

  it('deletes a project; a second delete fails', async () => {
    const id = await makeProject('Short-lived');

    expect(await cli(['project', 'delete', id], environment)).toMatchObject({ code: 0, err: '' });
    expect(await cli(['project', 'delete', id], environment)).toEqual({
      code: 1,
      out: '',
      err: 'Project not found.\n',
    });
  });
});

describe('callway key', () => {
  it('creates a working key and prints it with a warning', async () => {
    const project = await makeProject('Keys');
    const { code, out } = await cli(['key', 'create', '--project', project, '--kind', 'secret'], environment);

    const [key] = /sk_[0-9A-Za-z]{43}/.exec(out) ?? [];
    expect(code).toBe(0);
    expect(out).toContain('Save it now: it is shown only once');
    const answer = await fetch(`${gateway.url}/v1/projects/${project}/agent`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(200);

    const list = await cli(['key', 'list', '--project', project], environment);
    expect(list.out).toContain(`sk_…${key?.slice(-4)}`);
    expect(list.out).not.toContain(key);
  });

  it('creates developer keys with the given scopes', async () => {
    const project = await makeProject('Scopes');
    const { out } = await cli(
      [
        'key',
        'create',
        '--project',
        project,
        '--kind',
        'developer',
        '--name',
        'CI',
        '--scopes',
        'read, keys:write',
        '--json',
      ],
      environment,
    );

    expect(JSON.parse(out)).toMatchObject({
      kind: 'developer',
      name: 'CI',
      scopes: ['read', 'keys:write'],
      key: expect.stringMatching(/^dk_/),
    });
  });

  it('revokes a key, which the service then refuses', async () => {
    const project = await makeProject('Revoked');
    const made = await cli(
      ['key', 'create', '--project', project, '--kind', 'secret', '--json'],
      environment,
    );
    const { id, key } = JSON.parse(made.out) as { id: string; key: string };

    expect(await cli(['key', 'revoke', id, '--project', project], environment)).toMatchObject({ code: 0 });

    const answer = await fetch(`${gateway.url}/v1/projects/${project}/agent`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(401);
  });
});

it('A refused admin token is reported with where to find it', async () => {
  const { code, err, out } = await cli(['project', 'list'], {
    ...environment,
    CALLWAY_ADMIN_TOKEN: 'another-token-of-24-characters',
  });

  expect({ code, out }).toEqual({ code: 77, out: '' });
  expect(err).toContain('CALLWAY_ADMIN_TOKEN');
  expect(err).toContain('admin-token');
});
