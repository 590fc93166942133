import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';

import { type Cluster, startCluster } from '../../test/e2e/faults/support/cluster.ts';
import { type Carrier, type CarrierOptions, startCarrier } from '../../test/e2e/support/carrier.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';

const POLL_MS = 200;
/** Nodes that are killed, and a database that is restarted, are away for some seconds. */
const RETRIES = 300;
const FROM = '+886223456789';
/** Beside the ports of tests that run at the same time. */
const AUDIO_PORT = 52_000;
const AUDIO_PORTS = 800;
/** A keypad's 9 lists the number, and the agent confirms it and hangs up. */
const PATHWAY = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Answer the person.' } },
    { id: 'list', type: 'tool', data: { title: 'List', tools: ['opt_out'] } },
  ],
  edges: [
    { id: 'nine', source: 'start', target: 'list', data: { condition: { event: 'dtmf', digits: '9' } } },
  ],
};
/** The functions of the database's time, which nodes follow, ahead of the machine's by what `step` has stored. */
const STEPPED_CLOCK = `
  CREATE TABLE public.clock_steps (total interval NOT NULL);
  INSERT INTO public.clock_steps VALUES ('0');
  CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
    'SELECT pg_catalog.clock_timestamp() + (SELECT total FROM public.clock_steps)';
  CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT pg_catalog.now() + (SELECT total FROM public.clock_steps)';
  ALTER DATABASE postgres SET search_path = public, pg_catalog`;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Body = any;

/** Nodes on a Postgres and a Redis of their own, a carrier, and a project with a trunk to it. */
export interface Installation {
  readonly cluster: Cluster;
  readonly carrier: Carrier;
  readonly postgres: Awaited<ReturnType<typeof startPostgres>>;
  /** The database's time in milliseconds since the Unix epoch, as the carrier has it. */
  now(): number;
  /** Sets the database's clock, which must not go back. */
  step(toMs: number): Promise<void>;
  /** Sends a request about the project to a node that answers. @throws When its status is 300 or above. */
  api(method: string, path: string, body?: unknown): Promise<Body>;
  /** Orders a call. */
  order(numbers: { readonly fromNumber: string; readonly toNumber: string }): Promise<void>;
  /** Sends a file of contacts. @returns When it is imported. */
  importCsv(path: string, csv: Blob, mapping: object): Promise<Body>;
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  /** @returns How long the request took, in milliseconds. */
  deleteProject(): Promise<number>;
  /** Loses all that Redis has stored, and Redis itself for some seconds. */
  loseRedis(): Promise<void>;
  /** Restarts Postgres as after a crash. */
  restartPostgres(): Promise<void>;
  close(): Promise<void>;
}

export interface InstallationOptions extends Omit<CarrierOptions, 'now'> {
  readonly nodes: number;
  readonly trunk?: object;
}

