import { slope } from '../support/statistics.ts';

/** The figures, and how far each may grow over the run before it counts as drift. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Relative to the line's start; infinite for figures that are only reported. */
  readonly mayGrowBy: number;
  /** Growth below this is noise. */
  readonly noise: number;
}

/** The first part of a run is left out: memory settles, caches fill and pools open. */
const WARM_UP = 0.25;
/** Fewer points make no line. */
const FEWEST_POINTS = 5;

export const FIGURES = {
  rss: { name: 'memory of the process', unit: 'MB', mayGrowBy: 0.1, noise: 40 },
  heap: { name: 'heap of the main thread', unit: 'MB', mayGrowBy: 0.25, noise: 25 },
  descriptors: { name: 'open descriptors', unit: '', mayGrowBy: 0.1, noise: 10 },
  lag: { name: 'event-loop lag, p99', unit: 'ms', mayGrowBy: 0.5, noise: 30 },
  chatP50: { name: 'chat answered, p50', unit: 'ms', mayGrowBy: 0.3, noise: 15 },
  chatP95: { name: 'chat answered, p95', unit: 'ms', mayGrowBy: 0.5, noise: 60 },
  turnP50: { name: 'key to the agent’s voice, p50', unit: 'ms', mayGrowBy: 0.2, noise: 100 },
  turnP95: { name: 'key to the agent’s voice, p95', unit: 'ms', mayGrowBy: 0.3, noise: 300 },
  /** Other work on the machine makes all times longer. */
  load: { name: 'load of the machine', unit: '', mayGrowBy: Number.POSITIVE_INFINITY, noise: 0 },
} as const satisfies Record<string, Figure>;

export type FigureName = keyof typeof FIGURES;

/** Figures of one interval; absent when nothing was measured. */
export interface Sample extends Readonly<Partial<Record<FigureName, number>>> {
  /** Since the load started. */
  readonly atMinutes: number;
}

/** The least-squares line of a figure, from its first point to its last. */
export interface Drift {
  readonly fromMinutes: number;
  readonly toMinutes: number;
  readonly from: number;
  readonly to: number;
  readonly isBeyond: boolean;
}

/** @returns Undefined when there are too few points. */
export function driftOf(samples: readonly Sample[], name: FigureName): Drift | undefined {
  const points = pointsOf(samples, name);
  const settled = points.slice(Math.floor(points.length * WARM_UP));
  const [first, last] = [settled[0], settled.at(-1)];
  if (!first || !last || settled.length < FEWEST_POINTS) return undefined;
  const perMinute = slope(settled);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const at = (x: number) => mean(settled.map(({ y }) => y)) + perMinute * (x - mean(settled.map((p) => p.x)));
  const [from, to] = [at(first.x), at(last.x)];
  const { mayGrowBy, noise } = FIGURES[name];
  const isBeyond = to - from > Math.max(noise, from * mayGrowBy);
  return { fromMinutes: first.x, toMinutes: last.x, from, to, isBeyond };
}

export function pointsOf(samples: readonly Sample[], name: FigureName): { x: number; y: number }[] {
  return samples.flatMap(({ atMinutes, [name]: y }) => (y === undefined ? [] : [{ x: atMinutes, y }]));
}
