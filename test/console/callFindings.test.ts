import { expect, test } from 'vitest';

import type { Axis, Timeline } from '../../console/src/pages/call/model/callTimeline.ts';
import { findingsOf } from '../../console/src/pages/call/model/findings.ts';

test('A webhook that fails again and again is one finding; one that arrives at last is none', () => {
  const attempt = (deliveryId: string, seconds: number, status: number) => ({
    deliveryId,
    event: 'turn.user',
    at: `2026-01-01T00:00:0${seconds}Z`,
    ok: status === 200,
    status,
    error: null,
  });
  const deliveries = [
    attempt('lost', 1, 404),
    attempt('late', 1, 503),
    attempt('lost', 3, 404),
    attempt('late', 4, 200),
    attempt('lost', 7, 410),
  ];
  const timeline = { deliveries, events: [], mediaSamples: null, call: null } as unknown as Timeline;
  const axis = { at: (time: string) => Date.parse(time) - Date.parse('2026-01-01T00:00:00Z') } as Axis;
  expect(findingsOf(timeline, axis, [])).toEqual([
    {
      kind: 'webhook_failed',
      isSevere: false,
      atMs: 7000,
      values: { event: 'turn.user', status: 410 },
    },
  ]);
});

test('A disclosure that was not heard in time stands out at the answer', () => {
  const call = {
    status: 'completed',
    answeredAt: '2026-01-01T00:00:04Z',
    violations: [{ kind: 'disclosure', id: 'recorded' }],
  };
  const timeline = { deliveries: [], events: [], mediaSamples: null, call } as unknown as Timeline;
  const axis = { at: (time: string) => Date.parse(time) - Date.parse('2026-01-01T00:00:00Z') } as Axis;
  expect(findingsOf(timeline, axis, [])).toEqual([
    { kind: 'violation', isSevere: true, atMs: 4000, values: { id: 'recorded' } },
  ]);
});
