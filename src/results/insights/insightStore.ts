import type { SessionFilter } from '../../engine/history/sessionFilter.ts';
import type { ArmRow } from '../rollouts/armSums.ts';
import type { FigureMetric, SumMetricName } from './metrics.ts';
import type { Dimension, LatencyPart } from './sessionFacts.ts';

export type Interval = 'hour' | 'day' | 'week';

export interface InsightQuery {
  /** ISO 8601. Whole hours are counted, those in which `from` and `to` lie included, by when sessions began. */
  readonly from: string;
  readonly to: string;
  readonly interval: Interval;
  readonly groupBy: Dimension | undefined;
  readonly filter: SessionFilter;
}

/** Sums of one group over one interval. */
export interface SumPoint {
  readonly at: string;
  /** Null for sessions without the dimension, and where nothing is grouped. */
  readonly key: string | null;
  /** Whether it sums up the groups beyond {@link MAX_SERIES}. */
  readonly isRest: boolean;
  /** Only points of the cost have it; null where no session has a cost. */
  readonly currency?: string | null;
  readonly amount: number;
  readonly n: number;
}

export interface LatencyPoint {
  readonly at: string;
  readonly key: string | null;
  readonly isRest: boolean;
  readonly part: LatencyPart;
  readonly turns: number;
  /** Turns by bucket of LATENCY_BUCKETS. */
  readonly buckets: readonly number[];
}

/** Verdicts on a criterion over one interval. */
export interface JudgementPoint {
  readonly at: string;
  readonly key: string;
  readonly isRest: false;
  /** How many the judge and a person gave. */
  readonly judged: number;
  readonly agreed: number;
  /** How often the criterion is met as the judge says, and as the person does. */
  readonly judgeMet: number;
  readonly personMet: number;
}

/** The groups with the most sessions have series of their own. */
export const MAX_SERIES = 20;

export interface FunnelNode {
  readonly nodeId: string;
  readonly title: string | null;
  readonly entered: number;
  readonly ended: number;
  /** Stays by bucket of STAY_BUCKETS. */
  readonly buckets: readonly number[];
  readonly edges: readonly { readonly edgeId: string; readonly to: string; readonly taken: number }[];
}

/** One figure of the sessions in a window of time. */
export interface Figure {
  /** Null where n is 0. */
  readonly value: number | null;
  readonly n: number;
}

export interface FigureQuery {
  readonly metric: FigureMetric;
  readonly filter: SessionFilter;
  /** When they ended: exact, ISO 8601; `to` is not part of it. */
  readonly from: string;
  readonly to: string;
}

export type FunnelQuery = Pick<InsightQuery, 'from' | 'to' | 'filter'>;

/** Answers all questions about ended sessions in numbers, which are at most 60 s old. */
export interface InsightStore {
  sums(projectId: string, metric: SumMetricName, query: InsightQuery): Promise<readonly SumPoint[]>;
  /**
   * Turns by latency: by part, or grouped or filtered by an outcome as a whole only.
   *
   * @param parts - Those that are wanted.
   */
  latencies(
    projectId: string,
    parts: readonly LatencyPart[],
    query: InsightQuery,
  ): Promise<readonly LatencyPoint[]>;
  /** Compares the judge's verdicts with a person's, by criterion; ignores `groupBy`. */
  judgements(projectId: string, query: InsightQuery): Promise<readonly JudgementPoint[]>;
  /** Returns the way of sessions through the pathway, by whole UTC days. */
  funnel(projectId: string, query: FunnelQuery): Promise<readonly FunnelNode[]>;
  /** Sums the sessions of both arms of a rollout, which began on its releases since its start. */
  arms(rolloutId: string): Promise<readonly ArmRow[]>;
  /**
   * Reads what was counted of each session, so that the window is exact: of deleted ones for a day after their end. A cost
   * is that of the sessions in the currency of the rates at `to`.
   */
  figure(projectId: string, query: FigureQuery): Promise<Figure>;
}
