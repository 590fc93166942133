import { table } from '../../src/cli/table.ts';
import { percentile } from '../support/statistics.ts';
import type { Played } from './play.ts';

/** An end that is detected later than this counts as missed. */
const LATE_MS = 1500;
const MAX_FALSE_ENDS = 0.03;
const MAX_P50_MS = 350;
const MAX_P95_MS = 900;

type Parts = Readonly<Record<string, readonly Played[]>>;

export function missesAim(played: readonly Played[]): boolean {
  const ends = endsOf(played);
  const isLate = percentile(ends, 0.5) > MAX_P50_MS || percentile(ends, 0.95) > MAX_P95_MS;
  return isLate || falseEndsOf(played) / played.length >= MAX_FALSE_ENDS;
}

/** What went wrong with an utterance: at most one line. */
export function errorLines({ utterance, falseEndAfter, endAfterMs = 0 }: Played): string[] {
  const { language, kind, segments } = utterance;
  const heard = segments[(falseEndAfter ?? segments.length) - 1];
  const said = `${language} ${kind}: "${heard?.text}"`;
  if (falseEndAfter !== undefined)
    return [`${said} was answered within a pause of ${heard?.pauseAfterMs} ms`];
  return endAfterMs > MAX_P95_MS ? [`${said} ended after ${endAfterMs.toFixed(0)} ms`] : [];
}

/** False ends and the delay of the true ones. */
export function partsTable(parts: Parts): string {
  return table([['', 'utterances', 'false ends', 'end p50 ms', 'p95'], ...Object.entries(parts).map(rowOf)]);
}

/** What was decided at each pause and at each end. */
export function confusionTable(parts: Parts): string {
  return table([
    ['', '', 'went on listening', 'ended the turn'],
    ...Object.entries(parts).flatMap(([name, played]) => {
      const pauses = played.reduce((sum, one) => sum + heardPauses(one), 0);
      const falseEnds = falseEndsOf(played);
      const ends = endsOf(played);
      const missed = ends.filter((ms) => ms > LATE_MS).length;
      return [
        [name, 'pause', pauses - falseEnds, falseEnds].map(String),
        ['', `end, within ${LATE_MS} ms`, missed, ends.length - missed].map(String),
      ];
    }),
  ]);
}

/** The same as {@link partsTable}, by kind and language. */
export function kindsTable(played: readonly Played[]): string {
  const groups = new Map<string, Played[]>();
  for (const one of played)
    for (const name of [one.utterance.kind, one.utterance.language])
      groups.set(name, [...(groups.get(name) ?? []), one]);
  return partsTable(Object.fromEntries(groups));
}

function rowOf([name, played]: readonly [string, readonly Played[]]): string[] {
  const falseEnds = falseEndsOf(played);
  const ends = endsOf(played);
  return [
    name,
    String(played.length),
    `${falseEnds} (${((100 * falseEnds) / played.length).toFixed(1)} %)`,
    ...[0.5, 0.95].map((part) => percentile(ends, part).toFixed(0)),
  ];
}

/** After a false end the utterance was not heard on. */
function heardPauses({ utterance, falseEndAfter }: Played): number {
  return falseEndAfter ?? utterance.segments.length - 1;
}

function falseEndsOf(played: readonly Played[]): number {
  return played.filter(({ falseEndAfter }) => falseEndAfter !== undefined).length;
}

function endsOf(played: readonly Played[]): number[] {
  return played.flatMap(({ endAfterMs }) => endAfterMs ?? []);
}
