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
import type { Sealer } from '../../src/base/sealer.ts';
import type { CallStore } from '../../src/calls/callStore.ts';
import type { RecordingStore } from '../../src/calls/recording/recordingStore.ts';
import type { RecordingUrls } from '../../src/calls/recording/recordingUrls.ts';
import type { CallControl } from '../../src/calls/runner/callControl.ts';
import type { HistoryStore } from '../../src/engine/history/historyStore.ts';
import type { SessionStore } from '../../src/engine/session/sessionStore.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { InsightStore } from '../../src/results/insights/insightStore.ts';
import type { WebhookAdmin } from '../../src/webhooks/webhookAdmin.ts';
import { createFakeEngine, type FakeEngine } from './fakeEngine.ts';
import { httpDeps } from './httpDeps.ts';
import { type MemoryEvents, memoryEvents } from './memoryEvents.ts';
import { createSimulatedClock, type SimulatedClock } from './simulatedClock.ts';
import { unused } from './unused.ts';

export const PROJECT_ID = '019ceb00-1d2e-7f00-8a4b-5c6d7e8f9a0b';
export const SECRET_KEY = 'sk_test';
export const DEVELOPER_KEY = 'dk_test';
export const READ_ONLY_KEY = 'dk_reader';
export const ADMIN_TOKEN = 'admin_test';

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
  readonly hangUpAndWait?: CallControl['hangUpAndWait'];
  readonly recordings?: HttpDeps['audio']['recordings'];
  readonly mediaStreams?: HttpDeps['audio']['mediaStreams'];
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
  const stores = unused<Stores>('stores', {
    ...memoryStores(project, audit, legacyUses),
    sessions: unused<SessionStore>('sessions', {
      insert: async (session) => conversations.insert(session),
      ...options.sessions,
    }),
    history: unused<HistoryStore>('history', { analyses: async () => new Map(), ...options.history }),
    calls: unused<CallStore>('calls', {
      find: async () => undefined,
      turnLatencies: async () => new Map(),
      ...options.calls,
    }),
  });
  const { hangUpAndWait, mediaStreams } = options;
  const recordings = options.recordings ?? {
    store: unused<RecordingStore>('recordingStore'),
    urls: unused<RecordingUrls>('recordingUrls', { sign: (key) => `https://callway.test/${key}` }),
  };
  const deps = httpDeps(
    {
      storage: { stores, insights: unused<InsightStore>('insights'), transaction: (work) => work(stores) },
      sealer: unused<Sealer>('sealer', { seal: (secret) => `sealed ${secret}` }),
      authenticator: fakeAuthenticator(revoked),
      clock,
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
      webhookAdmin: unused<WebhookAdmin>('webhooks', options.webhookAdmin),
      calls: unused<HttpDeps['calls']>('calls', {
        control: unused<CallControl>('callControl', { hangUpAndWait }),
      }),
      recordings,
      mediaStreams,
    },
    {
      modelNames: ['scripted-model', 'vendor/large'],
      publicUrl: () => 'http://callway.test',
      corsOrigins: ['https://app.example'],
      isDraining: () => draining.signal.aborted,
      draining: draining.signal,
    },
  );
  const app = await createServer(deps);
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
    callingHours: null,
    reviewRules: [],
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
  });
  return {
    projects: unused<Stores['projects']>('projects', {
      find: async (id: string) => (id === PROJECT_ID ? project() : undefined),
    }),
    audit: unused<Stores['audit']>('audit', { append: async (entry) => void audit.push(entry) }),
    idempotency: keptAnswers(kept),
    legacyUsage: unused<Stores['legacyUsage']>('usage', { add: async (batch) => void uses.push(...batch) }),
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
  return unused<ApiAuthenticator>('authenticator', {
    authenticateFromCache: (credential) => principals.get(credential),
    authenticate: async (credential) => (revoked.has(credential) ? undefined : principals.get(credential)),
  });
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

function lineStream(lines: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line !== '') lines.push(JSON.parse(line));
      done();
    },
  });
}
