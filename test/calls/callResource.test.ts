import { describe, expect, test } from 'vitest';
import { type Call, UNSUPERVISED } from '../../src/calls/call.ts';
import { callResource, toCallResource } from '../../src/calls/callResource.ts';
import type { RecordingUrls } from '../../src/calls/recording/recordingUrls.ts';
import { unused } from '../support/unused.ts';
import { later, makeCall } from './support/makeCall.ts';

const recordings = unused<RecordingUrls>('recordingUrls', {
  sign: (key) => `https://callway.example/${key}`,
});
const READY = { status: 'ready', key: 'a.wav', durationMs: 6900.4, error: null } as const;
const UUIDS = {
  id: '0197a000-0000-7000-8000-000000000001',
  trunkId: '0197a000-0000-7000-8000-000000000002',
};
const ended = (change = {}) =>
  makeCall({ ...UUIDS, status: 'completed', endReason: 'agent_hangup', endedAt: later(9), ...change });

describe('toCallResource', () => {
  test('conforms to the schema, in whole milliseconds, with media quality, latency and the recording’s URL', () => {
    const mediaQuality = {
      codec: 'G722',
      packetsReceived: 9,
      packetsLost: 1,
      shed: 1,
      concealedMs: 20,
      underruns: 2,
      jitterMs: 2.5,
      jitterBufferMs: 35,
      mos: undefined,
    } as const;
    const shown = toCallResource(
      ended({ recording: READY, mediaQuality }),
      { p50: 400, p95: 900 },
      undefined,
      { status: 'done', disposition: 'booked', success: true, model: 'm' },
      recordings,
    );
    const answered = callResource.parse(shown);
    expect(answered).toMatchObject({
      durationMs: 7000,
      mediaFigures: {
        ...{ codec: 'G722', packetsReceived: 9, packetsLost: 1, shed: 1, concealedMs: 20, underruns: 2 },
        ...{ jitterMs: 3, jitterBufferMs: 35, mos: null },
      },
      turnLatencyMs: { p50: 400, p95: 900 },
      disposition: 'booked',
      success: true,
      analysis: { status: 'done' },
      recording: { status: 'ready', durationMs: 6900, url: 'https://callway.example/a.wav' },
    });
    expect(JSON.stringify(answered)).not.toContain('nodeId');
  });

  test.each([
    ['not ended', makeCall(UUIDS), null],
    ['unanswered', ended({ status: 'busy', answeredAt: null }), 0],
    ['answered', ended(), 7000],
  ])('counts the duration from the answer to the end: %s', (_what, call, durationMs) => {
    expect(toCallResource(call, undefined, undefined, undefined, recordings)).toMatchObject({
      durationMs,
      turnLatencyMs: { p50: null, p95: null },
    });
  });

  test('tells who supervises a call in progress, and of no other', () => {
    const supervision = { agentPaused: true, recordingPaused: false, supervisors: 2 };
    const shownOf = (change: Partial<Call>) =>
      toCallResource(makeCall(change), undefined, undefined, undefined, recordings);
    expect(shownOf({ supervision })).toMatchObject(supervision);
    for (const change of [{ supervision: null }, { supervision, status: 'completed' as const }])
      expect(shownOf(change)).toMatchObject(UNSUPERVISED);
  });

  test.each([
    ['none', null, null],
    ['in progress', { ...READY, status: 'recording' as const, durationMs: null }, undefined],
    ['failed', { ...READY, status: 'failed' as const, error: 'disk full' }, undefined],
  ])('has no URL of an unavailable recording: %s', (_what, recording, expected) => {
    const shown = toCallResource(ended({ recording }), undefined, undefined, undefined, recordings).recording;
    expect(shown === null ? null : shown.url).toBe(expected);
  });
});
