import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import type { LegacyUse, StoredResponse } from '../../src/agents/accounts/accountStores.ts';
import type { ApiAuthenticator } from '../../src/agents/accounts/apiAuthenticator.ts';
import type { AuditEntry } from '../../src/agents/accounts/audit.ts';
import { NO_CALL_LIMITS } from '../../src/agents/accounts/callLimits.ts';
import type { Principal } from '../../src/agents/accounts/principal.ts';
import type { Project } from '../../src/agents/accounts/project.ts';
import { DEFAULT_QUOTAS } from '../../src/agents/accounts/quotas.ts';
import { retentionFrom } from '../../src/agents/accounts/retention.ts';
import type { HttpDeps, Stores } from '../../src/api/ports.ts';
import { createServer } from '../../src/api/server.ts';
import { ComputeShares } from '../../src/base/async/computeShares.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { CallStore } from '../../src/calls/callStore.ts';
import type { HistoryStore } from '../../src/engine/history/historyStore.ts';
import type { SessionStore } from '../../src/engine/session/sessionStore.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { WebhookAdmin } from '../../src/webhooks/webhookAdmin.ts';
import { createFakeEngine, type FakeEngine } from './fakeEngine.ts';
import { type MemoryEvents, memoryEvents } from './memoryEvents.ts';
import { createSimulatedClock, type SimulatedClock } from './simulatedClock.ts';
import {
  unusedCalls,
  unusedConsoleSessions,
  unusedCustomers,
  unusedKnowledge,
  unusedMcpServers,
  unusedMediaFiles,
  unusedNodeReports,
  unusedPathways,
  unusedPatterns,
  unusedSchemas,
  unusedSpeechPreview,
  unusedTests,
  unusedTools,
} from './unusedPorts.ts';

export const PROJECT_ID = '019ceb00-1d2e-7f00-8a4b-5c6d7e8f9a0b';
export const SECRET_KEY = 'sk_test';
export const DEVELOPER_KEY = 'dk_test';
export const READ_ONLY_KEY = 'dk_reader';
export const ADMIN_TOKEN = 'admin_test';
export const LEGACY_SUNSET = new Date('2027-09-11T00:00:00.000Z');

