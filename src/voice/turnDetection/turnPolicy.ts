import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';

/** How turns are taken at a node of the pathway. */
export interface TurnPolicy {
  /** Whether the caller may cut in. */
  readonly interruptible: boolean;
  /** Speech of the caller's that stops the agent. */
  readonly interruptAfterMs: number;
  /** Bounds of the silence that ends the caller's turn. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
  /** Silence of both that is taken for an answer. */
  readonly silenceAfterMs: number;
  /** What is then said, one after the other; empty for the language's own question. */
  readonly silencePrompts: readonly string[];
  /** Silences without an answer until the agent hangs up; 0 is never. */
  readonly hangupAfter: number;
}

/** Longer than most people's "mm-hm", shorter than their patience with someone who talks on. */
const INTERRUPT_AFTER_MS = 400;
/** People leave about 200 ms between turns; less than 300 cuts into their words too often. */
const MIN_PAUSE_MS = 300;
/** Who thinks in the middle of a sentence is rarely silent for longer. */
const MAX_PAUSE_MS = 1600;
const SILENCE_AFTER_MS = 8000;
const HANGUP_AFTER = 3;

export const DEFAULT_TURN_POLICY: TurnPolicy = {
  interruptible: true,
  interruptAfterMs: INTERRUPT_AFTER_MS,
  minPauseMs: MIN_PAUSE_MS,
  maxPauseMs: MAX_PAUSE_MS,
  silenceAfterMs: SILENCE_AFTER_MS,
  silencePrompts: [],
  hangupAfter: HANGUP_AFTER,
};

/** What the node says of it, and the defaults for what it does not say. */
export function turnPolicyOf(node: PathwayNode | undefined): TurnPolicy {
  if (!node) return DEFAULT_TURN_POLICY;
  const { interruption, interruptAfterMs, turn, silence } = node.data;
  const minPauseMs = turn?.minPauseMs ?? Math.min(MIN_PAUSE_MS, turn?.maxPauseMs ?? MIN_PAUSE_MS);
  return {
    interruptible: interruption !== 'off',
    interruptAfterMs: interruptAfterMs ?? INTERRUPT_AFTER_MS,
    minPauseMs,
    maxPauseMs: turn?.maxPauseMs ?? Math.max(MAX_PAUSE_MS, minPauseMs),
    silenceAfterMs: silence?.afterMs ?? SILENCE_AFTER_MS,
    silencePrompts: silence?.prompts ?? [],
    hangupAfter: silence?.hangupAfter ?? HANGUP_AFTER,
  };
}
