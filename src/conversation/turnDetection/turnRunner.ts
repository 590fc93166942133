import { checkDigitTimeout, type DtmfEntry, type DtmfEntryStep, enterDigit } from './dtmf.ts';
import {
  INITIAL_TURN_STATE,
  type TurnContext,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from './turnState.ts';
import { turnTransition } from './turnTransition.ts';

export interface TurnRunnerDeps {
  /** Monotonic, on the clock of the turn state. */
  readonly nowMs: () => number;
  readonly context: () => TurnContext;
  /** The DTMF entries that lead on from the current node. */
  readonly edgeDigits: () => readonly string[] | undefined;
  /** Called between a step and its effects. */
  readonly onStep?: (state: TurnState, before: TurnState) => void;
  readonly perform: (effect: TurnEffect) => void;
}

/** Holds the turns of one conversation, by audio or by text, and the digits that are being entered. */
export class TurnRunner {
  readonly #deps: TurnRunnerDeps;
  #state: TurnState = INITIAL_TURN_STATE;
  #entry: DtmfEntry | undefined;
  #lastDigitMs = 0;

  constructor(deps: TurnRunnerDeps) {
    this.#deps = deps;
  }

  get state(): TurnState {
    return this.#state;
  }

  get lastDigitMs(): number {
    return this.#lastDigitMs;
  }

  get isEnteringDigits(): boolean {
    return this.#entry !== undefined;
  }

  dispatch(event: TurnEvent): void {
    const { context, onStep, perform } = this.#deps;
    const before = this.#state;
    const { state, effects } = turnTransition(before, event, context());
    this.#state = state;
    onStep?.(state, before);
    for (const effect of effects) perform(effect);
  }

  /** Call regularly, on an audio stream with each frame of the caller. */
  onFrame(): void {
    const { nowMs, edgeDigits } = this.#deps;
    this.#onEntry(checkDigitTimeout(this.#entry, nowMs(), edgeDigits()));
    this.dispatch({ type: 'frame' });
  }

  onDigit(digit: string): void {
    const { nowMs, edgeDigits } = this.#deps;
    this.#lastDigitMs = nowMs();
    this.dispatch({ type: 'dtmf_digit' });
    this.#onEntry(enterDigit(this.#entry, digit, this.#lastDigitMs, edgeDigits() ?? []));
  }

  #onEntry({ entry, complete }: DtmfEntryStep): void {
    this.#entry = entry;
    if (complete !== undefined) this.dispatch({ type: 'dtmf_entry', digits: complete });
  }
}
