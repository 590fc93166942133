import { table } from '../../src/cli/table.ts';
import { KINDS, type Kind } from './greetings.ts';
import type { Played } from './play.ts';

const MIN_RIGHT = 0.95;
const VERDICTS = ['human', 'machine', 'screening', 'unknown'] as const;

export const isRight = ({ call, answeredBy }: Played) => call.expected === answeredBy;
/** Nobody but a machine is hung up on. */
export const isWronglyHungUp = ({ call, isHungUp }: Played) => isHungUp && call.expected !== 'machine';

export function missesAim(played: readonly Played[]): boolean {
  return played.some(isWronglyHungUp) || rightShare(played) < MIN_RIGHT;
}

/** Who answered, and who was recognized. */
export function confusionTable(played: readonly Played[]): string {
  const rows = Object.keys(KINDS).map((name) => {
    const kind = name as Kind;
    const calls = played.filter(({ call }) => call.kind === kind);
    const counts = VERDICTS.map((verdict) => calls.filter(({ answeredBy }) => answeredBy === verdict).length);
    return [`${kind} (${KINDS[kind]})`, ...counts, calls.filter(({ isHungUp }) => isHungUp).length].map(
      String,
    );
  });
  return table([['', ...VERDICTS, 'hung up'], ...rows]);
}

export function partsTable(parts: Readonly<Record<string, readonly Played[]>>): string {
  return table([
    ['', 'calls', 'right', 'wrongly hung up on'],
    ...Object.entries(parts).map(([name, played]) => [
      name,
      String(played.length),
      `${(100 * rightShare(played)).toFixed(1)} %`,
      String(played.filter(isWronglyHungUp).length),
    ]),
  ]);
}

export function errorLine({ call, answeredBy, isHungUp }: Played): string {
  const { id, kind, language, voice, noise, segments, isHeldOut } = call;
  const said = segments.map(({ text }) => text).join(' / ');
  const part = isHeldOut ? ', held out' : '';
  const end = isHungUp ? ', hung up' : '';
  return `${id} ${kind}, ${language}, ${voice}, ${noise.kind} ${noise.snrDb} dB${part}: ${answeredBy}${end}: "${said}"`;
}

function rightShare(played: readonly Played[]): number {
  return played.filter(isRight).length / played.length;
}
