import { expect, test } from 'vitest';

import { newSessionState, type SessionMessage, withMessages } from '../../../src/engine/session/session.ts';
import { memoryEngine } from '../../support/memoryEngine.ts';
import { scriptedModel } from '../../support/scriptedModel.ts';

const words = (from: number, to: number): SessionMessage[] =>
  Array.from({ length: to - from }, (_, index) => ({ role: 'user', content: `${from + index}`, at: '' }));

test('A conversation keeps its newest 400 messages at hand', () => {
  const state = withMessages(withMessages(newSessionState({}), words(0, 390)), words(390, 410));
  expect(state).toMatchObject({ messagesBefore: 10, summary: null });
  expect(state.messages).toEqual(words(10, 410));
  expect(withMessages(state, words(410, 411))).toMatchObject({ messagesBefore: 11 });
});

test('A session keeps at most 262,144 characters of messages for its turns', () => {
  const long = (content: string): SessionMessage => ({
    role: 'user',
    content: content.padEnd(100_000),
    at: '',
  });
  const state = withMessages(newSessionState({}), [long('a'), long('b'), long('c')]);
  expect([state.messages, state.messagesBefore]).toEqual([[long('b'), long('c')], 1]);
  const longest: SessionMessage = { role: 'user', content: 'd'.repeat(300_000), at: '' };
  expect(withMessages(state, [longest])).toMatchObject({ messages: [longest], messagesBefore: 3 });
});

test.each([
  ['summarised messages are left out', 3, words(0, 8), 3, words(3, 8), 0],
  ['all but the last one', 8, words(0, 8), 7, words(7, 8), 1],
])('%s', (_what, upTo, messages, messagesBefore, kept, newUpTo) => {
  const state = { ...newSessionState({}), messages, summary: { text: 's', upTo } };
  expect(withMessages(state, [])).toMatchObject({
    messagesBefore,
    messages: kept,
    summary: { text: 's', upTo: newUpTo },
  });
});

test('A long conversation of short messages is summarised, and none of it is lost', async () => {
  const model = scriptedModel(({ purpose }) => ({ text: purpose === 'summarise' ? 'They counted.' : 'ok' }));
  const node = { id: 'start', type: 'start', data: { title: 'Talk', prompt: 'Count.' } } as const;
  const { engine, say, session } = memoryEngine({ model, pathway: { nodes: [node], edges: [] } });
  for (let turn = 0; turn < 250; turn += 1) await say(`${turn}`);
  const { messages, messagesBefore = 0, summary } = session().state;
  expect([messages.length <= 200, messagesBefore + messages.length, summary?.text]).toEqual([
    true,
    500,
    'They counted.',
  ]);
  const whole = await engine.withAllMessages(session());
  expect(whole.state.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
    Array.from({ length: 250 }, (_, turn) => `${turn}`),
  );
  const asked = model.requests.at(-1)?.messages ?? [];
  expect(asked.length).toBeLessThan(210);
  expect(JSON.stringify(asked)).toContain('They counted.');
});
