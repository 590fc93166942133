import { describe, expect, test } from 'vitest';
import type { CallRecordings } from '../../src/calls/recording/callRecordings.ts';
import { callReport } from '../../src/webhooks/callReport.ts';
import { webhookCallSchema, webhookRecordingSchema } from '../../src/webhooks/events.ts';
import { later, makeCall } from '../calls/support/makeCall.ts';
import { unused } from '../support/unused.ts';

const recordings = unused<CallRecordings>('recordings', { url: (key) => `https://callway.example/${key}` });
const READY = { status: 'ready', key: 'a.wav', durationMs: 6900.4, error: null } as const;
const CALL_ID = '0197a000-0000-7000-8000-000000000001';
const ended = (change = {}) =>
  makeCall({ id: CALL_ID, status: 'completed', endReason: 'agent_hangup', endedAt: later(9), ...change });

describe('callReport', () => {
  test('has the recording and its URL once it is stored', () => {
    const { settings } = makeCall();
    const call = ended({
      recording: READY,
      sip: { code: 200, reason: 'OK' },
      answeringMachine: 'machine',
      metadata: { order: 7 },
      externalId: 'order-7',
      campaignId: 'campaign',
      contactId: 'contact',
      disclosures: [{ id: 'recorded', withinSeconds: 9, machines: true }],
      settings: { ...settings, dynamicVariables: { name: 'Ada' } },
    });
    const report = callReport(call, recordings);
    expect(report).toEqual({
      call: {
        callId: CALL_ID,
        direction: 'outbound',
        fromNumber: '+886223456789',
        toNumber: '+886912345678',
        status: 'completed',
        endReason: 'agent_hangup',
        durationMs: 7000,
        sip: { code: 200, reason: 'OK' },
        answeringMachine: 'machine',
        metadata: { order: 7 },
        externalId: 'order-7',
        campaignId: 'campaign',
        contactId: 'contact',
        violations: [{ kind: 'disclosure', id: 'recorded' }],
        dynamicVariables: { name: 'Ada' },
      },
      endReason: 'agent_hangup',
      recording: { status: 'ready', durationMs: 6900 },
      recordingUrl: 'https://callway.example/a.wav',
    });
    expect(webhookCallSchema.parse(report.call)).toEqual(report.call);
    expect(webhookRecordingSchema.parse(report.recording)).toEqual(report.recording);
  });

  test('reports a failed recording, and none that is still being stored', () => {
    const failed = { status: 'failed', key: null, durationMs: null, error: 'disk full' } as const;
    expect(callReport(ended({ recording: failed }), recordings)).toMatchObject({
      recording: { status: 'failed', error: 'disk full' },
    });
    const storing = callReport(ended({ recording: { ...READY, status: 'recording' } }), recordings);
    expect(storing).toEqual({ call: expect.anything(), endReason: expect.any(String) });
    expect(callReport(makeCall(), recordings)).toEqual({ call: expect.anything() });
  });
});
