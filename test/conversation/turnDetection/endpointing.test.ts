import { expect, test } from 'vitest';
import { DEFAULT_TURN_DETECTION } from '../../../src/agents/speech/turnDetection.ts';
import { completenessOf } from '../../../src/conversation/turnDetection/completeness.ts';
import {
  type EndpointingOptions,
  endpointingDelayMs,
  learnEarlyEndpoint,
  learnPause,
  NO_PAUSES,
  preemptAfterMs,
} from '../../../src/conversation/turnDetection/endpointing.ts';

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
  ['my number is five five', 'dictating'],
  ['5 5', 'dictating'],
  ['It is 555-12.', 'dictating'],
  ['my name is a d', 'dictating'],
  ['五五', 'open'],
  ['我的電話是 零九 一二', 'dictating'],
  ['five', 'open'],
  ['at 12', 'open'],
  ['for two', 'open'],
  ['我的電話是零九一', 'dictating'],
  ['zero nine one two three four five six seven eight', 'complete'],
  ['it is 0912 345 678', 'complete'],
  ['Who should I talk to?', 'complete'],
  ['who should I talk to', 'open'],
  ['where can I find the', 'incomplete'],
  ['Could you please?', 'incomplete'],
  ['yes please', 'open'],
  ['aber ich muss', 'incomplete'],
  ['weil ich arbeiten muss', 'open'],
  ['ich würde gerne', 'incomplete'],
  ['einen Tisch, ähm.', 'incomplete'],
  ['訂一張桌子嗯', 'incomplete'],
  ['好的', 'open'],
])('%j looks %s', (text, completeness) => expect(completenessOf(text)).toBe(completeness));

test.each([
  ['No, thank you!', 300],
  ['A table.', 300],
  ['a table', 755],
  [undefined, 755],
  ['a table for', 1340],
])('Endpointing delay after %j where "no thank you" is expected: %i ms', (text, delayMs) => {
  expect(delayAfter(text, { expectedAnswers: ['no thank you'] })).toBe(delayMs);
});

test('Endpointing delay adapts to the caller’s pauses within its bounds', () => {
  const pauses = [800, 900, 1000].reduce((known, ms) => learnPause(known, ms, 'a table'), NO_PAUSES);
  expect(delayAfter('A table.', { pauses })).toBe(1130);
  expect(delayAfter('A table.', { pauses: { averageMs: 5000 } })).toBe(1600);
  expect(delayAfter('yes', { expectedAnswers: ['yes'], pauses: { averageMs: 5000 } })).toBe(300);
});

test('Endpointing delay exceeds a pause in which the caller was answered too early', () => {
  const usual = learnPause(NO_PAUSES, 600, 'a table');
  expect(delayAfter('five', { pauses: usual })).toBe(755);
  expect(delayAfter('five', { pauses: learnEarlyEndpoint(usual, 1200) })).toBe(1500);
  expect(delayAfter('five', { pauses: learnEarlyEndpoint({ averageMs: 1000 }, 400) })).toBe(1250);
});

test('A pause after words that announce more tells nothing about the others', () => {
  expect(learnPause(NO_PAUSES, 900, 'a table for')).toEqual(NO_PAUSES);
});

test.each([
  [undefined, 1340],
  [500, 875],
  [200, 755],
  [900, 1340],
])('Between the groups of a number with pauses of %s ms the delay is %i ms', (pauseMs, delayMs) => {
  const pauses = pauseMs === undefined ? NO_PAUSES : learnPause(NO_PAUSES, pauseMs, 'it is 555');
  expect(delayAfter('it is 555 12', { pauses })).toBe(delayMs);
  expect(delayAfter('a table', { pauses })).toBe(755);
});

const TURNS = { isStreaming: true, detectsTurns: true };

test.each([
  ['auto', 'end_of_turn', 'A table.', 0],
  ['auto', 'end_of_turn', 'a table for', 1340],
  ['provider', 'end_of_turn', 'a table for', 0],
  ['silence', 'end_of_turn', 'A table.', 300],
  ['auto', 'eager_end', 'A table.', 300],
  ['auto', undefined, 'A table.', 1340],
  ['provider', undefined, 'A table.', 1600],
] as const)('Mode %s, recognizer says %s after %j: %i ms', (mode, recognizedEnd, transcript, delayMs) => {
  const detection = { ...DEFAULT_TURN_DETECTION, mode };
  const options = { ...BATCH, detection, recognizer: TURNS };
  expect(endpointingDelayMs({ transcript, recognizedEnd }, options)).toBe(delayMs);
});

test.each([
  ['A table.', 150],
  ['a table', 150],
  ['a table for', undefined],
  ['it is 555', undefined],
  [undefined, undefined],
])('After %j an answer is prepared after %s ms', (transcript, expected) => {
  const options = { ...BATCH, recognizer: { isStreaming: true, detectsTurns: false } };
  expect(preemptAfterMs({ transcript, recognizedEnd: undefined }, options)).toBe(expected);
});

test('An eager agent waits less after the same words, and a patient one longer', () => {
  const delays = (['high', 'medium', 'low'] as const).map((eagerness) =>
    delayAfter('a table', { detection: { ...DEFAULT_TURN_DETECTION, eagerness } }),
  );
  expect(delays).toEqual([528, 755, 982]);
});
