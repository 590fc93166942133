import { afterAll, beforeAll, expect, vi } from 'vitest';

import { type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { type RedisServer, startRedis } from '../../../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../../support/tcpProxy.ts';
import { type Line, makeLine, type PlacedCall, SLOW } from '../../phone/support/line.ts';
import { ALL_EVENTS, receiveWebhooks, type WebhookReceiver } from '../../phone/support/webhooks.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import {
  answersSince,
  longestSilenceMs,
  type People,
  REPLIES_TO_DIGITS,
  type Seen,
  startPeople,
} from './people.ts';

const START_TIMEOUT_MS = 180_000;
/** Time between two digits, on a busy machine. */
const LONGEST_TURN_MS = 8_000;

/** A call to a person who presses a digit after each answer. */
export interface RunningCall extends PlacedCall {
  /** The person who answers. */
  readonly number: string;
  readonly digitCount: number;
}

/** An installation that a test may break: nodes, their servers, a project with a line, and people to call. */
export interface Rig {
  readonly cluster: Cluster;
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** The proxy between the nodes and Postgres. */
  readonly databaseProxy: TcpProxy;
  readonly people: People;
  readonly webhooks: WebhookReceiver;
  readonly line: Line;
  /** Places this many calls, and waits until the agent speaks in each. */
  startCalls(count: number, digitCount: number): Promise<RunningCall[]>;
  /** Waits until the agent has answered this often in each of the calls since then. */
  waitForAnswers(calls: readonly RunningCall[], sinceMs: number, times: number): Promise<void>;
  /**
   * Waits until every person has hung up and all events have arrived.
   *
   * @returns The agent's longest silence in any call, in ms.
   */
  waitForCompletion(calls: readonly RunningCall[]): Promise<number>;
}

export interface RigOptions extends Pick<ClusterOptions, 'nodes' | 'env' | 'envOfNode' | 'mediaEnv'> {
  readonly pathway?: object;
  /** Read when the servers run. */
  readonly moreEnv?: () => Promise<Readonly<Record<string, string>>>;
}

/** One installation for all tests of a file. */
export function sharedRig(options: RigOptions): () => Rig {
  const closers: (() => unknown)[] = [];
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await startRig(options, closers);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });
  return () => {
    if (!rig) throw new Error('the installation runs only during tests');
    return rig;
  };
}

async function startRig(options: RigOptions, closers: (() => unknown)[]): Promise<Rig> {
  const [postgres, redis, people, webhooks] = await Promise.all([
    startPostgres(),
    startRedis(),
    startPeople(),
    receiveWebhooks(),
  ]);
  closers.push(
    () => postgres.close(),
    () => redis.close(),
    () => people.close(),
    () => webhooks.close(),
  );
  const databaseProxy = await startTcpProxy({ host: '127.0.0.1', port: postgres.socket.port });
  closers.push(() => databaseProxy.close());
  const database = new URL(postgres.url);
  database.port = String(databaseProxy.port);
  const cluster = await startCluster({
    ...options,
    env: { ...options.env, ...(await options.moreEnv?.()) },
    databaseUrl: database.href,
    redisUrl: redis.url,
  });
  closers.push(() => cluster.close());
  const trunk = { port: people.carrier.sipPort, callsPerSecond: 50, maxChannels: 50 };
  // Nodes that start together on few cores may answer 503 until they have reached the database.
  const line = await vi.waitFor(
    () =>
      makeLine(cluster.client, webhooks, {
        trunks: [{ ...trunk, inboundCidrs: ['127.0.0.1/32'] }],
        number: { inboundEnabled: true },
        pathway: options.pathway ?? REPLIES_TO_DIGITS,
      }),
    { ...SLOW, interval: 1000 },
  );

  const waitForAnswers: Rig['waitForAnswers'] = (calls, sinceMs, times) =>
    vi.waitFor(() => {
      for (const { number } of calls)
        expect(answersSince(people.seen(number), sinceMs)).toBeGreaterThanOrEqual(times);
    }, SLOW);
  return {
    cluster,
    redis,
    postgres,
    databaseProxy,
    people,
    webhooks,
    line,
    waitForAnswers,
    async startCalls(count, digitCount) {
      const calls = await Promise.all(
        Array.from({ length: count }, async () => {
          const number = people.answering(digitCount);
          return { number, digitCount, ...(await line.call({ toNumber: number })) };
        }),
      );
      await waitForAnswers(calls, 0, 1);
      return calls;
    },
    async waitForCompletion(calls) {
      for (const call of calls) await expectComplete(line, call, people.seen(call.number));
      return Math.max(...calls.map(({ number }) => longestSilenceMs(people.seen(number))));
    },
  };
}

/**
 * The call ended as its person wanted, sent each event once and in order, and its history is complete.
 *
 * @param seen - What the person observed, for the failure message.
 */
export async function expectComplete(line: Line, call: RunningCall, seen: readonly Seen[]): Promise<void> {
  const ended = await line.waitForEnd(call, SLOW.timeout + call.digitCount * LONGEST_TURN_MS);
  expect(ended).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
  expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  const { messages } = (await line.api('GET', `/session-history/${call.sessionId}`)).body as {
    messages: { role: string }[];
  };
  const answers = Array.from({ length: call.digitCount }, () => ['user', 'assistant']).flat();
  const details = `${call.sessionId}: ${JSON.stringify(messages)}, seen ${JSON.stringify(seen.map(({ event }) => event))}`;
  expect(
    messages.map(({ role }) => role),
    details,
  ).toEqual(['assistant', ...answers]);
}
