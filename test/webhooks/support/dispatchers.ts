import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest';

import type { AgentConfig, WebhookEventName } from '../../../src/agents/agentConfig.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { uuidV7 } from '../../../src/base/values/ids.ts';
import type { Session } from '../../../src/engine/session/session.ts';
import type { SessionEnding } from '../../../src/engine/session/sessionStore.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from '../../../src/http/client.ts';
import { createWebhookDispatcher, type DispatcherDeps } from '../../../src/webhooks/dispatcher.ts';
import { webhookBodySchema } from '../../../src/webhooks/events.ts';
import { createSigningSecrets } from '../../../src/webhooks/signingSecrets.ts';
import type { Worker } from '../../../src/work/worker.ts';
import { useDatabase } from '../../infra/postgres/support/databases.ts';
import { agent, ENDING, sessionWorld, user } from '../../infra/postgres/support/sessions.ts';
import { serveOnLoopback } from '../../support/loopbackServer.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { CALL } from './memoryOutbox.ts';

export const ALL: readonly WebhookEventName[] = [
  'session.ended',
  'call.ended',
  'recording.ready',
  'session.finalized',
];
export const CHAT: readonly WebhookEventName[] = ['session.ended', 'session.finalized'];
/** Reached on a busy machine only. */
export const PATIENCE = { timeout: 50_000, interval: 5 };
export const ENDED_AT_MS = Date.parse(ENDING.at);
interface Received {
  readonly event: WebhookEventName;
  readonly body: Record<string, unknown>;
  readonly headers: NodeJS.Dict<string | string[]>;
}

/** Dispatchers on one database, for the tests of one `describe`. */
export function useDispatchers() {
  const opened = useDatabase();
  let client: GuardedHttpClient;
  beforeAll(() => {
    client = createGuardedHttpClient({
      policy: { allowInsecureLoopback: true },
      clock: systemClock,
      userAgent: 'test',
    });
  });
  afterAll(() => client.close());
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await opened.database.query('DELETE FROM projects', []);
  });

  /** A project with a webhook receiver, the dependencies of a dispatcher, and a stopped clock. */
  async function scene(
    settings: Partial<AgentConfig> & { events?: WebhookEventName[]; answer?: number; days?: number } = {},
  ) {
    const { events = [...ALL], answer = 204, days = 30, ...config } = settings;
    const received: Received[] = [];
    const server = await serveOnLoopback((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        const body = JSON.parse(text) as Record<string, unknown>;
        received.push({ event: webhookBodySchema.parse(body).event, body, headers: request.headers });
        response.writeHead(answer).end();
      });
    });
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${server.port}/hook`;
    const headers = [{ key: 'X-Token', value: 'shh' }];
    const world = await sessionWorld(opened.database, {
      historyRetentionDays: days,
      config: { ...config, postSessionWebhook: { url, headers, events } },
    });
    const clock = createSimulatedClock(ENDED_AT_MS);
    const { webhookSecrets: store, releases, history } = world.stores;
    const errors: unknown[] = [];
    const busy = createBusyness();
    const deps: DispatcherDeps = {
      outbox: busy.watch(world.outbox),
      releases: busy.watch(releases),
      secrets: busy.watch(createSigningSecrets({ store, clock })),
      updateCost: busy.watch(history).updateCost,
      client: busy.watch(client),
      clock,
      makeId: uuidV7,
      finishMs: 0,
      callReport: async () => CALL,
      onError: (error) => errors.push(error),
    };
    return {
      world,
      clock,
      isBusy: busy.isBusy,
      received,
      errors,
      deps,
      url,
      names: () => received.map(({ event }) => event),
    };
  }
  type Scene = Awaited<ReturnType<typeof scene>>;

  function node({ deps }: Scene, change: Partial<DispatcherDeps> = {}): Worker {
    const dispatcher = createWebhookDispatcher({ ...deps, ...change });
    closers.push(() => dispatcher.close());
    dispatcher.start();
    return dispatcher;
  }
  async function endSession(
    { world }: Scene,
    ending: Partial<SessionEnding> = {},
    change: Partial<Session> = {},
  ): Promise<Session> {
    const session = await world.start(change);
    const state = { ...session.state, variables: { guests: 2 } };
    const next = await world.say({ ...session, state }, [user('hi'), agent('hello', 12)]);
    await world.end(next, { expected: CHAT, subscribed: ALL, ...ending });
    return next;
  }
  const isFinished = async (session: Session) =>
    (await opened.database.query('SELECT 1 FROM webhook_outbox WHERE instance_id = $1', [session.instanceId]))
      .length === 0;
  /** Time stands still, unless a busy database has refused something: it is asked again a second later. */
  const untilFinished = (session: Session, { clock, errors, names }: Scene) =>
    vi.waitFor(
      async () => {
        if (errors.length > 0) clock.advance(20);
        expect(await isFinished(session), `finished; ${names()} were received, errors: ${errors}`).toBe(true);
      },
      { ...PATIENCE, interval: 20 },
    );
  /** Advances the clock by seconds while no node is busy. */
  const untilFinishedOverTime = (session: Session, { clock, isBusy }: Scene) =>
    vi.waitFor(async () => {
      if (!isBusy()) clock.advance(1_000);
      expect(await isFinished(session)).toBe(true);
    }, PATIENCE);
  const pause = (ms = 60) => new Promise((resolve) => setTimeout(resolve, ms));

  return {
    scene,
    node,
    endSession,
    isFinished,
    untilFinished,
    untilFinishedOverTime,
    pause,
    database: () => opened.database,
    client: () => client,
    closers,
  };
}

/** Tells whether a call to any of the watched ports is pending. */
function createBusyness() {
  let running = 0;
  return {
    isBusy: () => running > 0,
    watch: <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          return (...args: unknown[]) => {
            const result: unknown = member.apply(target, args);
            if (!(result instanceof Promise)) return result;
            running += 1;
            return result.finally(() => {
              running -= 1;
            });
          };
        },
      }),
  };
}
