import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';

import { createNodeSampler } from '../../../src/observability/metrics/nodeSampler.ts';

test('A node’s sample has the present load, and what happened since the sample before', async () => {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, labelNames: string[]) =>
    new Gauge({ name, help: name, labelNames, registers });
  const counter = (name: string, labelNames: string[]) =>
    new Counter({ name, help: name, labelNames, registers });
  const active = gauge('callway_calls_active', ['direction']);
  const delay = gauge('callway_node_delay_seconds', ['part']);
  const ended = counter('callway_calls_total', ['direction', 'status']);
  const errors = counter('callway_model_errors_total', ['model']);
  const requests = new Histogram({
    name: 'callway_http_request_duration_seconds',
    help: 'requests',
    labelNames: ['status'],
    registers,
  });
  const latency = new Histogram({
    name: 'callway_turn_latency_seconds',
    help: 'latency',
    labelNames: ['stage'],
    buckets: [0.5, 1, 2],
    registers,
  });
  const sample = createNodeSampler(registry, () => Date.UTC(2026, 0, 1));

  active.set({ direction: 'inbound' }, 2);
  active.set({ direction: 'outbound' }, 1);
  delay.set({ part: 'main' }, 0.012);
  delay.set({ part: 'rtp' }, 0.003);
  ended.inc({ direction: 'inbound', status: 'failed' }, 3);
  errors.inc({ model: 'chat' });
  requests.observe({ status: '200' }, 0.1);
  requests.observe({ status: '503' }, 0.1);
  for (const seconds of [0.6, 0.7, 0.8, 1.5]) latency.observe({ stage: 'total' }, seconds);
  latency.observe({ stage: 'answer' }, 9);

  expect(await sample()).toEqual({
    at: '2026-01-01T00:00:00.000Z',
    calls: 3,
    sessions: 0,
    queuedJobs: 0,
    delayMs: 12,
    turns: 4,
    // Two of three within (500, 1000]; 80 % of the one in (1000, 2000].
    turnLatencyMs: { p50: 833, p95: 1800 },
    endedCalls: 3,
    failedCalls: 3,
    providerErrors: 1,
    failedWebhooks: 0,
    serverErrors: 1,
  });

  ended.inc({ direction: 'inbound', status: 'completed' });
  expect(await sample()).toMatchObject({
    calls: 3,
    turns: 0,
    turnLatencyMs: null,
    endedCalls: 1,
    failedCalls: 0,
    providerErrors: 0,
    serverErrors: 0,
  });
});
