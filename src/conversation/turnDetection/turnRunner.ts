import { checkDigitTimeout, type DtmfEntry, type DtmfEntryStep, enterDigit } from './dtmf.ts';
import type { TurnSettings } from './turnSettings.ts';
import {
  INITIAL_TURN_STATE,
  type TurnContext,
  type TurnEffect,
  type TurnEvent,
  type TurnState,
} from './turnState.ts';
import { turnTransition } from './turnTransition.ts';

export interface TurnRunnerDeps {
  readonly settings: TurnSettings;
  readonly context: (isEnteringDigits: boolean) => TurnContext;
  /** Called between a step and its effects. */
  readonly onStep?: (state: TurnState, before: TurnState) => void;
  readonly perform: (effect: TurnEffect) => void;
}

/** Holds the turn state of one conversation, by audio or by text, and the digits that are being entered. */
export class TurnRunner {
  readonly #deps: TurnRunnerDeps;
  #state = INITIAL_TURN_STATE;
  #entry: DtmfEntry | undefined;
  lastDigitMs = 0;

  constructor(deps: TurnRunnerDeps) {
    this.#deps = deps;
  }

  get state(): TurnState {
    return this.#state;
  }

  dispatch(event: TurnEvent): void {
    const before = this.#state;
    const { state, effects } = turnTransition(before, event, this.#context());
    this.#state = state;
    this.#deps.onStep?.(state, before);
    for (const effect of effects) this.#deps.perform(effect);
  }

  /** Call regularly, on an audio stream with each frame of the caller. */
  onFrame(): void {
    const { node } = this.#deps.settings;
    this.#onEntry(checkDigitTimeout(this.#entry, this.#context().atMs, node?.digits));
    this.dispatch({ type: 'frame' });
  }

  onDigit(digit: string): void {
    this.lastDigitMs = this.#context().atMs;
    this.dispatch({ type: 'dtmf_digit' });
    const edges = this.#deps.settings.node?.digits ?? [];
    this.#onEntry(enterDigit(this.#entry, digit, this.lastDigitMs, edges));
  }

  #onEntry({ entry, complete }: DtmfEntryStep): void {
    this.#entry = entry;
    if (complete !== undefined) this.dispatch({ type: 'dtmf_entry', digits: complete });
  }

  #context(): TurnContext {
    return this.#deps.context(this.#entry !== undefined);
  }
}
