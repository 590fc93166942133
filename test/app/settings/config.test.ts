import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, readEnvironment } from '../../../src/app/settings/config.ts';
import { ConfigurationError } from '../../../src/base/configurationError.ts';
import { DEFAULT_CHAT_MODELS } from '../../../src/models/ports/modelCatalog.ts';
import { tempDir } from '../../support/tempDir.ts';

function problemsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems.map(({ variable, message }) => `${variable} ${message}`);
  }
}

describe('loadConfig', () => {
  it('needs nothing, and freezes what it gives', () => {
    const config = loadConfig({});

    expect(config).toMatchObject({
      PORT: 3000,
      HOST: '127.0.0.1',
      DATA_DIR: resolve('./data'),
      ROLES: ['api', 'worker', 'voice', 'media'],
      LEGACY_SUNSET: new Date('2027-09-11T00:00:00Z'),
      CHAT_PROVIDER: 'local',
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each([
    [{ OPENAI_API_KEY: 'k' }, 'openai'],
    [{ CHAT_PROVIDER: 'anthropic', ANTHROPIC_API_KEY: 'k' }, 'anthropic'],
    [{ CHAT_PROVIDER: 'google', GOOGLE_API_KEY: 'k' }, 'google'],
  ] as const)('needs a key alone for the three models of the vendor: %j', (environment, vendor) => {
    expect(loadConfig(environment).CHAT_MODELS).toEqual(DEFAULT_CHAT_MODELS[vendor]);
    const { smart, turbo } = DEFAULT_CHAT_MODELS[vendor];
    expect(loadConfig({ ...environment, CHAT_MODEL_BALANCE: 'own' }).CHAT_MODELS).toEqual({
      ...{ smart, balance: 'own', turbo },
    });
  });

  it('takes an empty or blank value for none, and passes over what it does not know', () => {
    const environment = { PORT: '', HOST: '  ', DATABASE_URL: '', NONSENSE: 'x' };
    expect(loadConfig(environment)).toEqual(loadConfig({}));
  });

  it.each([
    { set: { PORT: ' 8080 ' }, is: { PORT: 8080 } },
    { set: { TRUST_PROXY: 'false' }, is: { TRUST_PROXY: false } },
    { set: { TRUST_PROXY: 'true' }, is: { TRUST_PROXY: 1 } },
    { set: { TRUST_PROXY: '2' }, is: { TRUST_PROXY: 2 } },
    { set: { TRUST_PROXY: '10.0.0.0/8, ::1' }, is: { TRUST_PROXY: ['10.0.0.0/8', '::1'] } },
    { set: { ROLES: 'api, worker,' }, is: { ROLES: ['api', 'worker'] } },
    {
      set: { CORS_ORIGINS: 'https://a.test,http://b.test:81' },
      is: { CORS_ORIGINS: ['https://a.test', 'http://b.test:81'] },
    },
    { set: { PUBLIC_URL: 'https://voice.test/base//' }, is: { PUBLIC_URL: 'https://voice.test/base' } },
    {
      set: { LEGACY_SUNSET: '2028-01-02T03:04:05+01:00' },
      is: { LEGACY_SUNSET: new Date('2028-01-02T02:04:05Z') },
    },
    { set: { SECRETS_KEY: 'ff'.repeat(32) }, is: { SECRETS_KEY: Buffer.alloc(32, 0xff) } },
    {
      set: { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') },
      is: { SECRETS_KEY: Buffer.alloc(32, 1) },
    },
    { set: { PUBLIC_IP: '2001:db8::1' }, is: { PUBLIC_IP: '2001:db8::1' } },
    {
      set: { REDIS_URL: 'redis+sentinel://u:p@a:1,b:2/m' },
      is: { REDIS_URL: 'redis+sentinel://u:p@a:1,b:2/m' },
    },
    { set: { REDIS_URL: 'rediss+cluster://a:1,b:2,c' }, is: { REDIS_URL: 'rediss+cluster://a:1,b:2,c' } },
  ])('reads $set', ({ set, is }) => {
    expect(loadConfig(set)).toMatchObject(is);
  });

  it.each<{ set: Record<string, string>; problem: string }>([
    { set: { PORT: '65536' }, problem: 'PORT must be a whole number from 0 to 65535' },
    { set: { PORT: '1e3' }, problem: 'PORT must be a whole number from 0 to 65535' },
    {
      set: { MODEL_TIMEOUT_SECONDS: '0' },
      problem: 'MODEL_TIMEOUT_SECONDS must be a whole number from 1 to 600',
    },
    {
      set: { TRUST_PROXY: 'yes' },
      problem:
        'TRUST_PROXY must be false, the number of proxies in front, or their addresses such as 10.0.0.0/8,::1',
    },
    {
      set: { TRUST_PROXY: '0.0.0.0/33' },
      problem:
        'TRUST_PROXY must be false, the number of proxies in front, or their addresses such as 10.0.0.0/8,::1',
    },
    {
      set: { TRUST_PROXY: '0' },
      problem:
        'TRUST_PROXY must be false, the number of proxies in front, or their addresses such as 10.0.0.0/8,::1',
    },
    { set: { ROLES: 'api,boss' }, problem: 'ROLES must be one of api, worker, voice, media' },
    { set: { ROLES: ',' }, problem: 'ROLES must name at least one role' },
    {
      set: { LOG_LEVEL: 'loud' },
      problem: 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    },
    {
      set: { CORS_ORIGINS: 'https://a.test/path' },
      problem: 'CORS_ORIGINS must be origins like https://app.example.com',
    },
    {
      set: { PUBLIC_URL: 'voice.test' },
      problem: 'PUBLIC_URL must be a URL that starts with http:// or https://',
    },
    {
      set: { DATABASE_URL: 'mysql://h/d' },
      problem: 'DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
    },
    {
      set: { CALLWAY_ADMIN_TOKEN: 'short' },
      problem: 'CALLWAY_ADMIN_TOKEN must have at least 24 characters',
    },
    {
      set: { SECRETS_KEY: 'AAAA' },
      problem: 'SECRETS_KEY must be 32 bytes in base64 or hex (make one with: openssl rand -base64 32)',
    },
    { set: { PUBLIC_IP: 'voice.test' }, problem: 'PUBLIC_IP must be an IPv4 or IPv6 address' },
    { set: { LEGACY_SUNSET: 'soon' }, problem: 'LEGACY_SUNSET must be an ISO date such as 2027-09-11' },
    {
      set: { CHAT_PROVIDER: 'other' },
      problem: 'CHAT_PROVIDER must be one of openai, anthropic, google, local',
    },
    {
      set: { CHAT_PROVIDER: 'openai' },
      problem: 'CHAT_PROVIDER is openai, which requires OPENAI_API_KEY or OPENAI_BASE_URL',
    },
    { set: { RTP_PORT_MIN: '40000' }, problem: 'RTP_PORT_MAX must be above RTP_PORT_MIN' },
    {
      set: { SIP_TLS_CA_FILE: '/no/such/file' },
      problem: 'SIP_TLS_CA_FILE names a file that does not exist: /no/such/file',
    },
    { set: { S3_ACCESS_KEY_ID: 'id' }, problem: 'S3_SECRET_ACCESS_KEY is required with S3_ACCESS_KEY_ID' },
  ])('refuses $set', ({ set, problem }) => {
    expect(problemsOf(set)).toEqual([problem]);
  });

  it.each([
    [{ STT_BASE_URL: 'http://speech.test/v1' }, ['local', 'openai', 'local']],
    [{ STT_API_KEY: 'k' }, ['local', 'openai', 'local']],
    [{ TTS_BASE_URL: 'http://speech.test/v1' }, ['local', 'local', 'openai']],
    [{ TTS_API_KEY: 'k', STT_PROVIDER: 'local' }, ['local', 'local', 'openai']],
    [{ STT_BASE_URL: 'http://speech.test/v1', STT_PROVIDER: 'openai' }, ['local', 'openai', 'local']],
  ])('%j selects the providers of chat, recognition and synthesis: %j', (environment, providers) => {
    const { CHAT_PROVIDER, STT_PROVIDER, TTS_PROVIDER } = loadConfig(environment);
    expect([CHAT_PROVIDER, STT_PROVIDER, TTS_PROVIDER]).toEqual(providers);
  });

  it('names everything that is wrong at once, malformed and contradictory, in one message', () => {
    const problems = problemsOf({
      PORT: 'http',
      LOG_LEVEL: 'loud',
      RTP_PORT_MIN: '2000',
      RTP_PORT_MAX: '1999',
      SIP_TLS_PORT: 'x',
      STT_PROVIDER: 'openai',
      EMBEDDING_PROVIDER: 'openai',
    });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'LOG_LEVEL',
      'SIP_TLS_PORT',
      'RTP_PORT_MAX',
      'SIP_TLS_CERT_FILE',
      'SIP_TLS_KEY_FILE',
      'STT_PROVIDER',
      'EMBEDDING_PROVIDER',
    ]);
  });

  it('draws no conclusion from a value that is malformed', () => {
    expect(problemsOf({ RTP_PORT_MIN: 'x', RTP_PORT_MAX: '2000' })).toHaveLength(1);
    expect(problemsOf({ OPENAI_BASE_URL: 'x', CHAT_PROVIDER: 'openai' })).toHaveLength(1);
  });

  it('shows no value of a secret in what it says', () => {
    const environment = {
      CALLWAY_ADMIN_TOKEN: 'hidden',
      SECRETS_KEY: 'hidden',
      DATABASE_URL: 'hidden://',
      REDIS_URL: 'hidden',
    };
    expect(problemsOf(environment)).toHaveLength(4);
    expect(problemsOf(environment).join()).not.toContain('hidden');
  });
});

describe('the providers', () => {
  it.each([
    { set: {}, is: ['local', 'local'] },
    { set: { OPENAI_API_KEY: 'k' }, is: ['openai', 'openai'] },
    { set: { OPENAI_BASE_URL: 'http://m.test' }, is: ['openai', 'openai'] },
    { set: { EMBEDDING_API_KEY: 'k' }, is: ['local', 'openai'] },
    { set: { OPENAI_API_KEY: 'k', CHAT_PROVIDER: 'local' }, is: ['local', 'openai'] },
  ])('of $set are $is for chat and embeddings', ({ set, is }) => {
    const { CHAT_PROVIDER, EMBEDDING_PROVIDER } = loadConfig(set);
    expect([CHAT_PROVIDER, EMBEDDING_PROVIDER]).toEqual(is);
  });
});

describe('readEnvironment', () => {
  it('lets the environment win over the file', () => {
    const file = join(tempDir(), '.env');
    writeFileSync(file, 'PATH=from-the-file\nCALLWAY_TEST_ONLY="a # b"\n');

    const environment = readEnvironment(file);

    expect(environment).toMatchObject({ PATH: process.env.PATH, CALLWAY_TEST_ONLY: 'a # b' });
  });

  it('does without a file', () => {
    expect(readEnvironment(join(tempDir(), 'none'))).toEqual({ ...process.env });
  });
});
