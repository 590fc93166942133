import { expect, test } from 'vitest';
import { UnansweredMessages } from '../../../src/conversation/turns/unansweredMessages.ts';

const SPEECH = { recognition: 'scripted' };

/** A text, and what makes it known. */
function transcribing(): { text: Promise<string>; hear: (text: string) => void } {
  let hear: (text: string) => void = () => undefined;
  const text = new Promise<string>((resolve) => {
    hear = resolve;
  });
  return { text, hear };
}

test('Texts are kept in the order in which they were said, whichever is transcribed first', async () => {
  const unanswered = new UnansweredMessages(() => SPEECH);
  const [first, second, silence] = [transcribing(), transcribing(), transcribing()];
  for (const { text } of [first, second, silence]) unanswered.addWhenTranscribed(text);
  silence.hear('');
  second.hear('two');
  await second.text;
  await new Promise((resolve) => setImmediate(resolve));
  expect(unanswered.isEmpty).toBe(true);
  first.hear('one');
  await unanswered.settled;
  expect(unanswered.takeAll()).toEqual([
    { role: 'user', content: 'one', speech: SPEECH },
    { role: 'user', content: 'two', speech: SPEECH },
  ]);
  expect(unanswered.isEmpty).toBe(true);
});

test('Messages that a turn did not store come before what was said since', () => {
  const unanswered = new UnansweredMessages(() => SPEECH);
  unanswered.add('one');
  unanswered.addInput({ kind: 'dtmf', digits: '2' });
  const taken = unanswered.takeAll();
  unanswered.add('three');
  unanswered.addInput({ kind: 'begin' });
  unanswered.putBack(taken);
  expect(unanswered.takeAll().map(({ content }) => content)).toEqual(['one', '2', 'three']);
});

test('What was recognized, entered or told by a supervisor keeps its role and origin', () => {
  const unanswered = new UnansweredMessages(() => SPEECH);
  unanswered.addInput({ kind: 'user_message', text: 'heard', speech: SPEECH });
  unanswered.addInput({ kind: 'user_message', text: 'written' });
  unanswered.addInstruction('Be brief.', 3);
  unanswered.addInstruction('Hurry.');
  expect(unanswered.takeAll()).toEqual([
    { role: 'user', content: 'heard', speech: SPEECH },
    { role: 'user', content: 'written' },
    { role: 'system', content: 'Be brief.', instruction: 3 },
    { role: 'system', content: 'Hurry.' },
  ]);
});
