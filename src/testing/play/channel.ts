import type { Exchange, Observation } from './observation.ts';

/** What the caller does. */
export type CallerAction =
  | { readonly kind: 'say'; readonly text: string; readonly interruptedAfterMs?: number | undefined }
  | { readonly kind: 'interrupt'; readonly text: string }
  | { readonly kind: 'dtmf'; readonly digits: string; readonly interruptedAfterMs?: number | undefined }
  | { readonly kind: 'wait'; readonly durationMs: number }
  | { readonly kind: 'silence'; readonly durationMs: number }
  | { readonly kind: 'hangup' };

/** A conversation with the agent under test. */
export interface PlayChannel {
  /** The agent's words before the caller's first, where it speaks first. */
  begin(signal: AbortSignal): Promise<Exchange | undefined>;
  /** Does it and waits for the agent's reaction. */
  act(action: CallerAction, turn: number, signal: AbortSignal): Promise<Exchange>;
  /** Without its exchanges. */
  state(): Pick<Observation, 'variables' | 'endedBy'>;
}
