import { expect, test } from 'vitest';
import {
  closeUtterance,
  detectSpeech,
  isSpeechOnset,
  NO_SPEECH,
} from '../../../src/conversation/turnDetection/speechActivity.ts';

/** One character per frame of 20 ms, `#` for voiced. */
const activityOf = (frames: string) =>
  [...frames].reduce(
    (activity, frame, index) => detectSpeech(activity, frame === '#', (index + 1) * 20),
    NO_SPEECH,
  );

test.each([
  ['a click', '..#....', undefined],
  ['two voiced frames of five', '..#.#..', undefined],
  ['three voiced frames of five', '..#.##', { startMs: 40, voicedMs: 60, lastVoicedMs: 120 }],
  ['a word', '.#####.', { startMs: 20, voicedMs: 100, lastVoicedMs: 120 }],
  ['a gap within a word', '.###..##.', { startMs: 20, voicedMs: 100, lastVoicedMs: 160 }],
  ['a click after a word', '.####......#...', { startMs: 20, voicedMs: 80, lastVoicedMs: 100 }],
  ['two words', '.####......###.', { startMs: 20, voicedMs: 140, lastVoicedMs: 280 }],
])('Utterance of %s', (_, frames, utterance) => expect(activityOf(frames).utterance).toEqual(utterance));

test.each([
  ['silence', '.####......', false],
  ['the first voiced frame', '.####......#', true],
  ['two frames after it', '.####......#..', true],
  ['a click', '.####......#...', false],
  ['speech', '.####......###', false],
])('Speech onset after a word: %s', (_, frames, expected) =>
  expect(isSpeechOnset(activityOf(frames))).toBe(expected),
);

test('Speech that continues after its utterance was closed starts a new one', () => {
  const closed = closeUtterance(activityOf('.#####'));
  expect(closed.utterance).toBeUndefined();
  const next = [140, 160, 180].reduce((activity, atMs) => detectSpeech(activity, true, atMs), closed);
  expect(next.utterance).toEqual({ startMs: 120, voicedMs: 60, lastVoicedMs: 180 });
});
