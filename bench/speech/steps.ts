import { table } from '../../src/cli/table.ts';
import type { ContactTurn } from '../calls/runCalls.ts';
import { percentile } from '../support/statistics.ts';
import type { VendorEvent } from './vendors.ts';

/** Of a turn, in ms: from the caller's last sound to the agent's first, without what the vendors really took. */
export interface OwnParts {
  readonly wholeMs: number;
  readonly stepsMs: readonly number[];
}

type Type = VendorEvent['type'];

/** The gateway's steps between the vendors, each from a vendor's answer to what reaches the next one. */
const STEPS: readonly { readonly title: string; readonly from?: Type; readonly to?: Type }[] = [
  { title: 'last sound to recognizer', to: 'last_sound' },
  { title: 'eager end to request', from: 'eager_end', to: 'request' },
  { title: 'first token to voice', from: 'first_token', to: 'first_word' },
  { title: 'first sample to phone', from: 'first_sample' },
];

/**
 * The gateway's part of each turn.
 *
 * @param callerOf - Number of a session's caller at the vendors.
 */
export function ownParts(
  turns: readonly ContactTurn[],
  events: readonly VendorEvent[],
  callerOf: (sessionId: string) => number | undefined,
): OwnParts[] {
  return turns.flatMap(({ saidMs, heardMs, sessionId }) => {
    const number = callerOf(sessionId);
    const own = events.filter(({ caller }) => caller === number);
    const phoneMs = (atMs: number) => performance.timeOrigin + atMs;
    const at = (type: Type | undefined, otherwiseMs: number) =>
      type === undefined
        ? phoneMs(otherwiseMs)
        : own.findLast((event) => event.type === type && event.atMs < phoneMs(heardMs))?.atMs;
    const stepsMs = STEPS.map(
      ({ from, to }) => (at(to, heardMs) ?? Number.NaN) - (at(from, saidMs) ?? Number.NaN),
    );
    const wholeMs = stepsMs.reduce((sum, ms) => sum + ms, 0);
    return Number.isNaN(wholeMs) ? [] : [{ wholeMs, stepsMs }];
  });
}

/** Prints where the own part of the turns goes. */
export function stepsTable(calls: number, parts: readonly OwnParts[]): string {
  const rows = STEPS.map(({ title }, step) => {
    const took = parts.map(({ stepsMs }) => stepsMs[step] ?? 0);
    return [title, ...[0.5, 0.95].map((part) => percentile(took, part).toFixed(0))];
  });
  return table([[`own part of ${calls} ${calls === 1 ? 'call' : 'calls'}`, 'p50 ms', 'p95'], ...rows]);
}
