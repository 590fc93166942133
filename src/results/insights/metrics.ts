import { BILLIONTHS, type Dimension, type Sum } from './sessionFacts.ts';

/** How a metric follows from the sums: a sum, or a mean or share of `amount` among `n`. */
export interface SumMetric {
  readonly kind: 'sum' | 'mean';
  readonly amount: Sum;
  readonly n: Sum;
  /** What `amount` is divided by for the metric's unit. Default 1. */
  readonly unit?: number;
  readonly description: string;
}

const MS_PER_MINUTE = 60_000;

export const SUM_METRICS = {
  sessions: { kind: 'sum', amount: 'sessions', n: 'sessions', description: 'ended sessions' },
  calls: { kind: 'sum', amount: 'calls', n: 'calls', description: 'ended calls, answered or not' },
  minutes: {
    kind: 'sum',
    amount: 'callMs',
    n: 'answered',
    unit: MS_PER_MINUTE,
    description: 'minutes of calls, from answer to end',
  },
  turns: { kind: 'sum', amount: 'turns', n: 'sessions', description: 'turns of the conversations' },
  answered: {
    kind: 'mean',
    amount: 'answered',
    n: 'calls',
    description: 'share of calls that were answered',
  },
  duration: {
    kind: 'mean',
    amount: 'durationMs',
    n: 'timed',
    description:
      'mean milliseconds: of answered calls from answer to end, of other sessions from start to end',
  },
  evaluation: {
    kind: 'mean',
    amount: 'passed',
    n: 'evaluated',
    description: 'share of evaluated sessions that passed every criterion',
  },
  success: {
    kind: 'mean',
    amount: 'succeeded',
    n: 'analyzed',
    description:
      'share of analyzed sessions whose disposition is a success, of those whose disposition says so',
  },
  toolFailures: {
    kind: 'mean',
    amount: 'toolFailures',
    n: 'toolCalls',
    description: 'share of tool calls that failed',
  },
  interruptions: {
    kind: 'mean',
    amount: 'interruptions',
    n: 'sessions',
    description: 'mean number of times that a person interrupted the agent, a session',
  },
  transfers: {
    kind: 'mean',
    amount: 'transferred',
    n: 'sessions',
    description: 'share of sessions that were joined with another party',
  },
  cost: {
    kind: 'sum',
    amount: 'costBillionths',
    n: 'priced',
    unit: BILLIONTHS,
    description: 'cost of the sessions that have one, by currency',
  },
  error: {
    kind: 'mean',
    amount: 'withError',
    n: 'sessions',
    description: 'share of sessions with an event `error`',
  },
} as const satisfies Record<string, SumMetric>;
export type SumMetricName = keyof typeof SUM_METRICS;

/** Metrics that count sessions by what their name says. */
export const GROUPED_METRICS = {
  endReasons: 'endReason',
  dispositions: 'disposition',
} as const satisfies Record<string, Dimension>;

/** A figure that alerts and rollouts judge. */
export type FigureMetric = SumMetricName | 'latencyP95';
export const FIGURE_METRICS = ['latencyP95', ...(Object.keys(SUM_METRICS) as SumMetricName[])] as const;
