import type { Assertion } from '../../agents/testSuites/assertion.ts';
import type { TestCase, TestTurn } from '../../agents/testSuites/testCase.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Verdict } from '../assertions/verdict.ts';
import type { CallerAction, Interruption, PlayChannel } from './channel.ts';
import type { Exchange, Observation } from './observation.ts';
import { DEFAULT_PERSONA_SECONDS, DEFAULT_PERSONA_TURNS, nextWords, type PersonaModel } from './persona.ts';

/** Judges an assertion over what was seen. */
type Judge = (assertion: Assertion, seen: Observation, signal: AbortSignal) => Promise<Verdict>;

export interface CaseDeps {
  readonly channel: PlayChannel;
  readonly judge: Judge;
  readonly persona: PersonaModel;
  readonly clock: Clock;
}

export interface PlayOutcome {
  readonly observation: Observation;
  readonly verdicts: readonly Verdict[];
}

type PlayedCase = Pick<TestCase, 'turns' | 'persona' | 'assertions'>;

/** Plays a case's caller, and judges the assertions between its turns and at its end. */
export async function playCase(
  deps: CaseDeps,
  testCase: PlayedCase,
  signal: AbortSignal,
): Promise<PlayOutcome> {
  const { channel } = deps;
  const exchanges: Exchange[] = [];
  const verdicts: Verdict[] = [];
  const began = await channel.begin(signal, interruptionAfter(testCase.turns ?? [], -1));
  if (began) exchanges.push(began);
  if (testCase.turns) verdicts.push(...(await playTurns(deps, testCase.turns, exchanges, signal)));
  else if (testCase.persona) await playPersona(deps, testCase.persona, exchanges, signal);
  const { endedBy } = channel.state();
  // A caller who has nothing more to say hangs up.
  if (endedBy === null)
    exchanges.push(await channel.act({ kind: 'hangup' }, testCase.turns?.length ?? 0, signal));
  const observation = { exchanges, ...channel.state() };
  for (const assertion of testCase.assertions)
    verdicts.push(await deps.judge(assertion, observation, signal));
  return { observation, verdicts };
}

/**
 * Plays the turns. After the conversation's end the caller's actions are left out; what is expected is still judged.
 */
async function playTurns(
  { channel, judge }: CaseDeps,
  turns: readonly TestTurn[],
  exchanges: Exchange[],
  signal: AbortSignal,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [turn, what] of turns.entries()) {
    signal.throwIfAborted();
    if ('expect' in what) {
      const observation = { exchanges: exchanges.slice(-1), ...channel.state() };
      verdicts.push({ ...(await judge(what.expect, observation, signal)), turn });
    } else if (channel.state().endedBy === null) {
      const exchange = await channel.act(actionOf(what), turn, signal, interruptionAfter(turns, turn));
      // A pause is no answer: what is expected after it is of the words before it.
      if (exchange.caller !== undefined || exchange.agent !== '') exchanges.push(exchange);
    }
  }
  return verdicts;
}

async function playPersona(
  { channel, persona: model, clock }: CaseDeps,
  persona: NonNullable<TestCase['persona']>,
  exchanges: Exchange[],
  signal: AbortSignal,
): Promise<void> {
  const { maxTurns = DEFAULT_PERSONA_TURNS, maxSeconds = DEFAULT_PERSONA_SECONDS } = persona;
  const untilMs = clock.monotonicMs() + maxSeconds * 1000;
  for (let turn = 0; turn < maxTurns && channel.state().endedBy === null; turn += 1) {
    if (clock.monotonicMs() >= untilMs) return;
    const { text, hangsUp } = await nextWords(model, persona, exchanges, signal);
    if (text !== '') exchanges.push(await channel.act({ kind: 'say', text }, turn, signal));
    if (hangsUp) return;
  }
}

/** The caller's next turn, where it cuts the answer to this one. */
function interruptionAfter(turns: readonly TestTurn[], turn: number): Interruption | undefined {
  const at = turns.findIndex((next, index) => index > turn && !('expect' in next));
  const next = turns[at];
  return next && 'interrupt' in next ? { ...next.interrupt, turn: at } : undefined;
}

function actionOf(turn: Exclude<TestTurn, { expect: unknown }>): CallerAction {
  if ('say' in turn) return { kind: 'say', text: turn.say };
  if ('dtmf' in turn) return { kind: 'dtmf', digits: turn.dtmf };
  if ('waitMs' in turn) return { kind: 'wait', durationMs: turn.waitMs };
  if ('silenceMs' in turn) return { kind: 'silence', durationMs: turn.silenceMs };
  if ('interrupt' in turn) return { kind: 'interrupt', text: turn.interrupt.say };
  return { kind: 'hangup' };
}
