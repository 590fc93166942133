import { expect, test } from 'vitest';
import { DEFAULT_TURN_DETECTION } from '../../../src/agents/speech/turnDetection.ts';
import {
  completenessOf,
  type EndpointingOptions,
  endpointingDelayMs,
  learnEarlyEndpoint,
  learnPause,
  NO_PAUSES,
} from '../../../src/voice/turnDetection/endpointing.ts';

const BATCH: EndpointingOptions = {
  bounds: { minEndpointingDelayMs: 300, maxEndpointingDelayMs: 1600 },
  expectedAnswers: [],
  pauses: NO_PAUSES,
  detection: DEFAULT_TURN_DETECTION,
  recognizer: { isStreaming: false, detectsTurns: false },
};

const delayAfter = (transcript: string | undefined, options: Partial<EndpointingOptions> = {}) =>
  endpointingDelayMs({ transcript, recognizedEnd: undefined }, { ...BATCH, ...options });

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
  expect(delayAfter(text, { expectedAnswers: ['no thank you'] })).toBe(delayMs);
});

test('Endpointing delay adapts to the caller’s pauses within its bounds', () => {
  const pauses = [800, 900, 1000].reduce(learnPause, NO_PAUSES);
  expect(delayAfter('A table.', { pauses })).toBe(1130);
  expect(delayAfter('A table.', { pauses: { averageMs: 5000 } })).toBe(1600);
  expect(delayAfter('yes', { expectedAnswers: ['yes'], pauses: { averageMs: 5000 } })).toBe(300);
});

test('Endpointing delay exceeds a pause in which the caller was answered too early', () => {
  const usual = learnPause(NO_PAUSES, 600);
  expect(delayAfter('five', { pauses: usual })).toBe(755);
  expect(delayAfter('five', { pauses: learnEarlyEndpoint(usual, 1200) })).toBe(1500);
  expect(delayAfter('five', { pauses: learnEarlyEndpoint({ averageMs: 1000 }, 400) })).toBe(1250);
});

const TURNS = { isStreaming: true, detectsTurns: true };

test.each([
  ['auto', 'end_of_turn', 'A table.', 0],
  ['auto', 'end_of_turn', 'a table for', 1340],
  ['provider', 'end_of_turn', 'a table for', 0],
  ['silence', 'end_of_turn', 'A table.', 430],
  ['auto', 'eager_end', 'A table.', 430],
  ['auto', undefined, 'A table.', 1340],
  ['provider', undefined, 'A table.', 1600],
] as const)('Mode %s, recognizer says %s after %j: %i ms', (mode, recognizedEnd, transcript, delayMs) => {
  const detection = { ...DEFAULT_TURN_DETECTION, mode };
  const options = { ...BATCH, detection, recognizer: TURNS };
  expect(endpointingDelayMs({ transcript, recognizedEnd }, options)).toBe(delayMs);
});

test('An eager agent waits less after the same words, and a patient one longer', () => {
  const delays = (['high', 'medium', 'low'] as const).map((eagerness) =>
    delayAfter('a table', { detection: { ...DEFAULT_TURN_DETECTION, eagerness } }),
  );
  expect(delays).toEqual([528, 755, 982]);
});
