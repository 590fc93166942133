import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';
import { fallbackPhraseFor } from '../speech/fallbackPhraseFor.ts';
import { type CallerHabits, endpointingDelayMs, learnPause, learnTooSoon, NO_HABITS } from './endpointing.ts';
import { DEFAULT_TURN_POLICY, type TurnPolicy, turnPolicyOf } from './turnPolicy.ts';

/** How turns are taken right now: by the node's wishes, by the caller's habits, and in which language. */
export class TurnSettings {
  /** Tag such as `zh-TW`. */
  language: string;
  #place: CurrentNode | undefined;
  #policy: TurnPolicy = DEFAULT_TURN_POLICY;
  #habits: CallerHabits = NO_HABITS;
  /** Silences that were asked about at this node. */
  #prompted = 0;
  #mayInterrupt = true;

  constructor(language: string) {
    this.language = language;
  }

  /** Where the pathway stands; undefined before the first turn. */
  get place(): CurrentNode | undefined {
    return this.#place;
  }

  get policy(): TurnPolicy {
    return this.#policy;
  }

  get expectedAnswers(): readonly string[] {
    return this.#place?.node.data.expectedAnswers ?? [];
  }

  enter(place: CurrentNode): void {
    if (place.node.id !== this.#place?.node.id) this.#prompted = 0;
    this.#place = place;
    this.#policy = turnPolicyOf(place.node);
    if (!this.#mayInterrupt) this.forbidInterruption();
  }

  /** From now on, at any node: a machine that records cannot mean to interrupt. */
  forbidInterruption(): void {
    this.#mayInterrupt = false;
    this.#policy = { ...this.#policy, interruptible: false };
  }

  /** The caller was silent for so long in the middle of what they had to say. */
  learnPause(pauseMs: number): void {
    this.#habits = learnPause(this.#habits, pauseMs);
  }

  /** So did they, and were answered. */
  learnTooSoon(pauseMs: number): void {
    this.#habits = learnTooSoon(this.#habits, pauseMs);
  }

  /** The silence that ends the caller's turn. @param words - Those so far; undefined while they are not known. */
  endPauseMs(words: string | undefined): number {
    return endpointingDelayMs(words, this.expectedAnswers, this.#habits, this.#policy);
  }

  /** What the channel itself says where the pathway says nothing; a silence counts as asked about. */
  ownWords(input: TurnInput, isLast: boolean): string | undefined {
    const prompted = this.#prompted;
    if (input.kind === 'silence') this.#prompted += 1;
    return fallbackPhraseFor({ input, language: this.language, policy: this.#policy, prompted, isLast });
  }
}
