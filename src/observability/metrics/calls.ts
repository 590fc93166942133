import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { CallMetrics } from '../../calls/callMetrics.ts';
import { REJECTION_REASONS } from '../../calls/trunks/sipRejection.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import type { MediaReport } from '../../media/mediaSession.ts';

/** The buckets reach from a call in a local network to one that rings for a minute. */
const SETUP_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45, 90];
/** Up to the maximum of a jitter buffer. @see RFC 3550 section 6.4.1 */
const JITTER_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2];

/** Metrics of calls: number, outcome, setup time and audio quality. */
export function createCallMetrics(registry: Registry): CallMetrics {
  const registers = [registry];
  const active = new Gauge({
    name: 'callway_calls_active',
    help: 'Calls on this node, from the first INVITE to their end.',
    labelNames: ['direction'],
    registers,
  });
  const ended = new Counter({
    name: 'callway_calls_total',
    help: 'Calls that ended on this node.',
    labelNames: ['direction', 'status', 'end_reason'],
    registers,
  });
  const setUp = new Histogram({
    name: 'callway_call_setup_seconds',
    help: 'Time from one phase of a call’s setup to the next.',
    labelNames: ['phase'],
    buckets: SETUP_BUCKETS_SECONDS,
    registers,
  });
  const refused = new Counter({
    name: 'callway_calls_refused_total',
    help: 'Calls and transfers rejected by a project’s limits, and calls rejected by a trunk without a free channel or a node that is full, overloaded or stopping.',
    labelNames: ['reason'],
    registers,
  });
  const rejected = new Counter({
    name: 'callway_inbound_rejected_total',
    help: 'Inbound calls that were refused.',
    labelNames: ['reason'],
    registers,
  });
  // An alert on the increase of a counter does not see a counter that starts above 0.
  for (const reason of REJECTION_REASONS) rejected.inc({ reason }, 0);
  const meterAudio = audioOf(registers);
  for (const direction of ['inbound', 'outbound']) active.set({ direction }, 0);
  return {
    callStarted: (direction) => active.inc({ direction }),
    callRefused: (reason) => refused.inc({ reason }),
    inboundRejected: (reason, count) => rejected.inc({ reason }, count),
    setupPhase: (phase, seconds) => setUp.observe({ phase }, seconds),
    callEnded(direction, { status, endReason }, media) {
      active.dec({ direction });
      ended.inc({ direction, status, end_reason: endReason ?? 'none' });
      if (media) meterAudio(media);
    },
  };
}

function audioOf(registers: Registry[]): (report: MediaReport) => void {
  const packets = new Counter({
    name: 'callway_rtp_packets_total',
    help: 'RTP packets of ended calls.',
    labelNames: ['direction'],
    registers,
  });
  const lost = new Counter({
    name: 'callway_rtp_lost_packets_total',
    help: 'RTP packets of ended calls that were never played: lost, too late, or shed.',
    registers,
  });
  const jitter = new Histogram({
    name: 'callway_rtp_jitter_seconds',
    help: 'Interarrival jitter of each call, at its end.',
    buckets: JITTER_BUCKETS_SECONDS,
    registers,
  });
  const unheard = new Counter({
    name: 'callway_unheard_audio_seconds_total',
    help: 'Audio of callers in ended calls that arrived while their agent got none: its connection was broken or too slow.',
    registers,
  });
  return ({ quality: figures, packetsSent, counters }) => {
    unheard.inc(((counters?.callerFramesDropped ?? 0) * FRAME_MS) / 1000);
    packets.inc({ direction: 'sent' }, packetsSent);
    if (!figures) return;
    packets.inc({ direction: 'received' }, figures.packetsReceived);
    lost.inc(figures.packetsLost);
    if (figures.packetsReceived > 0) jitter.observe(figures.jitterMs / 1000);
  };
}
