import { expect, test } from 'vitest';
import {
  type StreamedTextEvent,
  type StreamedTextState,
  streamedTextTransition,
} from '../../../src/voice/speech/streamedTextState.ts';

/** The states that events lead through, and what becomes of the wait for sound. */
function path(events: readonly StreamedTextEvent[]): string[] {
  let state: StreamedTextState = 'opening';
  return events.map((event) => {
    const step = streamedTextTransition(state, event);
    state = step.state;
    return [state, step.wait].filter(Boolean).join(' ');
  });
}

test.each<[string, StreamedTextEvent[], string[]]>([
  [
    'that is enough to begin is waited for once',
    ['enough_written', 'enough_written', 'sound'],
    ['due begin', 'due', 'sounding end'],
  ],
  [
    'may pause between the words that are written',
    ['sound', 'sound', 'enough_written'],
    ['sounding end', 'sounding', 'sounding'],
  ],
  [
    'that is complete is waited for to its end',
    ['sound', 'text_ended', 'sound'],
    ['sounding end', 'ending begin', 'ending begin'],
  ],
  [
    'that is complete before its first sound is waited for',
    ['enough_written', 'text_ended'],
    ['due begin', 'ending begin'],
  ],
  [
    'whose vendor is held is not waited for',
    ['sound', 'far_ahead', 'sound', 'needed_again'],
    ['sounding end', 'held end', 'held', 'sounding end'],
  ],
  [
    'that ends while its vendor is held is waited for later',
    ['far_ahead', 'text_ended', 'needed_again'],
    ['held end', 'held_ending end', 'ending begin'],
  ],
  [
    'whose vendor is held in its end is waited for again',
    ['text_ended', 'far_ahead', 'needed_again'],
    ['ending begin', 'held_ending end', 'ending begin'],
  ],
  ['whose vendor is not held needs no resume', ['needed_again', 'sound'], ['opening', 'sounding end']],
])('A text %s', (_what, events, expected) => {
  expect(path(events)).toEqual(expected);
});
