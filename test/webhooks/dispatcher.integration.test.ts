import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

import type { AgentConfig, WebhookEventName } from '../../src/agents/agentConfig.ts';
import { systemClock } from '../../src/base/clock.ts';
import { uuidV7 } from '../../src/base/ids.ts';
import { table } from '../../src/cli/table.ts';
import type { Session } from '../../src/engine/session/session.ts';
import type { SessionEnding } from '../../src/engine/session/sessionStore.ts';
import { createGuardedHttpClient, type GuardedHttpClient } from '../../src/infra/httpClient/client.ts';
import {
  createWebhookDispatcher,
  type DispatcherDeps,
  type WebhookDispatcher,
} from '../../src/webhooks/dispatcher.ts';
import type { CallReport } from '../../src/webhooks/eventBody.ts';
import { webhookBodySchema } from '../../src/webhooks/events.ts';
import { createSigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { report } from '../e2e/faults/support/table.ts';
import { databases, migrated, type OpenDatabase } from '../infra/postgres/support/databases.ts';
import { agent, ENDING, later, sessionWorld, user } from '../infra/postgres/support/sessions.ts';
import { serveOnLoopback } from '../support/loopbackServer.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const ALL: readonly WebhookEventName[] = [
  'session.ended',
  'call.ended',
  'recording.ready',
  'session.finalized',
];
const CHAT: readonly WebhookEventName[] = ['session.ended', 'session.finalized'];
/** What is waited for comes at once, but on a busy machine. */
const PATIENCE = { timeout: 30_000, interval: 5 };
const ENDED_AT_MS = Date.parse(ENDING.at);
const CALL: CallReport = {
  call: {
    callId: 'c',
    direction: 'outbound',
    fromNumber: '+886223456789',
    toNumber: '+886912345678',
    status: 'completed',
    durationMs: 42_000,
    sip: { code: 200, reason: 'OK' },
  },
  recording: { status: 'ready', durationMs: 41_900 },
  recordingUrl: 'https://callway.example/r?signature=1',
};

interface Received {
  readonly event: WebhookEventName;
  readonly body: Record<string, unknown>;
  readonly headers: NodeJS.Dict<string | string[]>;
}

