import { Counter, Histogram, type Registry } from 'prom-client';
import type { SpokenTurn } from '../../conversation/turns/turnLatency.ts';
import type { LatencyDurations } from '../../engine/session/session.ts';
import type { MetricsOfProvider } from '../../models/ports/metrics.ts';
import type { UtteranceResult } from '../../voice/recognition/heardSpeech.ts';

/** The buckets reach from an unnoticeable delay to a line that seems dead. */
const TURN_BUCKETS_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];

const STAGES: Readonly<Record<keyof LatencyDurations, string>> = {
  bufferMs: 'buffer',
  endpointingMs: 'endpointing',
  transcriptionMs: 'transcription',
  answerMs: 'answer',
  speechMs: 'speech',
  playoutMs: 'playout',
};

export interface SessionMetrics {
  turn(turn: SpokenTurn): void;
  utterance(result: UtteranceResult): void;
  readonly providerMetrics: MetricsOfProvider;
  webhookSent(event: string, ok: boolean): void;
}

/** Metrics of turns, providers and webhooks. */
export function createSessionMetrics(registry: Registry): SessionMetrics {
  const registers = [registry];
  const latency = new Histogram({
    name: 'callway_turn_latency_seconds',
    help: 'From the caller’s last voiced packet to the agent’s first; stage total, and the parts that add up to it.',
    labelNames: ['stage'],
    buckets: TURN_BUCKETS_SECONDS,
    registers,
  });
  const bargeIns = new Counter({
    name: 'callway_barge_ins_total',
    help: 'Agent turns that the caller interrupted.',
    registers,
  });
  const utterances = new Counter({
    name: 'callway_utterances_total',
    help: 'What callers said, by what became of it: with_words, without_words, late (no transcript in time) or dropped (no speech, or not listened to).',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['with_words', 'without_words', 'late', 'dropped'] satisfies UtteranceResult[])
    utterances.inc({ result }, 0);
  const modelErrors = new Counter({
    name: 'callway_model_errors_total',
    help: 'Provider errors by kind of model.',
    labelNames: ['model', 'provider', 'code'],
    registers,
  });
  const modelAnswers = new Histogram({
    name: 'callway_model_seconds',
    help: 'Time to the first part of a provider’s response: token, audio sample or transcript.',
    labelNames: ['model', 'provider'],
    buckets: TURN_BUCKETS_SECONDS,
    registers,
  });
  const webhooks = new Counter({
    name: 'callway_webhook_deliveries_total',
    help: 'Webhook deliveries by result.',
    labelNames: ['event', 'result'],
    registers,
  });
  return {
    turn({ interrupted, latencyMs, latencyParts }) {
      if (interrupted) bargeIns.inc();
      if (latencyMs === undefined || latencyParts === undefined) return;
      latency.observe({ stage: 'total' }, latencyMs / 1000);
      for (const [part, stage] of Object.entries(STAGES) as [keyof LatencyDurations, string][])
        latency.observe({ stage }, latencyParts[part] / 1000);
    },
    utterance: (result) => utterances.inc({ result }),
    providerMetrics: (model, provider) => ({
      recordError: ({ code }) => modelErrors.inc({ model, provider, code }),
      recordFirstOutput: (waitedMs) => modelAnswers.observe({ model, provider }, waitedMs / 1000),
      recordOutput: () => undefined,
    }),
    webhookSent: (event, ok) => webhooks.inc({ event, result: ok ? 'delivered' : 'failed' }),
  };
}
