import type { ProductNode } from './installation.ts';

const BUCKET = /^callway_playout_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;

/** How many RTP packets were sent at most this late, by the bounds of the product's histogram in ms. */
export type PlayoutCounts = ReadonlyMap<number, number>;

export async function readPlayout(nodes: readonly ProductNode[]): Promise<PlayoutCounts> {
  const counts = new Map<number, number>();
  for (const { server } of nodes) {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    for (const [, le = '', count] of text.matchAll(BUCKET)) {
      const boundMs = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le) * 1000;
      counts.set(boundMs, (counts.get(boundMs) ?? 0) + Number(count));
    }
  }
  return counts;
}

/** The bound that 99 % of the packets between two readings were within, in ms; infinite where more were later or skipped. */
export function playoutP99(from: PlayoutCounts, to: PlayoutCounts): number {
  const within = [...to].map(([boundMs, count]) => [boundMs, count - (from.get(boundMs) ?? 0)] as const);
  const total = Math.max(0, ...within.map(([, count]) => count));
  const enough = within.filter(([, count]) => count >= 0.99 * total).map(([boundMs]) => boundMs);
  return total === 0 ? Number.NaN : Math.min(...enough);
}
