import { expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/models/ports/chatModel.ts';
import { calling, chunk, done, saying } from '../../support/scriptedUpstream.ts';
import { textOf, useChatRig } from '../../vendors/openai/support/chatRig.ts';

const rig = useChatRig();
const types = (events: readonly ChatEvent[]) => events.map(({ type }) => type);
const LONE_END = saying('The pl', 'an.</thi', 'nk>\n\nHello', '.');

it('The thoughts of an answer are no texts, in the stream and in a whole document', async () => {
  rig.upstream.answerWith({ steps: saying('<think>The plan', '.</think>\n', 'Hello', '.') });
  expect(await rig.ask()).toMatchObject([{ text: 'Hello' }, { text: '.' }, { type: 'end' }]);
  const message = { content: 'The plan.</think>\n\nHello.' };
  rig.upstream.answerWith({ json: { choices: [{ message, finish_reason: 'stop' }] } });
  expect((await rig.ask()).at(-2)).toEqual({ type: 'text', text: 'Hello.' });
});

it('Thoughts beside the content are no texts', async () => {
  const thoughts = [
    chunk({ content: null, reasoning_content: 'The plan.' }),
    chunk({ content: '', reasoning: 'The plan.' }),
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The plan.' }] }] }),
  ];
  rig.upstream.answerWith({ steps: [...thoughts, ...saying('Hello.')] });
  expect(textOf(await rig.ask())).toBe('Hello.');
});

it('An answer without marks has its first token as it comes', async () => {
  rig.upstream.answerWith({ steps: [chunk({ content: 'First' }), 'hang'] });
  const events = rig.model.stream({ model: 'm', messages: [] }, new AbortController().signal);
  const reading = events[Symbol.asyncIterator]();
  expect(await reading.next()).toMatchObject({ value: { text: 'First' } });
  await reading.return?.();
});

it('A lone end tells that all before was a thought, and is awaited in later answers of the model', async () => {
  rig.upstream.answerWith({ steps: LONE_END });
  const first = await rig.ask();
  expect(types(first)).toEqual(['text', 'text', 'thought', 'text', 'text', 'end']);
  expect(textOf(first.slice(3))).toBe('Hello.');
  expect(textOf(await rig.ask())).toBe('Hello.');
  expect(types(await rig.ask({ model: 'another' }))).toContain('thought');
});

it('A model that has stopped to think streams again', async () => {
  rig.upstream.answerWith(
    { steps: LONE_END },
    { steps: saying('{}') },
    { steps: calling('look', '{}') },
    { steps: saying('Hel', 'lo.') },
  );
  await rig.ask();
  await rig.ask({ jsonSchema: { name: 'route', schema: {} } });
  await rig.ask();
  expect(await rig.ask()).toMatchObject([{ text: 'Hello.' }, { type: 'end' }]);
  expect(await rig.ask()).toMatchObject([{ text: 'Hel' }, { text: 'lo.' }, { type: 'end' }]);
});

it('A thought without an end leaves no words', async () => {
  rig.upstream.answerWith({ steps: saying('<think>The plan') });
  expect(types(await rig.ask())).toEqual(['end']);
});

it('The conversation is sent without the thoughts that a client has kept in it', async () => {
  rig.upstream.answerWith({ steps: [...saying('Hi'), done] });
  const content = '<think>The plan.</think>Hello.';
  await rig.ask({
    messages: [
      { role: 'assistant', content },
      { role: 'user', content },
    ],
  });
  expect(rig.upstream.requests[0]?.body.messages).toEqual([
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content },
  ]);
});
