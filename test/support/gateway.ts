import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { startGateway } from '../../src/app/gateway.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { type ApiContract, createApiContract } from './apiContract.ts';
import { detectLeaks } from './leaks.ts';
import { createTestDatabase } from './postgres.ts';
import { NO_OVERLOAD } from './processes.ts';
import { redisDatabase } from './redis.ts';
import { makeTempDir } from './tempDir.ts';

/** Options of a request. */
export interface ApiRequest {
  /** Sent as `Authorization: Bearer`; null sends none. Default: the admin token. */
  readonly key?: string | null;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or text; undefined when empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, which the document vouches for
  readonly body: any;
}

export interface TestProject {
  readonly id: string;
  /** `/v1/projects/{id}`. */
  readonly path: string;
  readonly secretKey: string;
  readonly developerKey: string;
}

export interface TestGateway {
  readonly url: string;
  readonly adminToken: string;
  readonly dataDir: string;
  readonly contract: ApiContract;
  /** Sends a request. Fails the test when the OpenAPI document does not allow the answer. */
  api(method: string, path: string, request?: ApiRequest): Promise<ApiAnswer>;
  createProject(name?: string): Promise<TestProject>;
  /** Creates another key of a project. */
  createKey(project: Pick<TestProject, 'path'>, input?: object): Promise<{ id: string; key: string }>;
  /** @see Gateway.retire */
  retire(): Promise<void>;
  /** Idempotent. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** Settings added to the test defaults. An empty one counts as not set. */
  readonly env?: Readonly<Record<string, string>>;
  /** `server`: a database on the test run's Postgres. `embedded`: the embedded one, in the data folder. */
  readonly database?: 'server' | 'embedded';
  /** Uses this folder and does not remove it. */
  readonly dataDir?: string;
  /** Gets the log, a line of JSON at a time. Default: nothing is logged. */
  readonly onLogLine?: (line: string) => void;
}

/** Starts the whole gateway in this process on its own databases. */
export async function startTestGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const { env = {}, database = 'server', dataDir, onLogLine } = options;
  const closers: (() => unknown)[] = [];
  // No voice and media roles: their threads cost more than most tests.
  const settings: Record<string, string> = {
    PORT: '0',
    SIP_PORT: '0',
    ROLES: 'api,worker',
    LOG_LEVEL: 'silent',
    ...NO_OVERLOAD,
    ...env,
  };
  if (dataDir === undefined) {
    const folder = makeTempDir();
    closers.push(folder.remove);
    settings.DATA_DIR = folder.path;
  } else settings.DATA_DIR = dataDir;
  if (database === 'server' && settings.DATABASE_URL === undefined) {
    const { url, drop } = await createTestDatabase('newest');
    closers.push(drop);
    settings.DATABASE_URL = url;
  }
  if (settings.REDIS_URL === undefined) {
    const { url, drop } = await redisDatabase();
    closers.push(drop);
    settings.REDIS_URL = url;
  }
  const config = loadConfig(settings);
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  const logger = onLogLine ? pino({}, { write: onLogLine }) : createLogger(config.LOG_LEVEL);
  const gateway = await startGateway(config, logger).catch(async (error: unknown) => {
    await closeAll();
    throw error;
  });
  closers.push(() => gateway.stop());
  const adminToken =
    config.CALLWAY_ADMIN_TOKEN ?? readFileSync(join(config.DATA_DIR, 'admin-token'), 'utf8').trim();
  return {
    ...(await createClient(gateway.url, adminToken)),
    dataDir: config.DATA_DIR,
    retire: gateway.retire,
    stop: closeAll,
  };
}

/** Starts two nodes of one installation, on one database and one Redis. */
export async function startTwoGateways(env: Readonly<Record<string, string>> = {}) {
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  const shared = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    CALLWAY_ADMIN_TOKEN: randomBytes(24).toString('hex'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    ...env,
  };
  const first = await startTestGateway({ env: shared });
  const second = await startTestGateway({ env: shared });
  return {
    first,
    second,
    async stop() {
      await Promise.all([first.stop(), second.stop()]);
      await Promise.all([database.drop(), redis.drop()]);
    },
  };
}

/**
 * Starts one gateway for all tests of a file and fails the file when a resource is leaked.
 *
 * @returns Getter of the gateway; throws before the first test.
 */
export function sharedGateway(options: GatewayOptions = {}): () => TestGateway {
  let gateway: TestGateway | undefined;
  let assertNoLeaks: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    assertNoLeaks = detectLeaks();
    gateway = await startTestGateway(options);
  });
  afterAll(async () => {
    await gateway?.stop();
    await assertNoLeaks?.();
  });
  return () => {
    if (!gateway) throw new Error('the gateway runs only while tests do');
    return gateway;
  };
}

/** Shared by all clients: the document is the same on each gateway and slow to build. */
let contractOfAll: Promise<ApiContract> | undefined;

/** An API client that validates each answer against the OpenAPI document. */
export async function createClient(
  url: string,
  adminToken: string,
): Promise<Omit<TestGateway, 'dataDir' | 'retire' | 'stop'>> {
  contractOfAll ??= send(url, 'GET', '/openapi.json', { key: null }).then(({ body }) =>
    createApiContract(body),
  );
  const contract = await contractOfAll;
  const api = async (method: string, path: string, request: ApiRequest = {}) => {
    const answer = await send(url, method, path, { key: adminToken, ...request });
    contract.check({ method, url: path }, answer);
    return answer;
  };
  const createKey = async (project: Pick<TestProject, 'path'>, input: object = {}) => {
    const { status, body } = await api('POST', `${project.path}/api-keys`, {
      body: { name: 'test', kind: 'developer', ...input },
    });
    if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`);
    return { id: body.id as string, key: body.key as string };
  };
  return {
    url,
    adminToken,
    contract,
    api,
    createKey,
    async createProject(name = 'Test') {
      const { status, body } = await api('POST', '/v1/projects', { body: { name } });
      if (status !== 201) throw new Error(`no project: ${status} ${JSON.stringify(body)}`);
      const path = `/v1/projects/${body.id}`;
      const [secret, developer] = await Promise.all([
        createKey({ path }, { kind: 'secret' }),
        createKey({ path }),
      ]);
      return { id: body.id, path, secretKey: secret.key, developerKey: developer.key };
    },
  };
}

async function send(url: string, method: string, path: string, request: ApiRequest): Promise<ApiAnswer> {
  const { key, body, headers = {} } = request;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const parsed: unknown = text === '' ? undefined : isJson ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body: parsed };
}
