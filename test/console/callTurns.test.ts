import { expect, test } from 'vitest';

import type { Axis, Timeline } from '../../console/src/pages/call/model/callTimeline.ts';
import { slowestPart, turnsOf } from '../../console/src/pages/call/model/turns.ts';

const AT = '2026-01-01T00:00:05Z';
const axis = { at: (time: string) => Date.parse(time) - Date.parse('2026-01-01T00:00:00Z') } as Axis;
const latencyParts = {
  bufferMs: 40,
  endpointingMs: 300,
  transcriptionMs: 0,
  answerMs: 2500,
  speechMs: 100,
  playoutMs: 20,
};

test.each([
  [
    'of a call',
    { latencyMs: 2960, latencyParts, latencyDetails: { modelMs: 400, toolMs: 2000 } },
    'tool',
    100,
  ],
  ['of a chat', { latencyMs: 2500, latencyDetails: { modelMs: 400, toolMs: 2000 } }, 'tool', 100],
  ['of a chat without a model', { latencyMs: 2010, latencyDetails: { toolMs: 2000 } }, 'tool', 10],
  ['without a tool', { latencyMs: 500, latencyDetails: { modelMs: 480 } }, 'model', 20],
  ['without its parts', { latencyMs: 500 }, 'model', undefined],
])('The parts of an answer %s add up, and a tool is named as such', (_what, latency, slowest, prepareMs) => {
  const message = { role: 'assistant', content: 'Yes.', at: AT, ...latency };
  const [turn] = turnsOf({ messages: [message], events: [] } as unknown as Timeline, axis);
  expect(turn?.parts.reduce((sum, { ms }) => sum + ms, 0)).toBe(latency.latencyMs);
  expect(turn && slowestPart(turn)).toBe(slowest);
  expect(turn?.parts.find(({ part }) => part === 'prepare')?.ms).toBe(prepareMs);
});
