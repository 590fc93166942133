import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { NodeCapacity } from '../../../src/calls/limits/nodeCapacity.ts';
import type { OverloadMonitor } from '../../../src/calls/limits/overloadMonitor.ts';
import type { MediaCounters } from '../../../src/media/mediaSession.ts';
import { createCallMetrics } from '../../../src/observability/metrics/calls.ts';
import { registerCallLoadMetrics, registerNodeMetrics } from '../../../src/observability/metrics/node.ts';
import { renderPlayoutDelay } from '../../../src/observability/metrics/playout.ts';
import { createSessionMetrics } from '../../../src/observability/metrics/sessions.ts';
import { renderSipServerMetrics } from '../../../src/observability/metrics/sip.ts';
import { withTrunkMetrics } from '../../../src/observability/metrics/trunkHealth.ts';
import { unused } from '../../support/unused.ts';

/** The samples of a registry, by name and labels. */
async function samplesOf(registry: Registry): Promise<Record<string, number>> {
  return read(await registry.metrics());
}
function read(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

const NO_COUNTERS: MediaCounters = {
  packetsDue: 0,
  malformedPackets: 0,
  failedPackets: 0,
  unauthenticPackets: 0,
  unknownPayloadTypes: 0,
  foreignSourcePackets: 0,
  floodedPackets: 0,
  malformedRtcpPackets: 0,
  socketFailures: 0,
  callerFramesDropped: 0,
  agentSamplesDropped: 0,
  playoutUnderruns: 0,
};
const NOTHING = { sip: null, q850Cause: null };

test('Ended calls are counted by outcome, together with their audio', async () => {
  const registry = new Registry();
  const meter = createCallMetrics(registry);
  meter.callStarted('outbound');
  meter.callStarted('outbound');
  meter.callStarted('inbound');
  meter.setupPhase('invite_to_answer', 3);
  meter.callEnded('outbound', { status: 'busy', endReason: null, ...NOTHING }, undefined);
  meter.callEnded(
    'inbound',
    { status: 'completed', endReason: 'caller_hangup', ...NOTHING },
    {
      packetsSent: 100,
      quality: {
        ...{ codec: 'PCMU', packetsReceived: 90, packetsLost: 10, shed: 0, concealedMs: 200, underruns: 0 },
        ...{ jitterMs: 12, jitterBufferMs: 40, mos: 4 },
      },
      counters: { ...NO_COUNTERS, callerFramesDropped: 100 },
    },
  );
  expect(await samplesOf(registry)).toMatchObject({
    'callway_calls_active{direction="outbound"}': 1,
    'callway_calls_active{direction="inbound"}': 0,
    'callway_calls_total{direction="outbound",status="busy",end_reason="none"}': 1,
    'callway_calls_total{direction="inbound",status="completed",end_reason="caller_hangup"}': 1,
    'callway_call_setup_seconds_bucket{le="2.5",phase="invite_to_answer"}': 0,
    'callway_call_setup_seconds_bucket{le="5",phase="invite_to_answer"}': 1,
    'callway_rtp_packets_total{direction="sent"}': 100,
    'callway_rtp_packets_total{direction="received"}': 90,
    callway_rtp_lost_packets_total: 10,
    callway_unheard_audio_seconds_total: 2,
    'callway_rtp_jitter_seconds_bucket{le="0.01"}': 0,
    'callway_rtp_jitter_seconds_bucket{le="0.02"}': 1,
  });
});

test('A turn is counted by stage in seconds; a turn without an answer is not', async () => {
  const registry = new Registry();
  const meter = createSessionMetrics(registry);
  const latencyParts = {
    bufferMs: 60,
    endpointingMs: 500,
    transcriptionMs: 40,
    answerMs: 300,
    speechMs: 80,
    playoutMs: 20,
  };
  meter.turn({ kind: 'user_message', interrupted: true, latencyMs: 1000, latencyParts });
  meter.turn({ kind: 'begin', interrupted: false });
  const watch = meter.providerMetrics('speech', 'openai');
  watch.recordError({ code: 'model_unavailable', message: 'away' });
  watch.recordFirstOutput(250);
  meter.webhookSent('call.ended', true);
  meter.webhookSent('call.ended', false);
  meter.utterance('without_words');
  const samples = await samplesOf(registry);
  const sums = Object.entries(samples).filter(([name]) =>
    name.startsWith('callway_turn_latency_seconds_sum'),
  );
  expect(Object.fromEntries(sums)).toEqual({
    'callway_turn_latency_seconds_sum{stage="total"}': 1,
    'callway_turn_latency_seconds_sum{stage="buffer"}': 0.06,
    'callway_turn_latency_seconds_sum{stage="endpointing"}': 0.5,
    'callway_turn_latency_seconds_sum{stage="transcription"}': 0.04,
    'callway_turn_latency_seconds_sum{stage="answer"}': 0.3,
    'callway_turn_latency_seconds_sum{stage="speech"}': 0.08,
    'callway_turn_latency_seconds_sum{stage="playout"}': 0.02,
  });
  expect(samples).toMatchObject({
    'callway_utterances_total{result="without_words"}': 1,
    'callway_utterances_total{result="with_words"}': 0,
    'callway_turn_latency_seconds_count{stage="total"}': 1,
    callway_barge_ins_total: 1,
    'callway_model_errors_total{model="speech",provider="openai",code="model_unavailable"}': 1,
    'callway_model_seconds_sum{model="speech",provider="openai"}': 0.25,
    'callway_webhook_deliveries_total{event="call.ended",result="delivered"}': 1,
    'callway_webhook_deliveries_total{event="call.ended",result="failed"}': 1,
  });
});

describe('A node', () => {
  test('shows current values and leaves out those of a failed source', async () => {
    const registry = new Registry();
    const capacity = new NodeCapacity(3);
    let isRedisDown = false;
    registerNodeMetrics(registry, {
      async queues() {
        if (isRedisDown) throw new Error('away');
        return new Map([['calls', { waiting: 4, delayed: 2, active: 1 }]]);
      },
      sessions: () => 7,
      overload: unused<OverloadMonitor>('overload', {
        parts: new Map([['main', { isLate: true, streak: 0, delayMs: 250 }]]),
      }),
    });
    registerCallLoadMetrics(registry, {
      capacity,
      mediaSessions: () => 5,
      ports: { used: () => 10, limit: 100 },
    });
    capacity.acquire('call');
    expect(await samplesOf(registry)).toEqual({
      'callway_queue_jobs{queue="calls",state="waiting"}': 4,
      'callway_queue_jobs{queue="calls",state="delayed"}': 2,
      'callway_queue_jobs{queue="calls",state="active"}': 1,
      callway_talks_active: 7,
      'callway_node_delay_seconds{part="main"}': 0.25,
      'callway_node_overloaded{part="main"}': 1,
      callway_call_places_used: 1,
      callway_call_places_limit: 3,
      callway_media_sessions_active: 5,
      callway_media_ports_used: 10,
      callway_media_ports_limit: 100,
    });
    isRedisDown = true;
    const samples = await samplesOf(registry);
    expect(Object.keys(samples).filter((name) => name.includes('queue'))).toEqual([]);
    expect(samples.callway_talks_active).toBe(7);
  });

  test('of a node without calls shows no call metrics', async () => {
    const registry = new Registry();
    const overload = unused<OverloadMonitor>('overload', { parts: new Map() });
    registerNodeMetrics(registry, { queues: async () => new Map(), sessions: () => 0, overload });
    expect(await samplesOf(registry)).toEqual({ callway_talks_active: 0 });
  });
});

test('Trunk gauges show the published health until another node monitors the trunk', async () => {
  const registry = new Registry();
  let nowMs = 0;
  const published: unknown[] = [];
  const board = withTrunkMetrics(
    registry,
    { publish: async (id) => void published.push(id), read: async () => new Map() },
    () => nowMs,
  );
  const health = { lastOptionsMs: null, error: null, serviceRoute: [] };
  await board.publish('a', { ...health, reachable: true, registered: false });
  nowMs = 50_000;
  await board.publish('b', { ...health, reachable: false, registered: null });
  expect(published).toEqual(['a', 'b']);
  expect(await samplesOf(registry)).toEqual({
    'callway_trunk_reachable{trunk="a"}': 1,
    'callway_trunk_reachable{trunk="b"}': 0,
    'callway_trunk_registered{trunk="a"}': 0,
  });
  nowMs = 60_001;
  expect(await samplesOf(registry)).toEqual({ 'callway_trunk_reachable{trunk="b"}': 0 });
});

test('The threads’ playout delays are one histogram with cumulative buckets', () => {
  const counts = new Float64Array(401);
  counts[0] = 10; // up to 0.25 ms
  counts[7] = 5; // up to 2 ms
  counts[8] = 1; // up to 2.25 ms
  const last = new Float64Array(401);
  last[400] = 2; // later than 100 ms
  const samples = read(renderPlayoutDelay([counts, last]));
  const name = 'callway_playout_lateness_seconds';
  expect(samples).toMatchObject({
    [`${name}_bucket{le="0.0005"}`]: 10,
    [`${name}_bucket{le="0.001"}`]: 10,
    [`${name}_bucket{le="0.002"}`]: 15,
    [`${name}_bucket{le="0.004"}`]: 16,
    [`${name}_bucket{le="0.1"}`]: 16,
    [`${name}_bucket{le="+Inf"}`]: 18,
    [`${name}_count`]: 18,
  });
  expect(samples[`${name}_sum`]).toBeCloseTo(10 * 0.000125 + 5 * 0.001875 + 0.002125 + 2 * 0.100125, 9);
  expect(renderPlayoutDelay([])).toBe('');
});

test('SIP server counters are shown by their own names', () => {
  const text = renderSipServerMetrics({
    'now.dialogs': 2,
    'messages.in': 7,
    'dropped.rate': 3,
    'answered.482': 1,
  });
  expect(read(text)).toEqual({
    'callway_sip_messages_total{direction="in"}': 7,
    'callway_sip_events_total{event="answered.482"}': 1,
    'callway_sip_events_total{event="dropped.rate"}': 3,
    // An alert needs the counter before its first event.
    'callway_sip_events_total{event="answered.603"}': 0,
    'callway_sip_events_total{event="refused.flood"}': 0,
    'callway_sip_events_total{event="sources.banned"}': 0,
    'callway_sip_open{what="dialogs"}': 2,
  });
  expect(renderSipServerMetrics(undefined)).toBe('');
});