export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await start(options, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  { nodes, trunk, ...behaviour }: InstallationOptions,
  closers: (() => unknown)[],
  close: () => Promise<void>,
): Promise<Installation> {
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  const carrier = await startCarrier({ ...behaviour, now });
  closers.push(carrier.close);
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  closers.push(postgres.close, redis.close);
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  pool.on('error', () => undefined);
  closers.push(() => pool.end());
  const sql: Installation['sql'] = async (text, values) =>
    (await retry(() => pool.query(text, values))).rows as never[];
  await sql(STEPPED_CLOCK);
  const cluster = await startCluster({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    nodes: Array.from({ length: nodes }, () => ['api', 'worker', 'voice', 'media'] as const),
    env: { CHAT_PROVIDER: 'local', LOG_LEVEL: 'error' },
    envOfNode: (index) => ({
      RTP_PORT_MIN: String(AUDIO_PORT + index * AUDIO_PORTS),
      RTP_PORT_MAX: String(AUDIO_PORT + (index + 1) * AUDIO_PORTS - 1),
    }),
  });
  closers.push(cluster.close);
  const project = await cluster.client.createProject('Campaigns');
  const send = (method: string, path: string, body?: unknown) =>
    retry(async () => {
      const headers = { authorization: `Bearer ${project.developerKey}` };
      const isForm = body instanceof FormData;
      const response = await firstAnswer(cluster, path, {
        method,
        headers: isForm || body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: isForm ? body : body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      if (response.status >= 500) throw new Error(`${response.status}: ${text}`);
      if (!response.ok) throw new RefusedError(`${method} ${path}: ${response.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    });
  const api: Installation['api'] = (method, path, body) => send(method, project.path + path, body);
  const limits = { maxConcurrentCalls: null, maxCallsPerMinute: null };
  await cluster.client.api('PATCH', project.path, { body: { callLimits: limits } });
  await api('PUT', '/pathway', PATHWAY);
  await api('PATCH', '/agent', { status: 'published' });
  const { id } = await api('POST', '/trunks', {
    ...{
      name: 'Carrier',
      host: '127.0.0.1',
      port: carrier.port,
      codecs: ['PCMU'],
      optionsIntervalSeconds: 0,
    },
    ...{ maxChannels: 200, callsPerSecond: 100, ...trunk },
  });
  await api('POST', '/phone-numbers', { number: FROM, trunkIds: [id] });
  return {
    cluster,
    carrier,
    postgres,
    now,
    api,
    sql,
    close,
    async step(toMs) {
      offsetMs = Math.max(offsetMs, Math.round(toMs - Date.now()));
      await sql(`UPDATE public.clock_steps SET total = $1 * interval '1 ms'`, [offsetMs]);
    },
    order: (numbers) => send('POST', '/v1/calls/outbound', { projectId: project.id, ...numbers }),
    async importCsv(path, csv, mapping) {
      const form = new FormData();
      form.set('mapping', JSON.stringify(mapping));
      form.set('file', csv, 'list.csv');
      const { importId } = await api('POST', path, form);
      return await until(async () => {
        const found = await api('GET', `/contact-imports/${importId}`);
        return found.status === 'running' ? undefined : found;
      });
    },
    async deleteProject() {
      const startMs = performance.now();
      const { status } = await cluster.client.api('DELETE', project.path);
      if (status !== 204) throw new Error(`The deletion was answered ${status}`);
      return performance.now() - startMs;
    },
    async loseRedis() {
      const client = new Redis(redis.url);
      await client.flushall();
      client.disconnect();
      await redis.stop('kill9');
      await sleep(3_000);
      await redis.start();
    },
    async restartPostgres() {
      await postgres.stop('immediate');
      await postgres.start();
    },
  };
}

/** Creates and fills a campaign, and starts it. */
export async function startCampaign(
  { api }: Installation,
  settings: object,
  contacts: readonly object[],
): Promise<string> {
  const { id } = await api('POST', '/campaigns', { name: 'Bench', fromNumbers: [FROM], ...settings });
  for (let from = 0; from < contacts.length; from += 10_000)
    await api('POST', `/campaigns/${id}/contacts`, { contacts: contacts.slice(from, from + 10_000) });
  if (contacts.length > 0) await api('POST', `/campaigns/${id}/start`);
  return id;
}

/** A mobile number of Taiwan for each index below 100,000,000. */
export function numberOf(index: number): string {
  return `+8869${String(10_000_000 + index).padStart(8, '0')}`;
}

/** Polls until there is a result. */
export async function until<Result>(
  find: () => Promise<Result | undefined> | Result | undefined,
  timeoutMs = 3_600_000,
): Promise<Result> {
  const giveUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > giveUpAtMs) throw new Error(`nothing within ${timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}

/** The answer is a refusal, which a repetition does not change. */
class RefusedError extends Error {}

async function retry<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = RETRIES; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || error instanceof RefusedError) throw error;
      await sleep(POLL_MS);
    }
  }
}

async function firstAnswer({ nodes }: Cluster, path: string, request: RequestInit): Promise<Response> {
  let failure: unknown;
  for (const { url } of nodes) {
    try {
      return await fetch(url + path, request);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
