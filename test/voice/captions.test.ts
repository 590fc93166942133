import { expect, test } from 'vitest';
import type { AudioStream } from '../../src/conversation/streams/audioStream.ts';
import type { Utterance } from '../../src/conversation/turnDetection/speechActivity.ts';
import { Captions } from '../../src/voice/captions.ts';
import type { AgentSpeech } from '../../src/voice/speech/agentSpeech.ts';
import { unused } from '../support/unused.ts';

function captioned() {
  const told: unknown[] = [];
  const captions = new Captions(
    unused<AudioStream>('stream', {
      caption: ({ speaker, text, isFinal }) => void told.push([speaker, text, isFinal]),
      callerSpeech: (...speech) => void told.push(speech),
    }),
  );
  const frames = (count: number, speech?: AgentSpeech, utterance?: Partial<Utterance>) => {
    for (let n = 0; n < count; n++) captions.onFrame(speech, utterance as Utterance | undefined);
    return told.splice(0);
  };
  return { captions, told, frames };
}

/** An answer of which this much is heard. */
function answer() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const speech = { words: '', heardText: () => speech.words, playout: { ended } };
  return { speech: speech as typeof speech & AgentSpeech, end: () => end() };
}

test('The agent’s words are told every 200 ms as they are heard, each once, and whole at their end', async () => {
  const { frames, told } = captioned();
  const { speech, end } = answer();
  expect(frames(10, speech)).toEqual([]);
  speech.words = 'Hello';
  expect(frames(9, speech)).toEqual([]);
  expect(frames(1, speech)).toEqual([['agent', 'Hello', false]]);
  expect(frames(20, speech)).toEqual([]);
  speech.words = 'Hello there';
  expect(frames(10, speech)).toEqual([['agent', 'Hello there', false]]);
  speech.words = 'Hello there.';
  end();
  await Promise.resolve();
  expect(told.splice(0)).toEqual([['agent', 'Hello there.', true]]);
  expect(frames(20, speech)).toEqual([]);
});

test('An answer that another one replaces is told once more, and the new one from its beginning', async () => {
  const { frames, told } = captioned();
  const [first, second] = [answer(), answer()];
  first.speech.words = 'One';
  second.speech.words = 'One';
  expect(frames(10, first.speech)).toEqual([['agent', 'One', false]]);
  expect(frames(10, second.speech)).toEqual([['agent', 'One', false]]);
  first.end();
  await Promise.resolve();
  expect(told.splice(0)).toEqual([['agent', 'One', true]]);
  second.speech.words = 'Two';
  expect(frames(10, second.speech)).toEqual([['agent', 'Two', false]]);
});

test('An answer of which nothing is heard is not told', async () => {
  const { frames, told } = captioned();
  const { speech, end } = answer();
  frames(10, speech);
  end();
  await Promise.resolve();
  expect(told).toEqual([]);
});

test('The caller’s words are told as they are recognized, and when they speak', () => {
  const { captions, frames, told } = captioned();
  captions.callerSays('I wo');
  captions.callerSaid('I would.');
  captions.callerSaid('');
  expect(told.splice(0)).toEqual([
    ['caller', 'I wo', false],
    ['caller', 'I would.', true],
  ]);
  expect(frames(2, undefined, { startMs: 100, lastVoicedMs: 140 })).toEqual([[true, 100]]);
  expect(frames(1, undefined, { startMs: 100, lastVoicedMs: 300 })).toEqual([]);
  expect(frames(2)).toEqual([[false, 300]]);
});
