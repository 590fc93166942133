import type { Call } from '../../calls/call.ts';
import { attemptEnd } from '../../campaigns/attempt.ts';
import { remark } from '../assertions/remark.ts';
import type { Verdict } from '../assertions/verdict.ts';
import type { CallerAction, PlayChannel } from '../play/channel.ts';
import type { Exchange } from '../play/observation.ts';
import type { PlayOutcome } from '../play/playCase.ts';
import { BEHAVIOURS } from '../simulator/script.ts';
import { type Callee, isAnswering, type RehearsalOutcome } from './callee.ts';

/** A contact's call that has ended. */
interface JudgedContact {
  readonly outcome: RehearsalOutcome;
  readonly verdicts: readonly Verdict[];
}

const say = (text: string): CallerAction => ({ kind: 'say', text });
/** The greeting may follow disclosures after a pause, and is heard to its end. */
const LISTENS: CallerAction = { kind: 'silence', durationMs: 2_000 };
/** The agent has time to confirm, or to leave its message, and ends the call itself. */
const STAYS: CallerAction = { kind: 'silence', durationMs: 6_000 };
/** Said again by a person whom the agent has not understood. */
const ASKS = [say('Please stop calling me.'), STAYS];
const [greeting] = BEHAVIOURS.voicemail.script;

/** What is said to the agent's call. */
const SCRIPTS: Readonly<Record<Exclude<Callee, 'busy' | 'no_answer'>, readonly CallerAction[]>> = {
  answered: [say('Hello?'), LISTENS, say('Yes, that is me.'), say('Okay, thank you. Goodbye.')],
  opt_out: [say('Hello?'), LISTENS, ...ASKS, ...ASKS, ...ASKS],
  machine: [{ kind: 'say', text: greeting.text, thenBeeps: true }, STAYS],
};

/** Plays the person or the machine that answers the agent's call, then hangs up. */
export async function playContact(
  channel: PlayChannel,
  callee: Exclude<Callee, 'busy' | 'no_answer'>,
  signal: AbortSignal,
): Promise<PlayOutcome> {
  const exchanges: Exchange[] = [];
  await channel.begin(signal);
  for (const [turn, action] of [...SCRIPTS[callee], { kind: 'hangup' } as const].entries()) {
    if (channel.state().endedBy === null) exchanges.push(await channel.act(action, turn, signal));
  }
  return { observation: { exchanges, ...channel.state() }, verdicts: [] };
}

/** The play of a contact whose call reaches no one: no call is placed. */
export function unansweredContact(
  callee: Exclude<Callee, keyof typeof SCRIPTS>,
  variables: Readonly<Record<string, unknown>>,
): PlayOutcome & JudgedContact {
  const observation = { exchanges: [], variables, endedBy: null };
  return { observation, outcome: callee, verdicts: [verdictOf(callee, callee)] };
}

/** Compares what the call came to, as a campaign counts it, with what was simulated. */
export function judgeContact(callee: Callee, call: Call | undefined, hasOptedOut: boolean): JudgedContact {
  const end = call && attemptEnd(call).outcome;
  const ended = end === undefined || end === 'put_back' || end === 'do_not_call' ? 'failed' : end;
  const outcome = hasOptedOut ? 'opt_out' : ended;
  return { outcome, verdicts: [verdictOf(callee, outcome)] };
}

function verdictOf(callee: Callee, outcome: RehearsalOutcome): Verdict {
  const reason = remark(isAnswering(callee) ? callee : 'no_call');
  return { type: 'outcome', passed: outcome === callee, seen: outcome, reason };
}
