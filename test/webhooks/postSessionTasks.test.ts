import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type AgentConfig, newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentRelease } from '../../src/agents/releases/release.ts';
import type { EndedSession } from '../../src/engine/memory/rememberSession.ts';
import type { ReleaseStore } from '../../src/engine/session/releases.ts';
import type { CallReport } from '../../src/webhooks/callReport.ts';
import type { OutboxSession } from '../../src/webhooks/outboxStore.ts';
import { runPostSessionTasks } from '../../src/webhooks/postSessionTasks.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';
import { CALL, ENDED_AT_MS, memoryOutbox, SESSION } from './support/memoryOutbox.ts';

const EVALUATION = { criteria: [] };
const EVALUATED: Partial<AgentConfig> = { postEvaluationConfig: { criteria: [] }, memoryEnabled: true };
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

interface SceneOptions {
  readonly agent?: Partial<AgentConfig>;
  readonly session?: Partial<OutboxSession>;
  readonly report?: CallReport | undefined;
}

/** The tasks of an ended session on one node, whose models answer when they are told to. */
function scene({ agent = EVALUATED, session = {}, report = CALL }: SceneOptions = {}) {
  const clock = createSimulatedClock(ENDED_AT_MS);
  const memory = memoryOutbox({
    outbox: { evaluating: true, tasksAtMs: ENDED_AT_MS },
    session,
  });
  const release: AgentRelease = {
    agent: { ...newAgentConfig('Test'), ...agent },
    pathwayId: 'p',
    pathwayVersion: 1,
    pathway: { nodes: [], edges: [] },
    tools: [],
  };
  const closing = new AbortController();
  const asked: { task: string; session: EndedSession; signal: AbortSignal }[] = [];
  const reports: string[] = [];
  const errors: string[] = [];
  const answers = new Map<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let judged = 0;
  const ask = (task: string) => (ended: EndedSession, signal: AbortSignal) => {
    asked.push({ task, session: ended, signal });
    return new Promise<never>((resolve, reject) => {
      answers.set(task, { resolve: resolve as (value: unknown) => void, reject });
    });
  };
  const deps = {
    outbox: memory.outbox,
    releases: unused<ReleaseStore>('releases', { find: async () => release as AgentRelease | undefined }),
    clock,
    callReport: async (_projectId: string, callId: string) => {
      reports.push(callId);
      return report;
    },
    updateCost: async () => undefined,
    judge: ask('judgement'),
    remember: ask('memory'),
    onError: (error: unknown, what: string) =>
      errors.push(`${what}: ${error instanceof Error ? error.message : error}`),
  };
  return {
    ...memory,
    deps,
    clock,
    closing,
    asked,
    reports,
    errors,
    judged: () => judged,
    tasks: () => asked.map(({ task }) => task),
    run: () => runPostSessionTasks(deps, 'i', closing.signal, () => void judged++),
    async answer(task: string, value?: unknown) {
      const waiting = answers.get(task);
      if (value instanceof Error) waiting?.reject(value);
      else waiting?.resolve(value);
      await settle();
    },
    async pass(ms: number) {
      clock.advance(ms);
      await settle();
    },
    evaluation: async () => (await memory.outbox.session('i'))?.evaluation,
  };
}

