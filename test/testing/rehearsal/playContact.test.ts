import { expect, test } from 'vitest';
import { newCall } from '../../../src/calls/call.ts';
import type { CallerAction, PlayChannel } from '../../../src/testing/play/channel.ts';
import { calleeOf } from '../../../src/testing/rehearsal/callee.ts';
import { judgeContact, playContact, unansweredContact } from '../../../src/testing/rehearsal/playContact.ts';

const { signal } = new AbortController();

test.each([0, 1, 2, 3, 4, 5])('Six contacts have each kind of callee, with the seed %i', (seed) => {
  const callees = Array.from({ length: 6 }, (_, position) => calleeOf(seed, position));
  expect(new Set(callees)).toEqual(new Set(['answered', 'machine', 'opt_out', 'busy', 'no_answer']));
});

/** Records what is done; the agent hangs up after this many actions. */
function channelOf(endsAfter: number) {
  const actions: CallerAction[] = [];
  const channel: PlayChannel = {
    begin: async () => undefined,
    async act(action, turn) {
      actions.push(action);
      return { turn, agent: '', nodes: [], tools: [], digits: [], transfers: [] };
    },
    state: () => ({ variables: {}, endedBy: actions.length >= endsAfter ? 'agent' : null }),
  };
  return { channel, actions };
}

test('A machine greets and beeps, and hangs up where the agent does not', async () => {
  const { channel, actions } = channelOf(9);
  await playContact(channel, 'machine', signal);
  expect(actions.map(({ kind }) => kind)).toEqual(['say', 'silence', 'hangup']);
  expect(actions[0]).toMatchObject({ thenBeeps: true });
});

test('A person who wants no more calls says so, and says nothing once the agent has ended the call', async () => {
  const { channel, actions } = channelOf(3);
  await playContact(channel, 'opt_out', signal);
  expect(actions).toEqual([
    { kind: 'say', text: 'Hello?' },
    { kind: 'silence', durationMs: 2_000 },
    { kind: 'say', text: 'Please stop calling me.' },
  ]);
});

test('A person who is not understood asks twice more', async () => {
  const { channel, actions } = channelOf(9);
  await playContact(channel, 'opt_out', signal);
  expect(actions.filter((action) => action.kind === 'say' && action.text.includes('stop'))).toHaveLength(3);
});

const call = (answeringMachine: 'human' | 'machine' | null) =>
  ({ ...newCall({} as Parameters<typeof newCall>[0]), status: 'completed', answeringMachine }) as const;

test.each([
  ['answered', call('human'), false, 'answered', true],
  ['answered', call('machine'), false, 'machine', false],
  ['machine', call('machine'), false, 'machine', true],
  ['machine', call(null), false, 'answered', false],
  ['opt_out', call('human'), true, 'opt_out', true],
  ['opt_out', call('human'), false, 'answered', false],
  ['answered', undefined, false, 'failed', false],
] as const)(
  'A call to a callee who is %s comes to its outcome: %j, %s',
  (callee, ended, hasOptedOut, outcome, passed) => {
    const judged = judgeContact(callee, ended, hasOptedOut);
    expect(judged.outcome).toBe(outcome);
    expect(judged.verdicts).toEqual([expect.objectContaining({ type: 'outcome', passed, seen: outcome })]);
  },
);

test('A busy line has its outcome without a call, and keeps its variables', () => {
  expect(unansweredContact('busy', { name: 'Ada' })).toMatchObject({
    outcome: 'busy',
    observation: { exchanges: [], variables: { name: 'Ada' } },
    verdicts: [{ passed: true }],
  });
});
