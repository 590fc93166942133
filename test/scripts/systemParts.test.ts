import { describe, expect, test } from 'vitest';
import { hearsOffline } from '../../scripts/commands/start.mjs';
import { neededParts } from '../../scripts/commands/test.mjs';
import { sourceLine } from '../../scripts/lib/pgvectorBuild.mjs';
import { choosePostgres } from '../../scripts/lib/postgresInstallation.mjs';
import { installationAdvice } from '../../scripts/lib/systemParts.mjs';

const machine = { isRoot: false, codename: 'noble', distribution: 'ubuntu' };
const everything = ['redis', 'postgres', 'pgvector', 'sipp', 'kamailio', 'baresip'] as const;
const peers = ['sipp', 'kamailio', 'baresip'];
const all = [...everything];

test.each([
  ['dnf', 'sudo dnf install -y redis postgresql-server pgvector sipp kamailio baresip'],
  ['apk', 'apk add redis postgresql postgresql-pgvector sipp kamailio baresip'],
  ['brew', 'brew install redis postgresql@17 pgvector sipp baresip'],
  [
    'apt',
    'sudo apt-get install -y redis-server postgresql-16 postgresql-16-pgvector sip-tester kamailio baresip-core',
  ],
] as const)('with %s the advice is: %s', (manager, command) => {
  expect(installationAdvice(all, { ...machine, manager }, 16, () => true)).toContain(`\n  ${command}\n`);
});

test('the advice names only what is missing', () => {
  const advice = installationAdvice(['pgvector'], { ...machine, manager: 'brew' }, 17);
  expect(advice).toContain('  brew install pgvector\n');
});

test('what a package manager lacks is named', () => {
  const advice = installationAdvice(['sipp', 'kamailio'], { ...machine, manager: 'brew' }, 17);
  expect(advice).toBe('Install with:\n\n  brew install sipp\n\nbrew has no package of Kamailio.\n');
});

test('without a known package manager the advice says what to do', () => {
  expect(installationAdvice(all, { ...machine, manager: undefined }, 0)).toMatch(/PATH/);
});

test.each([
  ['apt has no pgvector', 15, (name: string) => !name.endsWith('pgvector')],
  ['apt knows nothing yet', 0, () => false],
  ['Postgres is too old', 14, () => true],
])('where %s, the command that installs it is run as root', (_, major, hasPackage) => {
  const advice = installationAdvice(all, { ...machine, manager: 'apt' }, major, hasPackage);
  expect(advice).toContain(`sudo ${process.execPath} scripts/run.mjs install`);
});

test.each([
  [{}, ['redis', 'postgres', 'pgvector', 'pocketsphinx', ...peers, 'promtool']],
  [{ TEST_REDIS_URL: 'redis://127.0.0.1' }, ['postgres', 'pgvector', 'pocketsphinx', ...peers, 'promtool']],
  [{ TEST_DATABASE_URL: 'postgres://127.0.0.1' }, ['redis', 'pocketsphinx', ...peers, 'promtool']],
  [
    { TEST_REDIS_URL: 'redis://127.0.0.1', TEST_DATABASE_URL: 'postgres://127.0.0.1' },
    ['pocketsphinx', ...peers, 'promtool'],
  ],
  [{ TEST_WITHOUT_SIP_PEERS: '1' }, ['redis', 'postgres', 'pgvector', 'pocketsphinx', 'promtool']],
])('with the servers %j the tests need %j', (env, parts) => {
  expect(neededParts(env)).toEqual(parts);
});

describe('the Postgres of the tests', () => {
  const at = (major: number, hasVector: boolean) => ({ bin: `/${major}`, major, hasVector });
  test.each([
    ['the newest', [at(15, true), at(17, true), at(16, true)], 17],
    ['one with pgvector before a newer one', [at(17, false), at(16, true)], 16],
    ['one without when there is no other', [at(16, false), at(17, false)], 17],
    ['none that is too old', [at(14, true)], undefined],
    ['none when there is none', [], undefined],
  ])('is %s', (_, found, major) => {
    expect(choosePostgres(found)?.major).toBe(major);
  });
});

describe('the source list for pgvector', () => {
  const targets = [
    'http://updates.example/debian/ bookworm-updates main',
    'http://mirror.example/debian/ bookworm contrib',
    'http://mirror.example/debian/ bookworm main',
  ].join('\n');
  test('names the mirror that serves this release', () => {
    expect(sourceLine(targets, 'bookworm')).toBe(
      'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ trixie main\n',
    );
  });
  test('is empty where no source serves it', () => {
    expect(sourceLine(targets, 'bullseye')).toBe('');
    expect(sourceLine('', 'bookworm')).toBe('');
  });
});

test.each([
  [{}, true],
  [{ STT_PROVIDER: 'local', OPENAI_API_KEY: 'sk-x' }, true],
  [{ STT_PROVIDER: 'openai' }, false],
  [{ OPENAI_API_KEY: 'sk-x' }, false],
  [{ OPENAI_BASE_URL: 'http://127.0.0.1:1' }, false],
  [{ OPENAI_API_KEY: ' ' }, true],
])('with %j speech is recognised on this machine: %s', (settings, offline) => {
  expect(hearsOffline(settings)).toBe(offline);
});

test('a recogniser is two packages for apt', () => {
  const advice = installationAdvice(['pocketsphinx'], { ...machine, manager: 'apt' }, 16, () => true);
  expect(advice).toContain('sudo apt-get install -y pocketsphinx pocketsphinx-en-us');
});
