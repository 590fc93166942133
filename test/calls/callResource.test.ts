import { describe, expect, test } from 'vitest';
import { callResource, toCallResource } from '../../src/calls/callResource.ts';
import { callReport } from '../../src/webhooks/callReport.ts';
import { webhookCallSchema, webhookRecordingSchema } from '../../src/webhooks/events.ts';
import { later, makeCall } from './support/makeCall.ts';

const recordings = { url: (key: string) => `https://callway.example/${key}` };
const READY = { status: 'ready', key: 'a.wav', durationMs: 6900.4, error: null } as const;
const UUIDS = {
  id: '0197a000-0000-7000-8000-000000000001',
  trunkId: '0197a000-0000-7000-8000-000000000002',
};
const over = (change = {}) =>
  makeCall({ ...UUIDS, status: 'completed', endReason: 'agent_hangup', endedAt: later(9), ...change });

describe('a call as it is shown', () => {
  test('is as its schema says, with figures, latency and the recording’s address', () => {
    const figures = {
      codec: 'G722',
      packetsReceived: 9,
      packetsLost: 1,
      jitterMs: 2.5,
      mos: undefined,
    } as const;
    const shown = toCallResource(over({ recording: READY, figures }), { p50: 400, p95: 900 }, recordings);
    expect(callResource.parse(shown)).toEqual(shown);
    expect(shown).toMatchObject({
      durationMs: 7000,
      mediaFigures: { codec: 'G722', packetsReceived: 9, packetsLost: 1, jitterMs: 2.5, mos: null },
      turnLatencyMs: { p50: 400, p95: 900 },
      recording: { status: 'ready', durationMs: 6900.4, url: 'https://callway.example/a.wav' },
    });
    expect(JSON.stringify(shown)).not.toContain('nodeId');
  });

  test.each([
    ['not over', makeCall(UUIDS), null],
    ['never answered', over({ status: 'busy', answeredAt: null }), 0],
    ['answered', over(), 7000],
  ])('lasts as long as both sides spoke: %s', (_what, call, durationMs) => {
    expect(toCallResource(call, undefined, recordings)).toMatchObject({
      durationMs,
      turnLatencyMs: { p50: null, p95: null },
    });
  });

  test.each([
    ['none', null, null],
    ['one that is being written', { ...READY, status: 'recording' as const, durationMs: null }, undefined],
    ['one that failed', { ...READY, status: 'failed' as const, error: 'disk full' }, undefined],
  ])('shows no address of a recording that cannot be fetched: %s', (_what, recording, expected) => {
    const shown = toCallResource(over({ recording }), undefined, recordings).recording;
    expect(shown === null ? null : shown.url).toBe(expected);
  });
});

describe('a call as webhooks tell of it', () => {
  test('has its recording and its address once it is stored', () => {
    const report = callReport(over({ recording: READY, sip: { code: 200, reason: 'OK' } }), recordings);
    expect(report).toEqual({
      call: {
        callId: UUIDS.id,
        direction: 'outbound',
        fromNumber: '+886223456789',
        toNumber: '+886912345678',
        status: 'completed',
        durationMs: 7000,
        sip: { code: 200, reason: 'OK' },
      },
      endReason: 'agent_hangup',
      recording: { status: 'ready', durationMs: 6900 },
      recordingUrl: 'https://callway.example/a.wav',
    });
    expect(webhookCallSchema.parse(report.call)).toEqual(report.call);
    if ('recording' in report)
      expect(webhookRecordingSchema.parse(report.recording)).toEqual(report.recording);
  });

  test('tells of a recording that failed, and of none that is still being stored', () => {
    const failed = { status: 'failed', key: null, durationMs: null, error: 'disk full' } as const;
    expect(callReport(over({ recording: failed }), recordings)).toMatchObject({
      recording: { status: 'failed', error: 'disk full' },
    });
    const storing = callReport(over({ recording: { ...READY, status: 'recording' } }), recordings);
    expect(Object.keys(storing)).toEqual(['call', 'endReason']);
    expect(Object.keys(callReport(makeCall(), recordings))).toEqual(['call']);
  });
});
