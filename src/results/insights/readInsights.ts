import type { SessionFilter } from '../../engine/history/sessionFilter.ts';
import { LATENCY_BUCKETS, percentile, STAY_BUCKETS } from './histogram.ts';
import type { InsightQuery, InsightStore, JudgementPoint, LatencyPoint, SumPoint } from './insightStore.ts';
import { GROUPED_METRICS, SUM_METRICS, type SumMetric, type SumMetricName } from './metrics.ts';
import { LATENCY_PARTS, type LatencyPart } from './sessionFacts.ts';

type GroupedMetricName = keyof typeof GROUPED_METRICS;
export type MetricName = SumMetricName | GroupedMetricName | 'latency' | 'latencyP95' | 'judgeAgreement';
export const METRIC_NAMES = [
  ...Object.keys(SUM_METRICS),
  ...Object.keys(GROUPED_METRICS),
  'latency',
  'latencyP95',
  'judgeAgreement',
] as readonly MetricName[];

interface InsightFigure {
  readonly value?: number | null;
  readonly p50?: number | null;
  readonly p95?: number | null;
  readonly n: number;
  readonly kappa?: number | null;
  /** Only a cost has it. */
  readonly currency?: string | undefined;
}

interface InsightSeries {
  /** The group, of a latency the part, of an agreement the criterion; null for sessions without the dimension, and where nothing is grouped. */
  readonly key: string | null;
  /** It sums up the groups that have no series of their own. */
  readonly isOther?: true;
  /** Only a cost has it. Amounts in another currency are another series. */
  readonly currency?: string | undefined;
  /** In order of time; a time with nothing to count has none. */
  readonly points: (InsightFigure & { readonly at: string })[];
}

export interface Insights {
  readonly series: InsightSeries[];
  /** A cost is in the currency of most sessions; `others` has the sums in other currencies. */
  readonly total: InsightFigure & { readonly others?: InsightFigure[] | undefined };
}

export interface InsightRequest extends InsightQuery {
  readonly metric: MetricName;
  /** The part of a latency. Default: all of them, or the whole where something groups. */
  readonly part?: LatencyPart | undefined;
}

/** Answers a question about the ended sessions of a project. */
export function readInsights(
  store: InsightStore,
  projectId: string,
  { metric, part, ...query }: InsightRequest,
): Promise<Insights> {
  if (metric === 'latencyP95') return readLatencies(store, projectId, query, part ?? 'total', p95Of);
  if (metric === 'latency') {
    const wanted = part ?? (query.groupBy === undefined ? undefined : 'total');
    return readLatencies(store, projectId, query, wanted, percentilesOf);
  }
  if (metric === 'judgeAgreement') return readJudgements(store, projectId, query);
  return isGrouped(metric)
    ? readSums(store, projectId, 'sessions', { ...query, groupBy: GROUPED_METRICS[metric] })
    : readSums(store, projectId, metric, query);
}

export function isGrouped(metric: MetricName): metric is GroupedMetricName {
  return metric in GROUPED_METRICS;
}

async function readSums(
  store: InsightStore,
  projectId: string,
  metric: SumMetricName,
  query: InsightQuery,
): Promise<Insights> {
  const points = (await store.sums(projectId, metric, query)).filter(({ n }) => n > 0);
  const figure = (those: readonly SumPoint[]) => figureOf(SUM_METRICS[metric], those);
  const currencies = [...new Set(points.map(({ currency }) => currency ?? undefined))];
  const byCurrency = currencies
    .map((currency) => ({
      currency,
      those: points.filter((point) => (point.currency ?? undefined) === currency),
    }))
    .sort((a, b) => figure(b.those).n - figure(a.those).n);
  const [total = figure([]), ...others] = byCurrency.map(({ currency, those }) => ({
    ...figure(those),
    currency,
  }));
  return {
    series: byCurrency.flatMap(({ currency, those }) =>
      seriesOf(those, figure, ({ key }) => key).map((series) => ({ ...series, currency })),
    ),
    total: { ...total, others: others.length > 0 ? others : undefined },
  };
}

function figureOf({ kind, unit = 1 }: SumMetric, points: readonly SumPoint[]): InsightFigure {
  const amount = points.reduce((sum, point) => sum + point.amount, 0) / unit;
  const n = points.reduce((sum, point) => sum + point.n, 0);
  if (kind === 'sum') return { value: amount, n };
  return { value: n === 0 ? null : amount / n, n };
}

