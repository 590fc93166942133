const BUCKET = /^callway_playout_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)/gm;
const SHARE = 0.99;

/** Packets that left at most so late, by the upper bounds of the node's histogram, in ms. */
export type Lateness = ReadonlyMap<number, number>;

/** How late the node has sent its audio packets since its start. @param url - Of its API. */
export async function readLateness(url: string): Promise<Lateness> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return parseLateness(page);
}

/** @param page - In Prometheus' text format. */
export function parseLateness(page: string): Lateness {
  return new Map(
    [...page.matchAll(BUCKET)].map(([, bound, count]) => [Number(bound) * 1_000, Number(count)]),
  );
}

/** What 99 % of the packets between two readings stayed within; infinite beyond the last bucket. */
export function lateP99Ms(before: Lateness, after: Lateness): number {
  const fresh = [...after].map(([boundMs, count]) => [boundMs, count - (before.get(boundMs) ?? 0)] as const);
  const total = Math.max(0, ...fresh.map(([, count]) => count));
  return fresh.find(([, count]) => count >= SHARE * total)?.[0] ?? Number.POSITIVE_INFINITY;
}
