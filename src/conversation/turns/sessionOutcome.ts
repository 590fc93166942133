import { CallwayError } from '../../base/errors.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';

/** Code of the error when the session was ended, over the API for example, while the call continued. */
export const SESSION_ENDED = 'session_ended';

/**
 * How a voice session ended: by the agent, by the agent since it did not understand the caller, by a transfer, by the
 * caller, or after an apology because turns or the recognizer failed.
 */
export type SessionOutcome = 'hung_up' | 'not_understood' | 'transferred' | 'closed' | 'failed';

/** @param isFinal - The channel itself hangs up. */
export function outcomeAfter(input: TurnInput, isFinal: boolean): SessionOutcome {
  if (input.kind === 'failure') return 'failed';
  if (!isFinal || input.kind !== 'not_understood') return 'hung_up';
  return input.why === 'no_words' ? 'not_understood' : 'failed';
}

export function isSessionEnded(error: unknown): boolean {
  return error instanceof CallwayError && error.code === SESSION_ENDED;
}