describe('The tasks of an ended session', () => {
  test('store the evaluation, announce it, update the memory, and end', async () => {
    const messages = [{ role: 'user' as const, content: 'hi', at: SESSION.startedAt }];
    const here = scene({ session: { messages, variables: { guests: 2 } } });
    const done = here.run();
    await settle();
    expect(here.asked).toMatchObject([
      {
        task: 'judgement',
        session: {
          projectId: SESSION.projectId,
          instanceId: 'i',
          release: { pathwayId: 'p' },
          messages,
          variables: { guests: 2 },
        },
      },
    ]);
    expect([here.judged(), here.kept()?.facts]).toEqual([0, []]);
    await here.answer('judgement', { evaluation: EVALUATION });
    // session.finalized does not wait for the memory.
    expect([here.judged(), here.kept()?.facts]).toEqual([1, ['session.finalized']]);
    expect(await here.evaluation()).toBe(EVALUATION);
    expect(here.tasks()).toEqual(['judgement', 'memory']);
    expect(here.kept()?.tasksAtMs).toBe(ENDED_AT_MS);
    await here.answer('memory');
    await done;
    expect(here.kept()?.tasksAtMs).toBeNull();
    expect(here.errors).toEqual([]);
    expect(here.clock.pendingTimers()).toBe(0);
    expect(getEventListeners(here.closing.signal, 'abort')).toEqual([]);
  });

  test.each([
    ['neither', {}, []],
    ['an evaluation alone', { postEvaluationConfig: EVALUATED.postEvaluationConfig ?? null }, ['judgement']],
    ['a memory alone', { memoryEnabled: true }, ['memory']],
  ])('are those its agent has: %s', async (_what, agent, expected) => {
    const here = scene({ agent });
    const done = here.run();
    await settle();
    expect(here.tasks()).toEqual(expected);
    for (const task of expected) await here.answer(task);
    await done;
    expect(here.judged()).toBe(1);
    expect(here.kept()).toMatchObject({ tasksAtMs: null, facts: ['session.finalized'] });
  });

  test.each([
    ['the caller, of an inbound call', 'inbound', CALL.call.fromNumber],
    ['the called party, of an outbound call', 'outbound', CALL.call.toNumber],
  ] as const)('have the number of the customer: %s', async (_who, direction, expected) => {
    const here = scene({
      session: { channel: 'phone', callId: 'c' },
      report: { ...CALL, call: { ...CALL.call, direction } },
    });
    const done = here.run();
    await settle();
    expect(here.reports).toEqual(['c']);
    expect(here.asked[0]?.session.phoneNumber).toBe(expected);
    await here.answer('judgement');
    await here.answer('memory');
    await done;
  });

  test('have no number for a chat', async () => {
    const here = scene({ agent: { memoryEnabled: true } });
    const done = here.run();
    await settle();
    expect(here.reports).toEqual([]);
    expect(here.asked[0]?.session.phoneNumber).toBeUndefined();
    await here.answer('memory');
    await done;
  });

  test('are only the memory where a failed node had stored the evaluation', async () => {
    const here = scene({
      session: { evaluation: EVALUATION, factsAt: { 'session.finalized': SESSION.endedAt } },
    });
    const done = here.run();
    await settle();
    expect([here.tasks(), here.judged()]).toEqual([['memory'], 0]);
    await here.answer('memory');
    await done;
    expect(await here.evaluation()).toBe(EVALUATION);
  });

  test('are none once the session is finished or its release gone', async () => {
    const gone = scene();
    gone.deps.releases.find = async () => undefined;
    await gone.run();
    expect([gone.tasks(), gone.judged(), gone.kept()?.tasksAtMs]).toEqual([[], 1, null]);
    const finished = scene();
    finished.remove();
    await finished.run();
    expect([finished.tasks(), finished.judged()]).toEqual([[], 0]);
  });
});

describe('A task of an ended session', () => {
  test('that fails costs only its own result', async () => {
    const here = scene();
    const done = here.run();
    await settle();
    await here.answer('judgement', new Error('no model'));
    expect([here.judged(), here.tasks()]).toEqual([1, ['judgement', 'memory']]);
    await here.answer('memory', new Error('no model'));
    await done;
    expect(await here.evaluation()).toBeUndefined();
    expect(here.errors).toEqual([
      'judgement of a session failed: no model',
      'memory update of a session failed: no model',
    ]);
    expect(here.kept()?.tasksAtMs).toBeNull();
  });

  test('that never ends is aborted, so that both end within the lease of their node', async () => {
    const here = scene();
    const done = here.run();
    await settle();
    await here.pass(64_999);
    expect([here.judged(), here.asked[0]?.signal.aborted]).toEqual([0, false]);
    await here.pass(1);
    expect([here.judged(), here.asked[0]?.signal.reason]).toMatchObject([1, { code: 'model_timeout' }]);
    await here.pass(40_000);
    await done;
    expect(here.errors).toEqual([
      'judgement of a session failed: the judgement took too long',
      'memory update of a session failed: the memory update took too long',
    ]);
  });

  test.each([
    ['judges', []],
    ['remembers', ['judgement']],
  ])('is left to another node when its own stops while it %s', async (_what, answered) => {
    const here = scene();
    const done = here.run();
    await settle();
    for (const task of answered) await here.answer(task, { evaluation: EVALUATION });
    const stops = expect(done).rejects.toThrow('the service stops');
    here.closing.abort(new Error('the service stops'));
    await stops;
    expect(here.asked.at(-1)?.signal.aborted).toBe(true);
    expect(here.judged()).toBe(answered.length);
    expect(here.kept()?.tasksAtMs).toBe(ENDED_AT_MS);
    expect(here.errors).toEqual([]);
  });

  test('is not begun on a node that stops', async () => {
    const here = scene();
    here.closing.abort(new Error('the service stops'));
    await expect(here.run()).rejects.toThrow('the service stops');
    expect(here.tasks()).toEqual([]);
  });
});