async function readJudgements(
  store: InsightStore,
  projectId: string,
  query: InsightQuery,
): Promise<Insights> {
  const points = await store.judgements(projectId, query);
  return { series: seriesOf(points, agreementOf, ({ key }) => key), total: agreementOf(points) };
}

/** Returns the share of equal verdicts, and Cohen's kappa, which leaves out agreement by chance. */
function agreementOf(points: readonly JudgementPoint[]): InsightFigure {
  const sum = (name: 'judged' | 'agreed' | 'judgeMet' | 'personMet') =>
    points.reduce((total, point) => total + point[name], 0);
  const [n, judgeMet, personMet] = [sum('judged'), sum('judgeMet'), sum('personMet')];
  if (n === 0) return { value: null, n, kappa: null };
  const value = sum('agreed') / n;
  const byChance = (judgeMet * personMet + (n - judgeMet) * (n - personMet)) / n ** 2;
  return { value, n, kappa: byChance === 1 ? null : (value - byChance) / (1 - byChance) };
}

async function readLatencies(
  store: InsightStore,
  projectId: string,
  query: InsightQuery,
  part: LatencyPart | undefined,
  figure: (points: readonly LatencyPoint[]) => InsightFigure,
): Promise<Insights> {
  const points = await store.latencies(projectId, part ? [part] : LATENCY_PARTS, query);
  const key = (point: LatencyPoint) => (part ? point.key : point.part);
  const whole = part ? points : points.filter((point) => point.part === 'total');
  const series = seriesOf(points, figure, key);
  if (!part) series.sort((a, b) => placeOf(a.key) - placeOf(b.key));
  return { series, total: figure(whole) };
}

const placeOf = (part: string | null) => (LATENCY_PARTS as readonly (string | null)[]).indexOf(part);

function percentilesOf(points: readonly LatencyPoint[]): InsightFigure {
  const buckets = bucketsOf(points);
  const at = (share: number) => percentile(buckets, share, LATENCY_BUCKETS);
  return { p50: at(0.5), p95: at(0.95), n: turnsOf(points) };
}

function p95Of(points: readonly LatencyPoint[]): InsightFigure {
  return { value: percentile(bucketsOf(points), 0.95, LATENCY_BUCKETS), n: turnsOf(points) };
}

const turnsOf = (points: readonly LatencyPoint[]) => points.reduce((sum, { turns }) => sum + turns, 0);

function bucketsOf(points: readonly LatencyPoint[]): number[] {
  const sums = Array.from({ length: LATENCY_BUCKETS.count }, () => 0);
  for (const { buckets } of points)
    for (const [bucket, count] of buckets.entries()) sums[bucket] = (sums[bucket] ?? 0) + count;
  return sums;
}

/** Sorts the series by size; the one that sums up the rest is last. */
function seriesOf<Point extends { readonly at: string; readonly isRest: boolean }>(
  points: readonly Point[],
  figure: (points: readonly Point[]) => InsightFigure,
  keyOf: (point: Point) => string | null,
): InsightSeries[] {
  const groups = new Map<string | null, Point[]>();
  for (const point of points) {
    if (point.isRest) continue;
    const group = groups.get(keyOf(point));
    if (group) group.push(point);
    else groups.set(keyOf(point), [point]);
  }
  const shown = (those: readonly Point[]) => those.map((point) => ({ at: point.at, ...figure([point]) }));
  const rest = points.filter(({ isRest }) => isRest);
  const bySize = [...groups].map(([key, those]) => ({ key, those, n: figure(those).n }));
  return [
    ...bySize.sort((a, b) => b.n - a.n).map(({ key, those }) => ({ key, points: shown(those) })),
    ...(rest.length > 0 ? [{ key: 'other', isOther: true as const, points: shown(rest) }] : []),
  ];
}

export interface FunnelRequest {
  readonly from: string;
  readonly to: string;
  readonly filter: SessionFilter;
}

/** Returns the way of the sessions through the pathway; the nodes that were entered most first. */
export async function readFunnel(store: InsightStore, projectId: string, request: FunnelRequest) {
  const nodes = await store.funnel(projectId, request);
  return nodes.map(({ buckets, edges, ...node }) => {
    const medianMs = percentile(buckets, 0.5, STAY_BUCKETS);
    return { ...node, medianSeconds: medianMs === null ? null : medianMs / 1000, edges: [...edges] };
  });
}
