import { describe, expect, test } from 'vitest';
import type { PathwayInput } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import { createBeforeStart } from '../../../src/engine/session/beforeStart.ts';
import type { GuardedHttpClient, GuardedRequest } from '../../../src/http/client.ts';
import { type MemoryOptions, memoryEngine, PROJECT } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';
import { unused } from '../../support/unused.ts';

const CALL = {
  direction: 'inbound',
  fromNumber: '+886912345678',
  toNumber: '+886223456789',
  callId: 'call-1',
  trunkId: null,
} as const;

const pathway: PathwayInput = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Start', prompt: 'Greet.' } },
    { id: 'vip', type: 'conversation', data: { title: 'Vip', prompt: 'Greet {{ name }}.' } },
  ],
  edges: [],
};

/** An engine whose agent asks an endpoint that answers this. */
function engineAsking(answer: unknown, more: Partial<MemoryOptions> = {}) {
  const asked: GuardedRequest[] = [];
  const client = unused<GuardedHttpClient>('client', {
    async request(request: GuardedRequest) {
      asked.push(request);
      if (answer instanceof Error) throw answer;
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
      return { status: 200, headers: {}, body: Buffer.from(text), durationMs: 1 } as never;
    },
  });
  const memory = { find: async () => undefined, keep: async () => undefined };
  const model = scriptedModel(() => ({ text: 'Welcome.' }));
  const engine = memoryEngine({
    model,
    pathway,
    agent: { beforeStartConfig: { url: 'https://crm.example/start' } },
    beforeStart: createBeforeStart({ clientOf: () => client, memory, clock: systemClock }),
    ...more,
  });
  return { ...engine, asked, model };
}

const textOf = (outputs: readonly { readonly type: string }[]) =>
  outputs.flatMap((output) => ('text' in output ? [output.text] : [])).join('');
const errorsOf = ({ events }: { events(): { type: string; data: Readonly<Record<string, unknown>> }[] }) =>
  events()
    .filter(({ type }) => type === 'error')
    .map(({ data }) => data);

describe('The answer of beforeStartConfig', () => {
  test('gives variables, language and the first node', async () => {
    const engine = engineAsking({ variables: { name: 'Ada', tier: 'b' }, language: 'de', nodeId: 'vip' });
    await engine.say('Hi', { variables: { tier: 'a' } });
    const { variables, currentNodeId } = engine.session().state;
    expect([variables, currentNodeId]).toEqual([{ name: 'Ada', tier: 'a', language: 'de' }, 'vip']);
  });

  test('replaces the first words of a call by the greeting', async () => {
    const engine = engineAsking({ greeting: 'Hello Ada!' }, { call: CALL });
    expect(textOf(await engine.turn({ kind: 'begin' }))).toBe('Hello Ada!');
    expect(engine.model.requests).toHaveLength(0);
    expect(await engine.say('Hi')).toBe('Welcome.');
  });

  test('precedes the first answer of a chat by the greeting', async () => {
    const engine = engineAsking({ greeting: 'Hello Ada!' });
    expect(await engine.say('Hi')).toBe('Hello Ada!\nWelcome.');
    expect(await engine.say('And now?')).toBe('Welcome.');
  });

  test.each([
    ['a bare object of variables', { name: 'Ada' }, 'before_start_failed', 'name is not a known field'],
    ['an array', [], 'before_start_failed', 'must answer with a JSON object'],
    ['no JSON', 'oops', 'before_start_failed', 'must answer with a JSON object'],
    ['a status of success', { reject: { status: 200 } }, 'before_start_failed', 'status'],
    ['late', new Error('no answer within 1500 ms'), 'before_start_failed', 'It failed'],
    ['an unknown node', { nodeId: 'gone' }, 'unknown_start_node', 'begins at its start'],
    ['a reject of a chat', { reject: {} }, 'reject_ignored', 'this session has none'],
  ])('that is %s is noted, and the session begins as ever', async (_what, answer, code, message) => {
    const engine = engineAsking(answer);
    expect(await engine.say('Hi')).toBe('Welcome.');
    expect(engine.session().state).toMatchObject({ currentNodeId: 'start', variables: {} });
    expect(errorsOf(engine)).toEqual([
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    ]);
  });

  test('is asked for once, before a call’s first turn, with its facts', async () => {
    const engine = engineAsking({ variables: { name: 'Ada' } }, { call: CALL });
    await engine.engine.create({
      projectId: PROJECT,
      sessionId: 's',
      channel: 'phone',
      callId: CALL.callId,
      variables: { line: 'sales' },
    });
    const { signal } = new AbortController();
    const started = await engine.engine.start({ projectId: PROJECT, sessionId: 's', call: CALL }, signal);
    expect(started?.state.variables).toEqual({ name: 'Ada', line: 'sales' });
    await engine.turn({ kind: 'begin' });
    expect(engine.asked).toHaveLength(1);
    expect(engine.asked[0]?.timeoutMs).toBe(1500);
    expect(JSON.parse(String(engine.asked[0]?.body))).toEqual({
      projectId: PROJECT,
      sessionId: 's',
      channel: 'phone',
      variables: { line: 'sales' },
      call: CALL,
    });
  });

  test.each([
    [{ reject: {} }, 603],
    [{ reject: { status: 486 } }, 486],
  ])('of %j rejects the call with %i, also when it is started again', async (answer, status) => {
    const engine = engineAsking(answer, { call: CALL });
    const session = { projectId: PROJECT, sessionId: 's', channel: 'phone', callId: CALL.callId } as const;
    await engine.engine.create(session);
    for (const _attempt of [1, 2]) {
      const started = await engine.engine.start({ ...session, call: CALL }, new AbortController().signal);
      expect(started?.state.rejectedWith).toBe(status);
    }
    expect(engine.asked).toHaveLength(1);
  });
});

describe('A call’s session that is started', () => {
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone', callId: CALL.callId } as const;
  const start = ({ engine }: ReturnType<typeof engineAsking>) =>
    engine.start({ ...session, call: CALL }, new AbortController().signal);

  test('is left as it is where its agent asks for nothing, and where it is gone', async () => {
    const engine = engineAsking({}, { call: CALL, agent: { beforeStartConfig: null, memoryEnabled: false } });
    expect(await start(engine)).toBeUndefined();
    const created = await engine.engine.create(session);
    expect(await start(engine)).toBe(created);
    expect(engine.asked).toEqual([]);
  });

  test.each([
    ['session_changed', true],
    ['database_unavailable', false],
  ])('is the stored one where its start fails with %s: %j', async (code, isRead) => {
    const engine = engineAsking(
      { variables: { name: 'Ada' } },
      {
        call: CALL,
        wrapSessions: (sessions) => ({
          ...sessions,
          saveTurn: async () => {
            throw new CallwayError('conflict', code, code);
          },
        }),
      },
    );
    const created = await engine.engine.create(session);
    if (isRead) expect(await start(engine)).toBe(created);
    else await expect(start(engine)).rejects.toMatchObject({ code });
  });
});

test.each([
  ['vip', 'vip', []],
  ['gone', 'start', ['unknown_start_node']],
])('A session that is created with the node %s begins at %s', async (startNodeId, nodeId, codes) => {
  const engine = engineAsking({});
  const session = { projectId: PROJECT, sessionId: 's', channel: 'phone', startNodeId } as const;
  await engine.engine.create(session);
  await engine.turn({ kind: 'begin' });
  expect(engine.session().state.currentNodeId).toBe(nodeId);
  expect(errorsOf(engine).map(({ code }) => code)).toEqual(codes);
});
