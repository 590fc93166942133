import { expect, test } from 'vitest';
import {
  type PlayoutEvent,
  type PlayoutState,
  playoutTransition,
} from '../../../src/voice/speech/playoutState.ts';

/** The states that events lead through from `playing`, with what each step does. */
function path(events: readonly PlayoutEvent[]): string[] {
  let state: PlayoutState = 'playing';
  return events.map((event) => {
    const step = playoutTransition(state, event);
    state = step.state;
    return [state, step.effect].filter(Boolean).join(' ');
  });
}

test.each<[string, PlayoutEvent[], string[]]>([
  ['is played to its end', ['all_played', 'pause', 'stop'], ['played end', 'played', 'played']],
  [
    'is paused and resumed',
    ['pause', 'position_known', 'resume', 'all_played'],
    ['pausing clear', 'paused', 'playing play_on', 'played end'],
  ],
  [
    'is resumed before its position is known',
    ['pause', 'resume', 'position_known'],
    ['pausing clear', 'resuming', 'playing play_on'],
  ],
  [
    'is paused again before its position is known, with one request',
    ['pause', 'resume', 'pause', 'position_known'],
    ['pausing clear', 'resuming', 'pausing', 'paused'],
  ],
  [
    'is stopped once',
    ['stop', 'stop', 'position_known', 'resume'],
    ['stopping clear', 'stopping', 'stopped end', 'stopped'],
  ],
  [
    'is stopped for good: nothing resumes it',
    ['stop', 'pause', 'resume'],
    ['stopping clear', 'stopping', 'stopping'],
  ],
  [
    'is stopped while it pauses',
    ['pause', 'stop', 'position_known'],
    ['pausing clear', 'stopping', 'stopped end'],
  ],
  ['is stopped while it resumes', ['pause', 'resume', 'stop'], ['pausing clear', 'resuming', 'stopping']],
  [
    'is stopped where it was paused',
    ['pause', 'position_known', 'stop'],
    ['pausing clear', 'paused', 'stopped end'],
  ],
  [
    'has no end while it is not playing',
    ['pause', 'all_played', 'position_known', 'all_played'],
    ['pausing clear', 'pausing', 'paused', 'paused'],
  ],
  ['keeps its place when a position comes late', ['position_known', 'resume'], ['playing', 'playing']],
])('A playout %s', (_what, events, expected) => {
  expect(path(events)).toEqual(expected);
});
