import type { Registry } from 'prom-client';

import type { NodeSample } from '../../calls/nodes/nodeReport.ts';

interface MetricValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string;
}
type Matches = (labels: MetricValue['labels']) => boolean;

const all: Matches = () => true;

/** Takes samples of a node from its Prometheus metrics: gauges as they are, counters by what they grew since the last. */
export function createNodeSampler(registry: Registry, now: () => number): () => Promise<NodeSample> {
  const lastTotals = new Map<string, number>();
  let lastBuckets = new Map<number, number>();
  const growth = (name: string, total: number) => {
    const grown = total - (lastTotals.get(name) ?? 0);
    lastTotals.set(name, total);
    return grown;
  };
  return async () => {
    const values = async (name: string): Promise<readonly MetricValue[]> =>
      ((await registry.getSingleMetric(name)?.get())?.values ?? []) as readonly MetricValue[];
    const sum = async (name: string, matches = all) =>
      (await values(name)).reduce((total, { value, labels }) => total + (matches(labels) ? value : 0), 0);
    const grown = async (name: string, matches = all, as = name) => growth(as, await sum(name, matches));

    const latencies = (await values('callway_turn_latency_seconds')).filter(
      ({ labels }) => labels.stage === 'total',
    );
    const buckets = new Map(
      latencies.flatMap(({ labels: { le }, value }) =>
        le === undefined ? [] : [[Number(le), value] as const],
      ),
    );
    const bins = differences(buckets, lastBuckets);
    lastBuckets = buckets;
    const turns = bins.at(-1)?.count ?? 0;
    const delays = (await values('callway_node_delay_seconds')).map(({ value }) => value * 1000);
    const requests = await values('callway_http_request_duration_seconds');
    const failedRequests = requests
      .filter(({ metricName, labels }) => metricName?.endsWith('_count') && Number(labels.status) >= 500)
      .reduce((total, { value }) => total + value, 0);
    return {
      at: new Date(now()).toISOString(),
      calls: await sum('callway_calls_active'),
      sessions: await sum('callway_talks_active'),
      queuedJobs: await sum('callway_queue_jobs', ({ state }) => state === 'waiting'),
      delayMs: Math.round(Math.max(0, ...delays)),
      turns,
      turnLatencyMs: turns === 0 ? null : { p50: percentile(bins, 0.5), p95: percentile(bins, 0.95) },
      endedCalls: await grown('callway_calls_total'),
      failedCalls: await grown('callway_calls_total', ({ status }) => status === 'failed', 'failed calls'),
      providerErrors: await grown('callway_model_errors_total'),
      failedWebhooks: await grown('callway_webhook_deliveries_total', ({ result }) => result === 'failed'),
      serverErrors: growth('server errors', failedRequests),
    };
  };
}

interface Bin {
  readonly upToSeconds: number;
  /** Observations up to that, of this bin and those before. */
  readonly count: number;
}

/** Returns what a cumulative histogram grew by. */
function differences(
  buckets: ReadonlyMap<number, number>,
  before: ReadonlyMap<number, number>,
): readonly Bin[] {
  return [...buckets]
    .map(([upToSeconds, count]) => ({ upToSeconds, count: count - (before.get(upToSeconds) ?? 0) }))
    .toSorted((a, b) => a.upToSeconds - b.upToSeconds);
}

/** Returns a percentile in milliseconds, interpolated within its bin as Prometheus' `histogram_quantile` does. */
function percentile(bins: readonly Bin[], share: number): number {
  const rank = (bins.at(-1)?.count ?? 0) * share;
  const index = bins.findIndex(({ count }) => count >= rank);
  const [low, high] = [bins[index - 1], bins[index]];
  const from = low?.upToSeconds ?? 0;
  if (high === undefined || !Number.isFinite(high.upToSeconds)) return Math.round(from * 1000);
  const within = (rank - (low?.count ?? 0)) / Math.max(1, high.count - (low?.count ?? 0));
  return Math.round((from + (high.upToSeconds - from) * within) * 1000);
}
