import { describe, expect, test } from 'vitest';
import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentRelease } from '../../src/agents/releases/release.ts';
import { CallwayError } from '../../src/base/errors.ts';
import type { Evaluation, SessionResults } from '../../src/engine/history/sessionResults.ts';
import type { ReleaseStore } from '../../src/engine/session/releases.ts';
import type { GuardedHttpClient, GuardedRequest } from '../../src/http/client.ts';
import { createWebhookDispatcher, type DispatcherDeps } from '../../src/webhooks/dispatcher.ts';
import type { Outbox } from '../../src/webhooks/outboxStore.ts';
import type { SigningSecrets } from '../../src/webhooks/signingSecrets.ts';
import { makeSigningSecret } from '../../src/webhooks/signingSecrets.ts';
import type { Worker } from '../../src/work/worker.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';
import { ENDED_AT_MS, memoryOutbox, SESSION } from './support/memoryOutbox.ts';

const CHAT = ['session.ended', 'session.finalized'];
const EVALUATION: Evaluation = { criteria: [{ name: 'polite', passed: true, reason: 'was' }] };
const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
async function settle() {
  for (let n = 0; n < 4; n++) await tick();
}

/** An ended chat whose agent has an evaluation, a receiver of its webhooks, and nodes on one clock. */
function scene(outbox: Partial<Outbox> = {}) {
  const clock = createSimulatedClock(ENDED_AT_MS);
  const memory = memoryOutbox({
    outbox,
    session: { messages: [{ role: 'user', content: 'hi', at: SESSION.startedAt, internal: true }] },
  });
  const release: AgentRelease = {
    agent: {
      ...newAgentConfig('Test'),
      postSessionWebhook: { url: 'https://receiver.example/hook', headers: [], events: [] },
      postEvaluationConfig: { criteria: [] },
    },
    pathwayId: 'p',
    pathwayVersion: 1,
    pathway: { nodes: [], edges: [] },
    tools: [],
  };
  const received: { event: string; evaluation?: unknown; messages?: unknown }[] = [];
  const receiver = { answers: Promise.resolve() };
  /** Fails each step of the outbox while it has one. */
  const database = { error: undefined as Error | undefined };
  const errors: string[] = [];
  let judge: (results: SessionResults) => void = () => undefined;
  const deps: DispatcherDeps = {
    outbox: {
      ...memory.outbox,
      // Slower than the end of the tasks, whose step makes the outbox due later.
      async claimDue(...claim) {
        await tick();
        return await memory.outbox.claimDue(...claim);
      },
      async advance(...step) {
        if (database.error) throw database.error;
        return await memory.outbox.advance(...step);
      },
    },
    releases: unused<ReleaseStore>('releases', { find: async () => release }),
    updateCost: async () => undefined,
    secrets: unused<SigningSecrets>('secrets', { signing: async () => [makeSigningSecret()] }),
    client: unused<GuardedHttpClient>('client', {
      async request({ body }: GuardedRequest) {
        received.push(JSON.parse(String(body)));
        await receiver.answers;
        return {
          status: 204,
          headers: {},
          body: new Uint8Array(),
          isTruncated: false,
          durationMs: 0,
        };
      },
    }),
    clock,
    makeId: () => 'd',
    finishMs: 0,
    judge: () =>
      new Promise((resolve) => {
        judge = resolve;
      }),
    onError: (_error, what) => errors.push(what),
  };
  return {
    ...memory,
    clock,
    received,
    receiver,
    database,
    errors,
    names: () => received.map(({ event }) => event),
    node: () => createWebhookDispatcher(deps),
    async judged() {
      judge({ evaluation: EVALUATION });
      await settle();
    },
  };
}
const evaluating = { evaluating: true, tasksAtMs: ENDED_AT_MS };

