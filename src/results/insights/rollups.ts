import { DAY_MS, HOUR_MS } from '../../base/values/clock.ts';
import { partsOf } from '../rollouts/armSums.ts';
import { type Buckets, type Histogram, LATENCY_BUCKETS, STAY_BUCKETS } from './histogram.ts';
import { type Counted, type Dimensions, dimensionsId, ofWay, SUMS, withoutOutcome } from './sessionFacts.ts';

/** The spans of time over which sums are kept. */
const SPANS = { hour: HOUR_MS, day: DAY_MS } as const;

type Row = Readonly<Record<string, string | number | readonly number[]>>;

/** What is added to the rows of each table, by the names of its columns. */
export interface RollupChanges {
  readonly dimensions: readonly {
    readonly projectId: string;
    readonly id: string;
    readonly value: Dimensions;
  }[];
  readonly sessions: readonly Row[];
  /** Parts and the whole, by the dimensions that are no outcomes. */
  readonly latencies: readonly Row[];
  /** The whole, by all dimensions. */
  readonly outcomeLatencies: readonly Row[];
  readonly judgements: readonly Row[];
  readonly arms: readonly Row[];
  readonly nodes: readonly Row[];
  readonly edges: readonly Row[];
}

/** A session as it was counted before, and as it is counted now. */
export interface Recount {
  readonly projectId: string;
  readonly before: Counted | null;
  readonly now: Counted;
}

/** Returns what the sums change by: the sessions as they are now, less what was counted of them before. */
export function rollupChanges(recounts: readonly Recount[]): RollupChanges {
  const changes = new Changes();
  for (const { projectId, before, now } of recounts) {
    if (before) changes.add(projectId, before, -1);
    changes.add(projectId, now, 1);
  }
  return changes.rows();
}

type Keys = Readonly<Record<string, string>>;

class Changes {
  readonly #dimensions = new Map<string, RollupChanges['dimensions'][number]>();
  readonly #sessions = new Sums();
  readonly #latencies = new Sums();
  readonly #outcomeLatencies = new Sums();
  readonly #judgements = new Sums();
  readonly #arms = new Sums();
  readonly #nodes = new Sums();
  readonly #edges = new Sums();

  /** @param sign - 1 or -1. */
  add(projectId: string, counted: Counted, sign: number): void {
    const atMs = Date.parse(counted.at);
    const all = this.#idOf(projectId, counted.dimensions);
    const rest = this.#idOf(projectId, withoutOutcome(counted.dimensions));
    for (const [span, lengthMs] of Object.entries(SPANS)) {
      const at = beginning(atMs, lengthMs);
      const sums = SUMS.map((name) => [columnOf(name), sign * counted.sums[name]] as const);
      this.#sessions.add({ projectId, span, at, dimensions: all }, Object.fromEntries(sums));
      const addLatency = (to: Sums, keys: Keys, turns: Histogram) =>
        to.add(
          { projectId, span, at, ...keys },
          { turns: sign * countOf(turns) },
          dense(turns, LATENCY_BUCKETS, sign),
        );
      for (const [part, turns] of Object.entries(counted.latencies))
        addLatency(this.#latencies, { dimensions: rest, part }, turns);
      const { total } = counted.latencies;
      if (total) addLatency(this.#outcomeLatencies, { dimensions: all }, total);
      for (const { criterion, judge, person } of counted.judgements)
        this.#judgements.add(
          { projectId, span, at, dimensions: all, criterion },
          {
            judged: sign,
            agreed: sign * +(judge === person),
            judge_met: sign * +judge,
            person_met: sign * +person,
          },
        );
    }
    this.#addWay(projectId, counted, sign);
    this.#addArm(counted, sign);
  }

  rows(): RollupChanges {
    return {
      dimensions: [...this.#dimensions.values()],
      sessions: this.#sessions.rows(),
      latencies: this.#latencies.rows(),
      outcomeLatencies: this.#outcomeLatencies.rows(),
      judgements: this.#judgements.rows(),
      arms: this.#arms.rows(),
      nodes: this.#nodes.rows(),
      edges: this.#edges.rows(),
    };
  }

  #addWay(projectId: string, { at: time, dimensions: all, nodes, edges }: Counted, sign: number): void {
    const keys = {
      projectId,
      at: beginning(Date.parse(time), SPANS.day),
      dimensions: this.#idOf(projectId, ofWay(all)),
    };
    for (const [nodeId, { entered, ended, stays }] of Object.entries(nodes))
      this.#nodes.add(
        { ...keys, nodeId },
        { entered: sign * entered, ended: sign * ended },
        dense(stays, STAY_BUCKETS, sign),
      );
    for (const [nodeId, edgeId, toNodeId, taken] of edges)
      this.#edges.add({ ...keys, nodeId, edgeId, toNodeId }, { taken: sign * taken });
  }

  #addArm(counted: Counted, sign: number): void {
    const { rolloutId, rolloutCurrency, dimensions, sums, latencies } = counted;
    if (rolloutId === null || dimensions.release === null) return;
    const parts = partsOf(sums, latencies.total ?? {}).filter(
      ({ metric }) => metric !== 'cost' || dimensions.currency === rolloutCurrency,
    );
    for (const { metric, bucket, x, w } of parts)
      this.#arms.add(
        { rolloutId, release: dimensions.release, metric, bucket: String(bucket) },
        { sessions: sign, x: sign * x, w: sign * w, xx: sign * x * x, xw: sign * x * w, ww: sign * w * w },
      );
  }

  #idOf(projectId: string, value: Dimensions): string {
    const id = dimensionsId(value);
    this.#dimensions.set(`${projectId} ${id}`, { projectId, id, value });
    return id;
  }
}

/** Sums by their keys. */
class Sums {
  readonly #rows = new Map<string, { keys: Keys; sums: Record<string, number>; buckets?: number[] }>();

  add(keys: Keys, sums: Readonly<Record<string, number>>, buckets?: readonly number[]): void {
    const key = JSON.stringify(Object.values(keys));
    const row = this.#rows.get(key);
    if (!row) {
      this.#rows.set(key, { keys, sums: { ...sums }, buckets: buckets && [...buckets] });
      return;
    }
    for (const [name, sum] of Object.entries(sums)) row.sums[name] = (row.sums[name] ?? 0) + sum;
    row.buckets = row.buckets?.map((count, index) => count + (buckets?.[index] ?? 0));
  }

  /** Returns the rows that change something. */
  rows(): Row[] {
    return [...this.#rows.values()]
      .filter(({ sums, buckets = [] }) => [...Object.values(sums), ...buckets].some((sum) => sum !== 0))
      .map(({ keys, sums, buckets }) => {
        const columns = Object.entries(keys).map(([name, value]) => [columnOf(name), value] as const);
        return { ...Object.fromEntries(columns), ...sums, ...(buckets && { buckets }) };
      });
  }
}

function beginning(ms: number, lengthMs: number): string {
  return new Date(Math.floor(ms / lengthMs) * lengthMs).toISOString();
}

function dense(counts: Histogram, { count }: Buckets, sign: number): number[] {
  return Array.from({ length: count }, (_, bucket) => sign * (counts[bucket] ?? 0));
}

function countOf(counts: Histogram): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the column of a field. */
export function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toLowerCase();
}
