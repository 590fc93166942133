import { afterAll, beforeAll, expect, vi } from 'vitest';

import { type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { type RedisServer, startRedis } from '../../../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../../../support/tcpProxy.ts';
import { type Line, makeLine, type Placed, SLOW } from '../../phone/support/line.ts';
import { ALL_EVENTS, receiveWebhooks, type WebhookReceiver } from '../../phone/support/webhooks.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { longestSilenceMs, type People, type Seen, startPeople, TALKATIVE, wordsSince } from './people.ts';

const START_TIMEOUT_MS = 180_000;
/** From one key to the next, on a machine that does other things too. */
const LONGEST_TURN_MS = 8_000;

/** A call to somebody who presses a key whenever the agent has spoken. */
export interface Talk extends Placed {
  /** Whose phone it is. */
  readonly number: string;
  readonly keys: number;
}

/** An installation that a test may break: nodes, their servers, a line of a project, and people to call. */
export interface Rig {
  readonly cluster: Cluster;
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** Between the nodes and Postgres. */
  readonly wire: TcpProxy;
  readonly people: People;
  readonly webhooks: WebhookReceiver;
  readonly line: Line;
  /** Places so many calls, and waits until each of them talks. */
  talks(calls: number, keys: number): Promise<Talk[]>;
  /** Waits until the agent has spoken so often since then, in each of these. */
  heard(talks: readonly Talk[], sinceMs: number, times: number): Promise<void>;
  /**
   * Waits for the end of these, each hung up by the person who had pressed all keys, and for their events.
   *
   * @returns The longest that the agent was silent in any, in ms.
   */
  completed(talks: readonly Talk[]): Promise<number>;
}

export interface RigOptions extends Pick<ClusterOptions, 'nodes' | 'env' | 'mediaEnv'> {
  readonly pathway?: object;
  /** Asked once the servers are there. */
  readonly moreEnv?: () => Promise<Readonly<Record<string, string>>>;
}

/** One for all tests of a file. */
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
    if (!rig) throw new Error('the installation is there only while tests run');
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
  const wire = await startTcpProxy({ host: '127.0.0.1', port: postgres.socket.port });
  closers.push(() => wire.close());
  const database = new URL(postgres.url);
  database.port = String(wire.port);
  const cluster = await startCluster({
    ...options,
    env: { ...options.env, ...(await options.moreEnv?.()) },
    databaseUrl: database.href,
    redisUrl: redis.url,
  });
  closers.push(() => cluster.close());
  const trunk = { port: people.carrier.sipPort, callsPerSecond: 50, maxChannels: 50 };
  // Nodes that have just started all at once, on few cores, may not have heard of the database for seconds: 503.
  const line = await vi.waitFor(
    () =>
      makeLine(cluster.client, webhooks, {
        trunks: [{ ...trunk, inboundCidrs: ['127.0.0.1/32'] }],
        number: { inboundEnabled: true },
        pathway: options.pathway ?? TALKATIVE,
      }),
    { ...SLOW, interval: 1000 },
  );

  const heard: Rig['heard'] = (talks, sinceMs, times) =>
    vi.waitFor(() => {
      for (const { number } of talks)
        expect(wordsSince(people.seen(number), sinceMs)).toBeGreaterThanOrEqual(times);
    }, SLOW);
  return {
    cluster,
    redis,
    postgres,
    wire,
    people,
    webhooks,
    line,
    heard,
    async talks(calls, keys) {
      const talks = await Promise.all(
        Array.from({ length: calls }, async () => {
          const number = people.answering(keys);
          return { number, keys, ...(await line.call({ toNumber: number })) };
        }),
      );
      await heard(talks, 0, 1);
      return talks;
    },
    async completed(talks) {
      for (const talk of talks) await expectWhole(line, talk, people.seen(talk.number));
      return Math.max(...talks.map(({ number }) => longestSilenceMs(people.seen(number))));
    },
  };
}

/**
 * The call ended as its person wanted, told each event once and in order, and nothing that was said is missing.
 *
 * @param seen - What the person saw of it, for whoever has to find out what went wrong.
 */
export async function expectWhole(line: Line, talk: Talk, seen: readonly Seen[]): Promise<void> {
  const over = await line.over(talk, SLOW.timeout + talk.keys * LONGEST_TURN_MS);
  expect(over).toMatchObject({ status: 'completed', endReason: 'caller_hangup' });
  expect(await line.finalized(talk)).toEqual(ALL_EVENTS);
  const { messages } = (await line.api('GET', `/session-history/${talk.sessionId}`)).body as {
    messages: { role: string }[];
  };
  const answers = Array.from({ length: talk.keys }, () => ['user', 'assistant']).flat();
  const told = `${talk.sessionId}: ${JSON.stringify(messages)}, seen ${JSON.stringify(seen.map(({ event }) => event))}`;
  expect(
    messages.map(({ role }) => role),
    told,
  ).toEqual(['assistant', ...answers]);
}