describe('A node', () => {
  test('sends what is due at its start, and when woken', async () => {
    const ways = [(node: Worker) => node.start(), (node: Worker) => node.wake()];
    for (const begin of ways) {
      const here = scene();
      const node = here.node();
      begin(node);
      await settle();
      expect([here.names(), here.kept()]).toEqual([CHAT, undefined]);
      expect(here.received[1]).toMatchObject({ status: 'ended', endReason: 'api_end', durationMs: 60_000 });
      // Without what is of the service alone.
      expect(here.received[1]?.messages).toEqual([{ role: 'user', content: 'hi', at: SESSION.startedAt }]);
      await node.close();
      expect(here.clock.pendingTimers()).toBe(0);
    }
  });

  test('sends session.finalized with the evaluation, without a wake and before its claim ends', async () => {
    const here = scene(evaluating);
    const node = here.node();
    node.wake();
    await settle();
    expect(here.names()).toEqual(['session.ended']);
    await here.judged();
    expect(here.names()).toEqual(CHAT);
    expect(here.received[1]?.evaluation).toEqual(EVALUATION);
    expect(here.kept()).toBeUndefined();
    await node.close();
  });

  test('finishes an outbox whose tasks end last', async () => {
    const here = scene({ ...evaluating, finalizeByMs: ENDED_AT_MS });
    const node = here.node();
    node.wake();
    await settle();
    expect(here.names()).toEqual(CHAT);
    expect(here.kept()).toBeDefined();
    await here.judged();
    expect(here.kept()).toBeUndefined();
    await node.close();
  });
});

/** A node whose receiver has session.ended, and has not answered yet. */
async function sending() {
  const here = scene();
  let answer: () => void = () => undefined;
  here.receiver.answers = new Promise((resolve) => {
    answer = resolve;
  });
  const node = here.node();
  node.wake();
  await settle();
  return { here, node, answer };
}

describe('A node that cannot store the result of a delivery', () => {
  const AWAY = new CallwayError('unavailable', 'database_unavailable', 'away');
  const NOT_STORED = 'result of a webhook not stored, retrying';
  /** The receiver has session.ended, and the database fails from then on. */
  async function sent(error: Error) {
    const { here, node, answer } = await sending();
    here.database.error = error;
    answer();
    await settle();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        here.clock.advance(500);
        await settle();
      }
    };
    return { ...here, node, pass };
  }

  test('stores it once the database is back, without sending again', async () => {
    const here = await sent(AWAY);
    await here.pass(30_000);
    expect([here.names(), here.deliveries]).toEqual([['session.ended'], []]);
    expect(here.errors).toEqual([NOT_STORED]);
    here.database.error = undefined;
    await here.pass(500);
    expect(here.names()).toEqual(CHAT);
    expect(here.deliveries).toMatchObject([{ status: 204 }, { status: 204 }]);
    await here.node.close();
  });

  test.each([
    ['the database is away for longer than its lease', AWAY, 30_500, [NOT_STORED]],
    ['the database fails otherwise', new Error('no such table'), 0, []],
  ])('leaves the event to other nodes where %s', async (_what, error, afterMs, before) => {
    const here = await sent(error);
    await here.pass(afterMs);
    expect(here.errors).toEqual([...before, 'webhooks of a session not finished, retrying later']);
    expect(here.clock.pendingTimers()).toBe(0);
    await here.node.close();
  });

  test('tries once more where it stops', async () => {
    const here = await sent(AWAY);
    const closed = here.node.close();
    await here.pass(500);
    await closed;
    expect(here.errors).toEqual([NOT_STORED, 'webhooks of a session not finished, retrying later']);
  });
});

describe('A node that stops', () => {
  test('sends nothing after the delivery in progress, and releases the rest at once', async () => {
    const { here, node, answer } = await sending();
    const closed = node.close();
    answer();
    await closed;
    expect(here.names()).toEqual(['session.ended']);
    expect(here.releasedAtMs).toEqual([ENDED_AT_MS]);
    const other = here.node();
    other.wake();
    await settle();
    expect(here.names()).toEqual(CHAT);
    await other.close();
  });

  test('leaves post-session tasks to another, which restarts them after their lease', async () => {
    const here = scene(evaluating);
    const first = here.node();
    first.wake();
    await settle();
    await first.close();
    expect(here.errors).toEqual(['post-session tasks interrupted, restarting later']);
    const other = here.node();
    other.wake();
    await settle();
    here.clock.advance(110_000);
    other.wake();
    await settle();
    await here.judged();
    expect(here.received.map(({ evaluation }) => evaluation)).toEqual([undefined, EVALUATION]);
    await other.close();
  });
});
