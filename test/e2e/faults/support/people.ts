import { pino } from 'pino';
import { type Simulator, startSimulator } from '../../../../src/app/simulator/simulator.ts';
import type { BehaviourInput } from '../../../../src/testing/simulator/script.ts';
import type { SimulatedCallerEvent } from '../../../../src/testing/simulator/simulatedCaller.ts';
import { newNumber } from '../../phone/support/line.ts';
import { runsAllFaults } from './table.ts';

/**
 * The silence of the agent that ends its answer. A machine that starts nodes or servers may delay a sentence for almost
 * a second, and the person would then press a digit or hang up during the answer.
 */
const QUIET_MS = runsAllFaults ? 1500 : 1000;

/** What a person at a phone heard, with times on this machine's clock. */
export interface Seen {
  readonly event: SimulatedCallerEvent;
  readonly atMs: number;
}

/** People whose phones answer, and who press a digit after each answer of the agent. */
export interface People {
  readonly carrier: Simulator;
  /**
   * A number whose phone answers, sends this many digits, and hangs up.
   *
   * @param stays - Leave hanging up to the agent.
   * @param quietMs - The silence of the agent that ends its answer.
   */
  answering(digitCount: number, stays?: boolean, quietMs?: number): string;
  seen(number: string): readonly Seen[];
  close(): Promise<void>;
}

function onKey(source: string, target: string) {
  const condition = { event: 'dtmf', digits: '1' };
  return { id: `${source}-${target}`, source, target, data: { condition } };
}

/** An agent that says something new after each digit. */
export const REPLIES_TO_DIGITS = {
  nodes: [
    { id: 'start', type: 'start', data: { title: 'Greet', prompt: 'Say "Hello. Press one."' } },
    { id: 'tick', type: 'conversation', data: { title: 'Tick', prompt: 'Say "Good. Again."' } },
    {
      id: 'tock',
      type: 'conversation',
      data: { title: 'Tock', prompt: 'Say "Fine. Once more."' },
    },
  ],
  edges: [onKey('start', 'tick'), onKey('tick', 'tock'), onKey('tock', 'tick')],
} as const;

export const sendsDigits = (
  digitCount: number,
  stays = false,
  quietMs = QUIET_MS,
): Extract<BehaviourInput, { kind: 'answers' }> => ({
  kind: 'answers',
  afterMs: 100,
  script: [
    ...Array.from({ length: digitCount }, () => [
      { do: 'listen', quietMs, atMostMs: 60_000 } as const,
      { do: 'send_dtmf', digits: '1' } as const,
    ]).flat(),
    { do: 'listen', quietMs, atMostMs: 60_000 },
    ...(stays ? [] : [{ do: 'hang_up' } as const]),
  ],
  stays,
});

export async function startPeople(): Promise<People> {
  const events = new Map<string, Seen[]>();
  const carrier = await startSimulator({
    logger: pino({ level: 'silent' }),
    onEvent: (number, event) => {
      events.set(number, [...(events.get(number) ?? []), { event, atMs: performance.now() }]);
    },
  });
  return {
    carrier,
    answering(digitCount, stays, quietMs) {
      const number = newNumber();
      carrier.phones.set(number, sendsDigits(digitCount, stays, quietMs));
      return number;
    },
    seen: (number) => events.get(`+886${number.slice(1)}`) ?? [],
    close: () => carrier.close(),
  };
}

/** The longest silence of the agent between its first and its last word, in ms. */
export function longestSilenceMs(seen: readonly Seen[]): number {
  let longest = 0;
  let quietSince: number | undefined;
  for (const { event, atMs } of seen) {
    if (event.kind === 'speech_ended') quietSince = atMs;
    if (event.kind === 'speech_started' && quietSince !== undefined)
      longest = Math.max(longest, atMs - quietSince);
  }
  return Math.round(longest);
}

/** How many answers the agent started since then. */
export function answersSince(seen: readonly Seen[], sinceMs: number): number {
  return seen.filter(({ event, atMs }) => event.kind === 'speech_started' && atMs >= sinceMs).length;
}
