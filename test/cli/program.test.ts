import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { reservePort } from '../support/ports.ts';
import { tempDir } from '../support/tempDir.ts';
import { answering, cli } from './support.ts';

const KNOWN = { CALLWAY_URL: 'http://127.0.0.1:1', CALLWAY_ADMIN_TOKEN: 'a-token-for-tests-of-the-cli' };

describe('callway', () => {
  it.each([
    { args: ['project', 'create'], says: '--name' },
    { args: ['project', 'delete'], says: 'id' },
    { args: ['key', 'create', '--project', 'p', '--kind', 'root'], says: 'secret, developer' },
    { args: ['key', 'create', '--kind', 'secret'], says: '--project' },
    {
      args: ['key', 'create', '--project', 'p', '--kind', 'developer', '--scopes', 'read,rule'],
      says: '"rule" is not a scope',
    },
    { args: ['nonsense'], says: 'nonsense' },
    { args: ['stream-check', 'ws://127.0.0.1:1'], says: '--dialect' },
    { args: ['stream-check', '--dialect', 'morse', 'ws://127.0.0.1:1'], says: 'asterisk-websocket' },
    { args: ['stream-check', '--dialect', 'twilio'], says: 'ws://host/path' },
    { args: ['stream-check', '--dialect', 'audiosocket', 'ws://127.0.0.1:1'], says: 'tcp://host:port' },
    { args: ['stream-check', '--dialect', 'twilio', '--param', 'x'], says: 'name=value' },
    { args: ['project', 'list', '--url', 'localhost:3000'], says: '--url must be an address' },
  ])('$args exits with 64 and prints $says', async ({ args, says }) => {
    const { code, err, out } = await cli(args, KNOWN);

    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(says);
  });

  it.each([
    ['before the command', ['--url', 'http://b.test', '--json', 'project', 'list']],
    ['between group and command', ['project', '--json', '--url', 'http://b.test', 'list']],
    ['after the command', ['project', 'list', '--json', '--url=http://b.test']],
    ['on both sides', ['--json', 'project', 'list', '--url', 'http://b.test']],
  ])('takes its options %s', async (_, args) => {
    const { fetch, seen } = answering(200, { data: [], pagination: { nextCursor: null } });
    expect(await cli(args, KNOWN, fetch)).toEqual({ code: 0, out: '[]\n', err: '' });
    expect(seen.url).toMatch(/^http:\/\/b\.test\/v1\/projects/);
  });

  it('prints its version and its help on standard output', async () => {
    expect(await cli(['--version'])).toEqual({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      err: '',
    });
    expect((await cli(['key', '--help'])).out).toContain('revoke');
  });
});

describe('An unusable service', () => {
  it('that does not run is reported with how to start it', async () => {
    const url = `http://127.0.0.1:${await reservePort()}`;
    const { code, err } = await cli(['project', 'list', '--url', url], KNOWN);

    expect(code).toBe(69);
    expect(err).toContain(`does not respond at ${url} (connection refused)`);
    expect(err).toContain('npm start');
  });

  it.each([
    { status: 200, body: '<html>', code: 69, says: 'is not one of a Callway version' },
    { status: 200, body: { data: 'x' }, code: 69, says: 'is not one of a Callway version' },
    { status: 502, body: 'Bad gateway', code: 69, says: 'is not one of a Callway version' },
    {
      status: 503,
      body: { error: 'database is away', code: 'database_unavailable' },
      code: 69,
      says: 'database is away.',
    },
    { status: 429, body: { error: 'Too many', code: 'rate_limited' }, code: 1, says: 'Too many.' },
    {
      status: 400,
      body: {
        error: 'first',
        code: 'invalid_request',
        details: [
          { path: '/a', message: 'first' },
          { path: '/b', message: 'second' },
        ],
      },
      code: 1,
      says: 'first.\n  second\n',
    },
  ])('that responds $status $body gives exit code $code', async ({ status, body, code, says }) => {
    const run = await cli(['project', 'list'], KNOWN, answering(status, body).fetch);

    expect(run.code).toBe(code);
    expect(run.err).toContain(says);
    expect(run.out).toBe('');
  });

  it('gets ids with slashes as one path segment', async () => {
    const { fetch, seen } = answering(404, { error: 'Project not found', code: 'project_not_found' });
    await cli(['project', 'delete', '../v1/projects'], KNOWN, fetch);

    expect(seen.url).toBe('http://127.0.0.1:1/v1/projects/..%2Fv1%2Fprojects');
  });
});

it('Invalid settings are listed when they are needed', async () => {
  const { code, err } = await cli(['project', 'list'], {
    PORT: 'http',
    LOG_LEVEL: 'loud',
    DATA_DIR: tempDir(),
  });

  expect(code).toBe(78);
  expect(err).toContain('PORT: must be a whole number from 0 to 65535');
  expect(err).toContain('LOG_LEVEL: ');
});

describe('callway stream-check', () => {
  it.each([
    ['twilio', 'ws'],
    ['audiosocket', 'tcp'],
  ])('exits with 1 when no bot listens, in %s', async (dialect, scheme) => {
    const url = `${scheme}://127.0.0.1:${await reservePort()}`;
    const { code, out } = await cli(['stream-check', '--dialect', dialect, url]);
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL {2}connect {2}.*ECONNREFUSED.*\n$/);
  });

  it('says where it listens, and exits with 1 unless the gateway sends a start', async () => {
    let connect = (_address: string) => undefined as unknown;
    const running = cli(['stream-check', '--dialect', 'twilio', '--listen', '--json'], {}, fetch, (text) =>
      connect(text),
    );
    const socket = await new Promise<WebSocket>((resolve) => {
      connect = (text) => resolve(new WebSocket(text.replace('listening on ', '').trim()));
    });
    socket.on('open', () => socket.close());
    const { code, out } = await running;
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual([
      { check: 'connect', status: 'pass', detail: 'without a subprotocol' },
      expect.objectContaining({ check: 'start', status: 'fail' }),
    ]);
  });
});
