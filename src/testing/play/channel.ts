import type { Exchange, ObservedState } from './observation.ts';

export type CallerAction =
  | {
      readonly kind: 'say';
      readonly text: string;
      /** An answering machine's tone follows; on the phone alone. */
      readonly thenBeeps?: boolean;
    }
  | { readonly kind: 'interrupt'; readonly text: string }
  | { readonly kind: 'dtmf'; readonly digits: string }
  | { readonly kind: 'wait'; readonly durationMs: number }
  | { readonly kind: 'silence'; readonly durationMs: number }
  | { readonly kind: 'hangup' };

/** The caller's next words, which cut the agent's answer. */
export interface Interruption {
  /** The time from the answer's beginning. */
  readonly afterMs: number;
  readonly say: string;
  /** Place in the case's turns. */
  readonly turn: number;
}

/** A conversation with the agent under test. */
export interface PlayChannel {
  /** The agent's words before the caller's first, where it speaks first. */
  begin(signal: AbortSignal, interruption?: Interruption): Promise<Exchange | undefined>;
  /** Does it and waits for the agent's reaction, or for the time to interrupt it. */
  act(
    action: CallerAction,
    turn: number,
    signal: AbortSignal,
    interruption?: Interruption,
  ): Promise<Exchange>;
  /** Returns the variables, and who ended the session. */
  state(): ObservedState;
}
