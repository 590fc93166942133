import { expect, test } from 'vitest';
import type { Call } from '../../../src/calls/call.ts';
import type { CallMetrics } from '../../../src/calls/callMetrics.ts';
import { CallTelemetry } from '../../../src/calls/runner/callTelemetry.ts';
import { recordTraces } from '../../support/recordedTraces.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';
import { AT, makeCall } from '../support/makeCall.ts';

/** A call, what is logged, measured and told of it, and its spans; times are in ms since its order. */
function observed(change: Partial<Call>) {
  const startMs = Date.parse(AT);
  const clock = createSimulatedClock(startMs);
  const traces = recordTraces(() => clock.now());
  const [log, measured, told]: [unknown[][], unknown[][], unknown[][]] = [[], [], []];
  const call = makeCall({ startedAt: null, answeredAt: null, trunkId: null, ...change });
  const telemetry = new CallTelemetry(
    {
      tracer: traces.tracing,
      metrics: unused<CallMetrics>('metrics', {
        callStarted: (direction) => void measured.push(['started', direction]),
        setupPhase: (phase, seconds) => void measured.push([phase, seconds]),
        callEnded: (direction, { status }) => void measured.push(['ended', direction, status]),
      }),
      liveEvents: {
        publish: ({ type, data, ...of }) => {
          expect(of).toEqual({ projectId: 'project', sessionId: 'session', callId: 'call', release: null });
          told.push([type, data]);
        },
      },
      now: () => clock.now(),
      log: ({ callId, projectId, sessionId, direction, from, to, traceId, ...fields }, message) => {
        expect([callId, projectId, sessionId, direction]).toEqual([
          'call',
          'project',
          'session',
          call.direction,
        ]);
        expect([from, to, traceId]).toEqual(['+886*******89', '+886*******78', 'ab'.repeat(16)]);
        log.push([message, fields]);
      },
    },
    call,
  );
  const at = (ms: number) => new Date(startMs + ms).toISOString();
  const spans = () =>
    traces.spans.map(({ name, parent, startMs: from, endMs = Number.NaN }) => [
      name,
      parent,
      from - startMs,
      endMs - startMs,
    ]);
  return { clock, telemetry, log, measured, told, at, spans, traces };
}

const REPORT = { to: '+886223456789', mode: 'warm', by: 'second_leg', acceptedBy: 'digit' } as const;

test('An outbound call is logged, measured, told and traced from its order to its end', () => {
  const { clock, telemetry, log, measured, told, at, spans, traces } = observed({});
  clock.advance(1_000);
  telemetry.dialing('t1', 'sip-1');
  clock.advance(500);
  telemetry.dialing('t2', 'sip-2');
  clock.advance(500);
  telemetry.ringing();
  clock.advance(2_000);
  telemetry.answered();
  clock.advance(250);
  telemetry.agentAudio();
  telemetry.agentAudio();
  telemetry.held(true);
  telemetry.held(false);
  telemetry.transfer({ ...REPORT, status: 'started' }, false);
  telemetry.transfer({ ...REPORT, status: 'briefing' }, false);
  telemetry.transfer({ ...REPORT, status: 'accepted' }, false);
  telemetry.transfer({ ...REPORT, status: 'joined' }, true);
  clock.advance(1_000);
  telemetry.ended({ status: 'completed', endReason: 'caller_hangup', sip: null, q850Cause: null }, at(5_000));

  const ended = { status: 'completed', endReason: 'caller_hangup', durationMs: 1_000, transfer: 'done' };
  expect(log).toEqual([
    ['call dialing', { trunkId: 't1', sipCallId: 'sip-1' }],
    ['call dialing', { trunkId: 't2', sipCallId: 'sip-2' }],
    ['call answered', { trunkId: 't2', sipCallId: 'sip-2' }],
    ['call transferred', { target: '+886*******89', mode: 'warm', by: 'second_leg' }],
    ['call ended', ended],
  ]);
  expect(measured).toEqual([
    ['started', 'outbound'],
    ['accepted_to_invite', 1],
    ['invite_to_answer', 3],
    ['answer_to_audio', 0.25],
    ['ended', 'outbound', 'completed'],
  ]);
  const call = {
    direction: 'outbound',
    fromNumber: '+886223456789',
    toNumber: '+886912345678',
    trunkId: 't2',
  };
  const { to, mode } = REPORT;
  expect(told).toEqual([
    ...['ringing', 'answered', 'held', 'resumed'].map((what) => [`call.${what}`, call]),
    ['transfer.started', { to, mode }],
    ['transfer.accepted', { to, by: 'digit' }],
    ['transfer.joined', { to, mode }],
  ]);
  expect(spans()).toEqual([
    ['call', undefined, 0, 5_000],
    ['queued', 'call', 0, 1_000],
    ['dial', 'call', 1_000, 1_500],
    ['dial', 'call', 1_500, 4_000],
    ['talk', 'call', 4_000, 5_000],
  ]);
  const [whole, , , dial] = traces.spans;
  const ids = { 'callway.call.id': 'call', 'callway.project.id': 'project', 'session.id': 'session' };
  expect(whole?.attributes).toEqual({
    ...ids,
    'callway.call.direction': 'outbound',
    'callway.call.status': 'completed',
    'callway.call.end_reason': 'caller_hangup',
  });
  expect(dial?.attributes).toEqual({
    ...ids,
    'callway.trunk.id': 't2',
    'callway.sip.call_id': 'sip-2',
    'callway.ringing_after_ms': 2_000,
  });
  expect(whole?.failure).toBeUndefined();
});

test('An inbound call that fails before its answer has no talk time, and its span the failure', () => {
  const { clock, telemetry, log, measured, at, spans, traces } = observed({
    direction: 'inbound',
    startedAt: AT,
  });
  clock.advance(300);
  telemetry.transfer({ ...REPORT, status: 'failed', outcome: 'busy', reason: 'they talk' }, true);
  telemetry.ended(
    { status: 'failed', endReason: 'trunk_error', sip: { code: 503, reason: 'No' }, q850Cause: null },
    at(300),
  );
  const why = { outcome: 'busy', reason: 'they talk' };
  expect(log).toEqual([
    ['transfer failed', { target: '+886*******89', mode: 'warm', by: 'second_leg', ...why }],
    [
      'call ended',
      { status: 'failed', endReason: 'trunk_error', durationMs: 0, transfer: 'failed', sipCode: 503 },
    ],
  ]);
  expect(measured).toEqual([
    ['started', 'inbound'],
    ['ended', 'inbound', 'failed'],
  ]);
  expect(spans()).toEqual([
    ['call', undefined, 0, 300],
    ['ring', 'call', 0, 300],
  ]);
  expect(traces.spans[0]?.failure).toEqual(new Error('trunk_error'));
  expect(traces.spans[0]?.attributes).toMatchObject({ 'callway.sip.status_code': 503 });
});

test('An inbound call is measured from its INVITE to its answer, and its queue not at all', () => {
  const { clock, telemetry, measured } = observed({ direction: 'inbound', startedAt: AT });
  clock.advance(700);
  telemetry.answered();
  expect(measured).toEqual([
    ['started', 'inbound'],
    ['invite_to_answer', 0.7],
  ]);
});