export interface TestServer {
  readonly url: string;
  readonly conversations: FakeEngine;
  readonly events: MemoryEvents;
  /** As at the start of a shutdown. */
  drain(): void;
  /** A key that running requests have used. */
  revoke(key: string): void;
  readonly clock: SimulatedClock;
  readonly project: { reportUsage: boolean };
  readonly audit: AuditEntry[];
  readonly legacyUses: LegacyUse[];
  /** Labels of requests reported to the metrics. */
  readonly requestsDone: { method: string; route: string; status: number }[];
  readonly logLines: Record<string, unknown>[];
  /** Sends a request with the secret key or the given one; null sends none. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface ServerOptions {
  readonly history?: Partial<HistoryStore>;
  readonly sessions?: Pick<SessionStore, 'search'>;
  readonly webhookAdmin?: Partial<WebhookAdmin>;
  readonly hangUp?: HttpDeps['hangUp'];
  readonly recordings?: HttpDeps['recordings'];
  readonly mediaStreams?: HttpDeps['mediaStreams'];
  readonly calls?: Pick<CallStore, 'find' | 'turnLatencies'>;
}

/** The HTTP API on its own socket, with in-memory stores and a scripted conversation engine. */
export async function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  const conversations = createFakeEngine();
  const clock = createSimulatedClock();
  const events = memoryEvents();
  const draining = new AbortController();
  const revoked = new Set<string>();
  const project = { reportUsage: false };
  const audit: AuditEntry[] = [];
  const legacyUses: LegacyUse[] = [];
  const requestsDone: TestServer['requestsDone'] = [];
  const logLines: Record<string, unknown>[] = [];
  const stores: Stores = {
    ...unused<Omit<Stores, keyof ReturnType<typeof memoryStores>>>('store', UNUSED_STORES),
    ...memoryStores(project, audit, legacyUses),
    sessions: {
      ...unused<SessionStore>('sessions', ['search']),
      insert: async (session) => conversations.insert(session),
      ...options.sessions,
    },
    history: { ...unused<HistoryStore>('history', ['list', 'find', 'stats']), ...options.history },
    calls: { ...unused<CallStore>('calls', ['list']), ...NO_CALLS_KEPT, ...options.calls },
  };
  const app = await createServer({
    storage: { stores, transaction: (work) => work(stores) },
    sealer: { seal: (secret) => `sealed ${secret}` },
    authenticator: fakeAuthenticator(revoked),
    revocations: unused('revocations', ['announce']),
    consoleSessions: unusedConsoleSessions,
    nodeReports: unusedNodeReports,
    sessionCounter: { read: async () => 0 },
    requestLock: unused('request lock', ['acquire']),
    rateLimiter: { take: () => ({ allowed: true }), isExhausted: () => ({ allowed: true }) },
    dependencies: [],
    targetPolicy: { allowInsecureLoopback: false },
    schemas: unusedSchemas,
    pathways: unusedPathways,
    shares: new ComputeShares({ clock }),
    mcpServers: unusedMcpServers,
    tools: unusedTools,
    clock,
    makeId: uuidV7,
    logger: createLogger('debug', lineStream(logLines)),
    liveEvents: events,
    eventFeed: events,
    metrics: {
      contentType: 'text/plain',
      render: async () => '',
      observeRequest: (labels) => void requestsDone.push(labels),
      countLegacyRequest: () => {},
    },
    conversations,
    knowledge: unusedKnowledge,
    webhookAdmin: {
      ...unused<WebhookAdmin>('webhooks', ['deliveries', 'redeliver', 'secret', 'rotate']),
      ...options.webhookAdmin,
    },
    voices: { has: async () => undefined },
    speechPreview: unusedSpeechPreview,
    mediaFiles: unusedMediaFiles,
    calls: { ...unusedCalls, recordings: { url: (key) => `https://callway.test/${key}` } },
    customers: unusedCustomers,
    tests: unusedTests,
    patterns: unusedPatterns,
    ...(options.hangUp ? { hangUp: options.hangUp } : {}),
    ...(options.recordings ? { recordings: options.recordings } : {}),
    ...(options.mediaStreams ? { mediaStreams: options.mediaStreams } : {}),
    settings: {
      serves: ['api', 'audioStreams'],
      modelNames: ['scripted-model', 'vendor/large'],
      knownProviders: { configured: new Set(), recognition: 'local', synthesis: 'local', chat: 'local' },
      publicUrl: () => 'http://callway.test',
      trustProxy: false,
      corsOrigins: ['https://app.example'],
      legacySunset: LEGACY_SUNSET,
      projectRateLimitPerMinute: 0,
      rateLimitPerMinute: 0,
      failedAuthPerMinute: 0,
      shown: {},
      maxUploadBytes: 1_000_000,
      isDraining: () => draining.signal.aborted,
      draining: draining.signal,
      overloadedParts: () => [],
      providers: () => ({}),
    },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    events,
    drain: () => draining.abort(),
    revoke: (key) => void revoked.add(key),
    conversations,
    clock,
    project,
    audit,
    legacyUses,
    requestsDone,
    logLines,
    send: (method, path, sent) => send(url, method, path, sent),
    async close() {
      const closed = app.close();
      // `fetch` may hold an idle connection that has never sent a request.
      app.server.closeAllConnections();
      await closed;
    },
  };
}

const UNUSED_STORES = [
  'apiKeys',
  'widgetTokens',
  'agents',
  'pathways',
  'tools',
  'mcpServers',
  'providerCredentials',
  'testCases',
  'testSuites',
  'testRuns',
  'knowledgebases',
  'datasets',
  'chunks',
  'webhookSecrets',
] as const;
const NO_CALLS_KEPT = { find: async () => undefined, turnLatencies: async () => new Map() };

function memoryStores(settings: { reportUsage: boolean }, audit: AuditEntry[], uses: LegacyUse[]) {
  const kept = new Map<string, StoredResponse>();
  const project = (): Project => ({
    id: PROJECT_ID,
    name: 'Test',
    sessionIdleMinutes: 30,
    chatIdleMinutes: 60,
    historyRetentionDays: 30,
    retentionDays: retentionFrom(30, {}),
    reportUsage: settings.reportUsage,
    callLimits: NO_CALL_LIMITS,
    quotas: DEFAULT_QUOTAS,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  });
  return {
    projects: {
      ...unused<Stores['projects']>('projects', ['insert', 'list', 'update', 'remove']),
      find: async (id: string) => (id === PROJECT_ID ? project() : undefined),
    },
    audit: {
      append: async (entry: AuditEntry) => void audit.push(entry),
      list: never,
      removeOlderThan: never,
    },
    idempotency: keptAnswers(kept),
    legacyUsage: { add: async (batch: readonly LegacyUse[]) => void uses.push(...batch), since: never },
  };
}

/** A claim without an answer leaves nothing, like a transaction that was rolled back. */
function keptAnswers(kept: Map<string, StoredResponse>) {
  const fingerprints = new Map<string, string>();
  return {
    async claim(scope: string, key: string, fingerprint: string) {
      fingerprints.set(`${scope} ${key}`, fingerprint);
      return kept.get(`${scope} ${key}`);
    },
    async keep(scope: string, key: string, { status, body }: { status: number; body: unknown }) {
      const fingerprint = fingerprints.get(`${scope} ${key}`) ?? '';
      kept.set(`${scope} ${key}`, { fingerprint, status, body: JSON.parse(JSON.stringify(body)) });
    },
  };
}

function fakeAuthenticator(revoked: ReadonlySet<string>): ApiAuthenticator {
  const key = (kind: 'secret' | 'developer', keyId: string, more: readonly ('write' | 'keys:write')[]) => ({
    kind,
    keyId,
    hint: '…test',
    projectId: PROJECT_ID,
    scopes: ['read' as const, ...more],
  });
  const principals = new Map<string, Principal>([
    [SECRET_KEY, key('secret', 'key-1', ['write'])],
    [DEVELOPER_KEY, key('developer', 'key-2', ['write', 'keys:write'])],
    [READ_ONLY_KEY, key('developer', 'key-3', [])],
    [ADMIN_TOKEN, { kind: 'admin' }],
  ]);
  return {
    ...unused<ApiAuthenticator>('authenticator', ['close']),
    authenticateFromCache: (credential) => principals.get(credential),
    authenticate: async (credential) => (revoked.has(credential) ? undefined : principals.get(credential)),
  };
}

async function send(url: string, method: string, path: string, sent: SendOptions = {}): Promise<Answer> {
  const { key = SECRET_KEY, body, headers = {} } = sent;
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
}

/** An object whose methods throw: the test does not expect them to be called. */
function unused<Part extends object>(what: string, names: readonly (keyof Part & string)[]): Part {
  const parts = names.map((name) => [name, () => never(`${what}.${name}`)]);
  return Object.fromEntries(parts) as Part;
}

function never(what: unknown = 'this'): never {
  throw new Error(`${String(what)} is not expected to be used`);
}

function lineStream(lines: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line !== '') lines.push(JSON.parse(line));
      done();
    },
  });
}
