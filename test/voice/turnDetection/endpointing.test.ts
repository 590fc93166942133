import { expect, test } from 'vitest';
import {
  completenessOf,
  endpointingDelayMs,
  learnEarlyEndpoint,
  learnPause,
  NO_PAUSES,
} from '../../../src/voice/turnDetection/endpointing.ts';

const BOUNDS = { minEndpointingDelayMs: 300, maxEndpointingDelayMs: 1600 };

test.each([
  ['I would like a table.', 'complete'],
  ['我想訂位。', 'complete'],
  ['What time?”', 'complete'],
  ['', 'open'],
  ['I would like to', 'incomplete'],
  ['I would like to.', 'incomplete'],
  ['well, um', 'incomplete'],
  ['on Monday,', 'incomplete'],
  ['so I thought...', 'incomplete'],
  ['我想要訂位但是', 'incomplete'],
  ['pero', 'incomplete'],
  ['my number is five five', 'incomplete'],
  ['5 5', 'incomplete'],
  ['It is 555-12.', 'incomplete'],
  ['my name is a d', 'incomplete'],
  ['五五', 'open'],
  ['我的電話是 零九 一二', 'incomplete'],
  ['five', 'open'],
  ['at 12', 'open'],
  ['for two', 'open'],
  ['zero nine one two three four five six seven eight', 'open'],
  ['it is 0912 345 678', 'open'],
])('%j looks %s', (text, completeness) => expect(completenessOf(text)).toBe(completeness));

test.each([
  ['No, thank you!', 300],
  ['A table.', 430],
  ['a table', 755],
  [undefined, 755],
  ['a table for', 1340],
])('Endpointing delay after %j where "no thank you" is expected: %i ms', (text, delayMs) => {
  expect(endpointingDelayMs(text, ['no thank you'], NO_PAUSES, BOUNDS)).toBe(delayMs);
});

test('Endpointing delay adapts to the caller’s pauses within its bounds', () => {
  const pauses = [800, 900, 1000].reduce(learnPause, NO_PAUSES);
  expect(endpointingDelayMs('A table.', [], pauses, BOUNDS)).toBe(1130);
  expect(endpointingDelayMs('A table.', [], { averageMs: 5000 }, BOUNDS)).toBe(1600);
  expect(endpointingDelayMs('yes', ['yes'], { averageMs: 5000 }, BOUNDS)).toBe(300);
});

test('Endpointing delay exceeds a pause in which the caller was answered too early', () => {
  const usual = learnPause(NO_PAUSES, 600);
  expect(endpointingDelayMs('five', [], usual, BOUNDS)).toBe(755);
  expect(endpointingDelayMs('five', [], learnEarlyEndpoint(usual, 1200), BOUNDS)).toBe(1500);
  expect(endpointingDelayMs('five', [], learnEarlyEndpoint({ averageMs: 1000 }, 400), BOUNDS)).toBe(1250);
});