describe.each(databases)('the dispatcher on the $name database', ({ name: databaseName, open }) => {
  let opened: OpenDatabase;
  let client: GuardedHttpClient;
  beforeAll(async () => {
    opened = await migrated(open);
    client = createGuardedHttpClient({
      policy: { allowInsecureLoopback: true },
      clock: systemClock,
      userAgent: 'test',
    });
  });
  afterAll(async () => {
    await client.close();
    await opened.close();
  });
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await opened.database.query('DELETE FROM projects', []);
  });

  /** A project whose webhook is a server of its own, one node's parts, and time that stands still. */
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
    const { webhookSecrets: store, releases } = world.stores;
    const errors: unknown[] = [];
    const busy = createBusyness();
    const deps: DispatcherDeps = {
      outbox: busy.watch(world.outbox),
      releases: busy.watch(releases),
      secrets: busy.watch(createSigningSecrets({ store, clock })),
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

  function node({ deps }: Scene, change: Partial<DispatcherDeps> = {}): WebhookDispatcher {
    const dispatcher = createWebhookDispatcher({ ...deps, ...change });
    closers.push(() => dispatcher.close());
    dispatcher.start();
    return dispatcher;
  }
  async function talkAndEnd(
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
  const call = { channel: 'phone' as const, callId: 'c' };
  const isFinished = async (session: Session) =>
    (await opened.database.query('SELECT 1 FROM webhook_outbox WHERE instance_id = $1', [session.instanceId]))
      .length === 0;
  const untilFinished = (session: Session) =>
    vi.waitFor(async () => expect(await isFinished(session)).toBe(true), PATIENCE);
  /** Lets time go by, second by second, so that whatever is left comes due; while a node is at work time stands. */
  const untilFinishedOverTime = (session: Session, { clock, isBusy }: Scene) =>
    vi.waitFor(async () => {
      if (!isBusy()) clock.advance(1_000);
      expect(await isFinished(session)).toBe(true);
    }, PATIENCE);
  const pause = (ms = 60) => new Promise((resolve) => setTimeout(resolve, ms));

  test('sends a chat’s two events, signed, and leaves a record of both', async () => {
    const here = await scene();
    const session = await talkAndEnd(here);
    node(here);
    await untilFinished(session);

    expect(here.names()).toEqual(CHAT);
    const [ended, finalized] = here.received;
    expect(ended?.body).toEqual({
      event: 'session.ended',
      sessionId: session.sessionId,
      projectId: session.projectId,
      channel: 'chat',
      occurredAt: ENDING.at,
      deliveryId: ended?.headers['webhook-id'],
    });
    expect(finalized?.body).toMatchObject({
      status: 'ended',
      endReason: 'api_end',
      durationMs: 60_000,
      variables: { guests: 2 },
      messages: [user('hi'), agent('hello', 12)],
    });
    expect(ended?.headers).toMatchObject({
      'x-token': 'shh',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    const { items } = await here.world.stores.webhookDeliveries.list(session.projectId, {}, PAGE);
    expect(items.map(({ event, status, error, attempt }) => ({ event, status, error, attempt }))).toEqual(
      expect.arrayContaining(CHAT.map((event) => ({ event, status: 204, error: null, attempt: 1 }))),
    );
    expect(items.every(({ body, sessionId }) => body && sessionId === session.sessionId)).toBe(true);
    expect(JSON.stringify(items)).not.toContain('shh');
    const history = await here.world.stores.history.find(session.projectId, session.sessionId);
    expect(
      history?.events.filter(({ type }) => type === 'webhook_sent').map(({ data }) => data.event),
    ).toEqual(CHAT);
  });

  test('a receiver’s refusal is recorded, not repeated, and holds up nothing', async () => {
    const here = await scene({ answer: 500 });
    const session = await talkAndEnd(here);
    node(here);
    await untilFinished(session);
    expect(here.names()).toEqual(CHAT);
    const { items } = await here.world.stores.webhookDeliveries.list(
      session.projectId,
      { event: 'session.ended' },
      PAGE,
    );
    expect(items).toMatchObject([{ status: 500, error: { code: 'unexpected_status' } }]);
  });

  test('sends a call’s four events in order, whatever the order of their facts', async () => {
    const here = await scene();
    const session = await here.world.start(call);
    await here.world.outbox.recordFact(session.instanceId, 'recording.ready', new Date(ENDED_AT_MS - 5));
    await here.world.end(session, { expected: ALL, subscribed: ALL });
    const dispatcher = node(here);
    await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(ENDED_AT_MS + 7));
    here.clock.advance(10);
    dispatcher.wake();
    await untilFinished(session);
    expect(here.names()).toEqual(ALL);
    expect(here.received.map(({ body }) => body.occurredAt)).toEqual([
      ENDING.at,
      later(60_007),
      later(59_995),
      later(60_010),
    ]);
    expect(here.received[3]?.body).toMatchObject({ ...CALL, status: 'completed' });
  });

  test('does not wait for a fact beyond the backstop, and sends nothing after session.finalized', async () => {
    const here = await scene();
    const session = await here.world.start(call);
    await here.world.end(session, { expected: ALL, subscribed: ALL });
    const dispatcher = node(here);
    await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
    here.clock.advance(Date.parse(ENDING.finalizeBy) - ENDED_AT_MS - 1);
    await pause();
    expect(here.names()).toEqual(['session.ended']);
    await untilFinishedOverTime(session, here);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(here.clock.now()));
    dispatcher.wake();
    await pause();
    expect(here.names()).toEqual(CHAT);
  });

  test('a project with a slow receiver leaves the node to the others', async () => {
    const slow = await scene();
    const quick = await scene();
    const waiting: (() => void)[] = [];
    const isSlow = (url: string) => url === slow.url;
    const request: GuardedHttpClient['request'] = async (what) => {
      if (isSlow(what.url)) await new Promise<void>((resolve) => waiting.push(resolve));
      return await client.request(what);
    };
    const many = await Promise.all(Array.from({ length: 15 }, () => talkAndEnd(slow)));
    const one = await talkAndEnd(quick, { at: later(60_001) });
    slow.clock.advance(10);
    const dispatcher = node(slow, { client: { request } });
    await untilFinished(one);
    expect(quick.names()).toEqual(CHAT);
    expect(waiting).toHaveLength(10);
    expect(slow.names()).toEqual([]);

    // Each that is done makes room for one that waits, without anybody's waking the dispatcher.
    const answering = setInterval(() => {
      for (const answer of waiting.splice(0)) answer();
    }, 5);
    closers.push(async () => clearInterval(answering));
    for (const session of many) await untilFinished(session);
    expect(slow.names()).toHaveLength(2 * many.length);
    await dispatcher.close();
  });

  test.each([
    ['only what is subscribed to', ['session.finalized'], ['session.finalized']],
    ['the default', ['session.ended'], ['session.ended']],
    ['nothing', [], []],
  ] as const)('sends %s, and finishes', async (_what, subscribed, expected) => {
    const here = await scene();
    const session = await talkAndEnd(here, { subscribed });
    node(here);
    await untilFinished(session);
    expect(here.names()).toEqual(expected);
  });

  test('a call whose report is gone costs its event only', async () => {
    const here = await scene();
    const session = await here.world.start(call);
    await here.world.outbox.recordFact(session.instanceId, 'call.ended', new Date(ENDED_AT_MS));
    await here.world.end(session, {
      expected: ['session.ended', 'call.ended', 'session.finalized'],
      subscribed: ALL,
    });
    node(here, { callReport: async () => undefined });
    await untilFinished(session);
    expect(here.names()).toEqual(CHAT);
    const { items } = await here.world.stores.webhookDeliveries.list(
      session.projectId,
      { event: 'call.ended' },
      PAGE,
    );
    expect(items).toMatchObject([{ status: null, error: { code: 'webhook_body_invalid' }, body: null }]);
  });

  test('a project that keeps nothing has its transcript sent, and then nothing of it anywhere', async () => {
    const here = await scene({ days: 0 });
    const session = await talkAndEnd(here);
    node(here);
    await untilFinished(session);
    expect(here.received[1]?.body.messages).toHaveLength(2);
    const left = await opened.database.query(
      'SELECT 1 FROM session_history UNION ALL SELECT 1 FROM session_messages',
      [],
    );
    expect(left).toEqual([]);
    const { items } = await here.world.stores.webhookDeliveries.list(session.projectId, {}, PAGE);
    expect(items.map(({ body }) => body)).toEqual([null, null]);
  });

  describe('what needs a model', () => {
    const criteria = [{ name: 'polite', description: 'x' }];
    const evaluation = { criteria: [{ name: 'polite', passed: true, reason: 'was' }] };

    test('session.ended goes at once, session.finalized with the evaluation', async () => {
      const here = await scene({ postEvaluationConfig: { criteria }, memoryEnabled: true });
      const session = await talkAndEnd(here, { evaluating: true });
      let judge: (evaluation: unknown) => void = () => undefined;
      const remembered: unknown[] = [];
      node(here, {
        evaluate: ({ messages, variables }) => {
          expect({ messages: messages.length, variables }).toEqual({ messages: 2, variables: { guests: 2 } });
          return new Promise((resolve) => {
            judge = resolve;
          });
        },
        remember: async ({ projectId }) => {
          remembered.push(projectId);
        },
      });
      await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
      await pause();
      expect(here.names()).toEqual(['session.ended']);
      judge(evaluation);
      await untilFinished(session);
      expect(here.received[1]?.body.evaluation).toEqual(evaluation);
      expect(remembered).toEqual([session.projectId]);
      expect(
        (await here.world.stores.history.find(session.projectId, session.sessionId))?.evaluation,
      ).toEqual(evaluation);
    });

    test.each([
      ['fails', () => Promise.reject(new Error('no model'))],
      ['never ends', () => new Promise(() => undefined)],
    ])('an evaluation that %s is done without', async (_what, evaluate) => {
      const here = await scene({ postEvaluationConfig: { criteria } });
      const session = await talkAndEnd(here, { evaluating: true });
      node(here, { evaluate });
      await vi.waitFor(() => expect(here.names()[0]).toBe('session.ended'), PATIENCE);
      await untilFinishedOverTime(session, here);
      expect(here.names()).toEqual(CHAT);
      expect(here.received[1]?.body).not.toHaveProperty('evaluation');
      expect(here.errors).toHaveLength(1);
    });

    test('another node begins it anew when the first one dies over it', async () => {
      const here = await scene({ postEvaluationConfig: { criteria } });
      const session = await talkAndEnd(here, { evaluating: true, finalizeBy: later(600_000) });
      const first = node(here, { evaluate: () => new Promise(() => undefined) });
      await vi.waitFor(() => expect(here.names()).toEqual(['session.ended']), PATIENCE);
      await first.close();
      node(here, { evaluate: async () => evaluation });
      await untilFinishedOverTime(session, here);
      expect(here.received[1]?.body.evaluation).toEqual(evaluation);
      expect(here.clock.now()).toBeLessThan(Date.parse(later(600_000)));
    });
  });

  test('many nodes together send each of many sessions’ events once', async () => {
    const here = await scene();
    const sessions = await Promise.all(Array.from({ length: 12 }, () => talkAndEnd(here)));
    const nodes = [node(here), node(here), node(here)];
    for (const each of nodes) each.wake();
    // Nodes that look at one moment hold rows before one another: what none of them got is found at the next look.
    await vi.waitFor(async () => {
      here.clock.advance(10);
      expect(await Promise.all(sessions.map(isFinished))).not.toContain(false);
    }, PATIENCE);
    for (const { sessionId } of sessions) {
      const events = here.received
        .filter(({ body }) => body.sessionId === sessionId)
        .map(({ event }) => event);
      expect(events).toEqual(CHAT);
    }
  });

  describe('a node that stops', () => {
    test('sends first what is due of what has ended', async () => {
      const here = await scene();
      const session = await talkAndEnd(here, { subscribed: CHAT });
      await createWebhookDispatcher({ ...here.deps, finishMs: 5_000 }).close();
      expect(here.names()).toEqual(CHAT);
      expect(await isFinished(session)).toBe(true);
    });

    test('leaves the rest to another at once', async () => {
      const here = await scene();
      const session = await talkAndEnd(here, { subscribed: CHAT });
      let stopped: Promise<void> | undefined;
      const first = node(here, {
        onSent: () => {
          stopped = first.close();
        },
      });
      await vi.waitFor(() => expect(stopped).toBeDefined(), PATIENCE);
      await stopped;
      expect(here.names()).toEqual(['session.ended']);
      node(here);
      await untilFinished(session);
      expect(here.names()).toEqual(CHAT);
    });
  });

  test('a wake at whatever moment is followed by a look', async () => {
    const here = await scene();
    for (let ticks = 0; ticks < 20; ticks += 1) {
      let looks = 0;
      const claimDue = async () => {
        looks += 1;
        return [];
      };
      const dispatcher = createWebhookDispatcher({ ...here.deps, outbox: { ...here.deps.outbox, claimDue } });
      dispatcher.wake();
      for (let tick = 0; tick < ticks; tick += 1) await undefined;
      const before = looks;
      dispatcher.wake();
      await new Promise((resolve) => setImmediate(resolve));
      expect([ticks, looks]).toEqual([ticks, before + 1]);
      await dispatcher.close();
    }
  });

  describe('a node that dies', () => {
    /** What a node does on its ports, in order, when it lives. */
    async function stepsOfOneLife(): Promise<string[]> {
      const here = await scene();
      const session = await talkAndEnd(here, { subscribed: CHAT });
      const mortal = mortalDeps(here.deps, undefined);
      const dispatcher = node(here, mortal.deps);
      await untilFinished(session);
      await dispatcher.close();
      return mortal.steps.slice(0, mortal.steps.lastIndexOf('advance') + 1);
    }

    test('is followed by one that goes on at the same step: nothing twice but as promised, nothing lost', async () => {
      const steps = await stepsOfOneLife();
      // The last byte is written in the tick in which the commit is answered, which is no step of its own.
      const leaveForFinal = steps.lastIndexOf('request') + 1;
      expect(steps.slice(leaveForFinal, leaveForFinal + 2)).toEqual(['advance', 'advance']);
      expect(steps.filter((step) => step === 'request')).toHaveLength(2);
      const deaths: Death[] = [];
      for (const [step, name] of steps.entries()) {
        for (const moment of ['before', 'after'] as const) {
          const here = await scene();
          const session = await talkAndEnd(here, { subscribed: CHAT });
          const mortal = mortalDeps(here.deps, { step, moment });
          const first = node(here, mortal.deps);
          await vi.waitFor(() => expect(mortal.isDead()).toBe(true), PATIENCE);
          await first.close();
          node(here);
          await untilFinishedOverTime(session, here);

          // Between the commit of its leave and its last byte nobody can tell whether that was sent: at most once means
          // not again.
          const isInWindow = step === leaveForFinal && moment === 'after';
          const what = `death ${moment} step ${step} (${name})`;
          const names = here.names();
          deaths.push({ moment, step: step + 1, name, names, isInWindow });
          expect([what, names.filter((event) => event === 'session.finalized').length]).toEqual([
            what,
            isInWindow ? 0 : 1,
          ]);
          const ended = names.filter((event) => event === 'session.ended').length;
          expect([what, ended >= 1 && ended <= 2]).toEqual([what, true]);
          expect([what, names.slice(0, ended)]).toEqual([what, Array(ended).fill('session.ended')]);
          const ids = new Set(here.received.slice(0, ended).map(({ headers }) => headers['webhook-id']));
          expect([what, ids.size]).toEqual([what, 1]);
        }
      }
      reportDeaths(databaseName, deaths);
    }, 300_000);
  });
});

