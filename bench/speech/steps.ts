import { table } from '../../src/cli/table.ts';
import type { HeardTurn } from '../calls/caller.ts';
import { percentile } from '../support/statistics.ts';
import { LATENCIES, type VendorEvent } from './vendors.ts';

/** The gateway's part of a turn, between what the vendors take. */
const STEPS = [
  { title: 'last sound to recognizer', from: undefined, to: 'last_sound', vendorMs: 0 },
  { title: 'eager end to request', from: 'last_sound', to: 'request', vendorMs: LATENCIES.eagerEndMs },
  { title: 'first token to voice', from: 'request', to: 'first_word', vendorMs: LATENCIES.firstTokenMs },
  { title: 'first sample to phone', from: 'first_word', to: undefined, vendorMs: LATENCIES.firstSampleMs },
] as const;

/** Prints where the own part of the turns of a single call goes. */
export function stepsTable(turns: readonly HeardTurn[], events: readonly VendorEvent[]): string {
  const rows = STEPS.map(({ title, from, to, vendorMs }) => {
    const took = turns.map(({ saidMs, heardMs }) => {
      const at = (type: VendorEvent['type'] | undefined, atPhoneMs: number) =>
        type === undefined
          ? performance.timeOrigin + atPhoneMs
          : (lastBefore(events, type, performance.timeOrigin + heardMs) ?? Number.NaN);
      return at(to, heardMs) - at(from, saidMs) - vendorMs;
    });
    const known = took.filter((ms) => !Number.isNaN(ms));
    return [title, ...[0.5, 0.95].map((part) => percentile(known, part).toFixed(0))];
  });
  return table([['own part of one call', 'p50 ms', 'p95'], ...rows]);
}

function lastBefore(events: readonly VendorEvent[], type: VendorEvent['type'], atMs: number) {
  return events.findLast((event) => event.type === type && event.atMs < atMs)?.atMs;
}