const PAGE = { limit: 50, offset: 0 };

/** A node's death at one step of the gate, and what the receiver got of both lives together. */
interface Death {
  readonly moment: 'before' | 'after';
  /** Counted from one. */
  readonly step: number;
  readonly name: string;
  readonly names: readonly WebhookEventName[];
  readonly isInWindow: boolean;
}

/** Prints every death; `npm run faults` has one line of all. */
function reportDeaths(database: string, deaths: readonly Death[]): void {
  const rows = deaths.map(({ moment, step, name, names, isInWindow }) => [
    `${moment} step ${step}, ${name}`,
    names.join(', '),
    isInWindow ? 'committed, and not answered: nobody can tell whether it was sent, so not again' : '',
  ]);
  console.log(table([['killed', `what the receiver got, ${database} database`, ''], ...rows]));
  const lost = deaths.filter(({ isInWindow }) => isInWindow).length;
  const twice = deaths.filter(({ names }) => names[1] === 'session.ended').length;
  report({
    what: `A node dies at each step of the webhook gate, ${database} database`,
    done: `killed before and after each of ${deaths.length / 2} steps, and another goes on`,
    seen: `session.finalized once in ${deaths.length - lost} of ${deaths.length}, and never twice; not at all in the ${lost} between the commit of its leave and the database’s answer; session.ended always, twice under one id in ${twice}`,
  });
}

/** Knows whether any of the ports that it watches is waited for. */
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

/** Ports that fail from one step on, before or after that step was done, as they do to a process that is killed. */
function mortalDeps(deps: DispatcherDeps, death: { step: number; moment: 'before' | 'after' } | undefined) {
  const steps: string[] = [];
  let dead = false;
  const mortal =
    <Args extends unknown[], Result>(name: string, work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (dead) throw new Error('dead');
      const isLast = death?.step === steps.length;
      steps.push(name);
      if (!isLast) return await work(...args);
      dead = true;
      if (death?.moment === 'after') await work(...args);
      throw new Error('dies');
    };
  const { outbox, client } = deps;
  return {
    steps,
    isDead: () => dead,
    deps: {
      outbox: {
        ...outbox,
        claimDue: mortal('claimDue', outbox.claimDue),
        advance: mortal('advance', outbox.advance) as typeof outbox.advance,
        session: mortal('session', outbox.session),
      },
      client: { request: mortal('request', client.request) },
    } satisfies Partial<DispatcherDeps>,
  };
}
