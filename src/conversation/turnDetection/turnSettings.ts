import {
  DEFAULT_HANGUP_AFTER,
  DEFAULT_INTERRUPT_AFTER_MS,
  DEFAULT_MAX_PAUSE_MS,
  DEFAULT_MIN_PAUSE_MS,
  DEFAULT_SILENCE_MS,
  type PathwayNode,
} from '../../agents/pathway/schema/nodeSchema.ts';
import { DEFAULT_TURN_DETECTION } from '../../agents/speech/turnDetection.ts';
import type { Session } from '../../engine/session/session.ts';
import type { CurrentNode } from '../../engine/turn/delivery.ts';
import type { TurnInput } from '../../engine/turn/turn.ts';
import { AGENT_FAILED, fallbackPhrasesOf, noticePhrase, repromptPhrase } from '../speech/fallbackPhrases.ts';
import type { InterruptionPolicy } from '../speech/piecePolicies.ts';
import {
  type CallerPauses,
  type CallerTurn,
  type EndpointingBounds,
  type EndpointingOptions,
  endpointingDelayMs,
  learnEarlyEndpoint,
  learnPause,
  NO_PAUSES,
  preemptAfterMs,
  type RecognizerAbilities,
  requestAfterMs,
} from './endpointing.ts';

/** The language of a conversation whose configuration names none. */
export const DEFAULT_LANGUAGE = 'en';

/** Turn taking at one node of the pathway. */
export interface TurnPolicy extends EndpointingBounds, InterruptionPolicy {
  /** Silence of both sides that starts a turn of the agent. */
  readonly silenceAfterMs: number;
  /** Silence after which the pathway takes an edge, reprompts included; undefined for none. */
  readonly silenceEdgeMs?: number | undefined;
  /** The agent's silence prompts in their order; empty for the language's fallback phrase. */
  readonly silencePrompts: readonly string[];
  /** Unanswered silences before the agent hangs up; 0 for never. */
  readonly hangupAfter: number;
}

export const DEFAULT_TURN_POLICY: TurnPolicy = {
  interruptible: true,
  interruptAfterMs: DEFAULT_INTERRUPT_AFTER_MS,
  minEndpointingDelayMs: DEFAULT_MIN_PAUSE_MS,
  maxEndpointingDelayMs: DEFAULT_MAX_PAUSE_MS,
  silenceAfterMs: DEFAULT_SILENCE_MS,
  silencePrompts: [],
  hangupAfter: DEFAULT_HANGUP_AFTER,
};

/** The node's settings, completed by the defaults. */
export function turnPolicyOf(node: PathwayNode | undefined): TurnPolicy {
  if (!node) return DEFAULT_TURN_POLICY;
  const { interruption, interruptAfterMs, turn, silence } = node.data;
  const minEndpointingDelayMs =
    turn?.minPauseMs ?? Math.min(DEFAULT_MIN_PAUSE_MS, turn?.maxPauseMs ?? DEFAULT_MIN_PAUSE_MS);
  return {
    interruptible: interruption !== 'off',
    interruptAfterMs: interruptAfterMs ?? DEFAULT_INTERRUPT_AFTER_MS,
    minEndpointingDelayMs,
    maxEndpointingDelayMs: turn?.maxPauseMs ?? Math.max(DEFAULT_MAX_PAUSE_MS, minEndpointingDelayMs),
    silenceAfterMs: silence?.afterMs ?? DEFAULT_SILENCE_MS,
    silencePrompts: silence?.prompts ?? [],
    hangupAfter: silence?.hangupAfter ?? DEFAULT_HANGUP_AFTER,
  };
}

/** Turn taking of one session at the moment: the node's policy, the caller's pauses and the language. */
export class TurnSettings {
  /** The conversation's language; a tag such as `zh-TW`. */
  language = DEFAULT_LANGUAGE;
  #node: CurrentNode | undefined;
  #policy: TurnPolicy = DEFAULT_TURN_POLICY;
  #pauses: CallerPauses = NO_PAUSES;
  /** Silence prompts at this node. */
  #silencePrompts = 0;
  #isInterruptible = true;
  #recognizer: RecognizerAbilities;

  readonly #onNode: (current: CurrentNode) => void;

  /** @param onNode - Called at each node that is entered. */
  constructor(recognizer: RecognizerAbilities, onNode: (current: CurrentNode) => void = () => undefined) {
    this.#recognizer = recognizer;
    this.#onNode = onNode;
  }

  /** The pathway's current node; undefined before the first turn. */
  get node(): CurrentNode | undefined {
    return this.#node;
  }

  get policy(): TurnPolicy {
    return this.#policy;
  }

  /** The node's policy; while words of another node are being heard, with that node's policy of interruptions. */
  policyWhile(heard: InterruptionPolicy | undefined): TurnPolicy {
    if (!heard) return this.#policy;
    const { interruptAfterMs } = heard;
    return { ...this.#policy, interruptAfterMs, interruptible: heard.interruptible && this.#isInterruptible };
  }

  get expectedAnswers(): readonly string[] {
    return this.#node?.expectedAnswers ?? [];
  }

  /** Covers a long wait for an answer; undefined where that is not the channel's to do. */
  get filler(): string | undefined {
    return this.#node?.speaksForItself ? undefined : fallbackPhrasesOf(this.language).filler;
  }

  enterNode(current: CurrentNode): void {
    if (current.node.id !== this.#node?.node.id) this.#silencePrompts = 0;
    this.#node = current;
    this.language = current.language ?? DEFAULT_LANGUAGE;
    this.#policy = this.policyAt(current);
    this.#onNode(current);
  }

  /** A turn has found the session, whose language holds until the first node says. */
  onSession({ state }: Session): void {
    const { language } = state.variables;
    if (!this.#node && typeof language === 'string' && language !== '') this.language = language;
  }

  /** Turn taking at a node. */
  policyAt({ node, silenceEdgeMs }: CurrentNode): TurnPolicy {
    const policy = { ...turnPolicyOf(node), silenceEdgeMs };
    return this.#isInterruptible ? policy : { ...policy, interruptible: false };
  }

  /** Holds at every later node too: the sound of an answering machine is not an interruption. */
  forbidInterruption(): void {
    this.#isInterruptible = false;
    this.#policy = { ...this.#policy, interruptible: false };
  }

  /** Allows interruption again, since no answering machine was detected. */
  allowInterruption(): void {
    this.#isInterruptible = true;
    if (this.#node) this.#policy = this.policyAt(this.#node);
  }

  /** Switches to the abilities of another recognizer. */
  useRecognizer(abilities: RecognizerAbilities): void {
    this.#recognizer = abilities;
  }

  /** The recognizer has told a turn's end: it detects turns. */
  learnTurnEvents(): void {
    if (!this.#recognizer.detectsTurns) this.#recognizer = { ...this.#recognizer, detectsTurns: true };
  }

  /** The caller paused this long after these words and continued. */
  learnPause(pauseMs: number, transcript: string | undefined): void {
    this.#pauses = learnPause(this.#pauses, pauseMs, transcript);
  }

  /** The caller paused this long and was answered before they continued. */
  learnEarlyEndpoint(pauseMs: number): void {
    this.#pauses = learnEarlyEndpoint(this.#pauses, pauseMs);
  }

  /** The silence that ends the caller's turn. */
  endpointingDelayMs(turn: CallerTurn): number {
    return endpointingDelayMs(turn, this.#endpointing());
  }

  /** Silence after which an answer is prepared; undefined for never. */
  preemptAfterMs(turn: CallerTurn): number | undefined {
    return preemptAfterMs(turn, this.#endpointing());
  }

  /** Silence after which the transcript is requested. */
  get requestAfterMs(): number {
    return requestAfterMs(this.#recognizer);
  }

  #endpointing(): EndpointingOptions {
    return {
      bounds: this.#policy,
      expectedAnswers: this.expectedAnswers,
      pauses: this.#pauses,
      detection: this.#node?.turnDetection ?? DEFAULT_TURN_DETECTION,
      recognizer: this.#recognizer,
    };
  }

  /**
   * Returns the agent's words where the pathway has none. Silence prompts come in order; the last one repeats.
   *
   * @param isTransfer - The turn transfers the call.
   */
  fallbackPhrase(input: TurnInput, isLast: boolean, isTransfer = false): string | undefined {
    const phrases = fallbackPhrasesOf(this.language);
    const isFailure =
      input.kind === 'failure' || (input.kind === 'channel_error' && input.code === AGENT_FAILED);
    if (this.#node?.speaksForItself && !isFailure) return undefined;
    switch (input.kind) {
      case 'failure':
        return phrases.apology;
      case 'channel_error':
        return noticePhrase(input.code, phrases);
      case 'not_understood': {
        if (input.leadsOn) return isTransfer ? phrases.connecting : phrases.givingUp;
        const choices = { answers: this.expectedAnswers, digits: this.#node?.digits ?? [] };
        return repromptPhrase(input, choices, this.language);
      }
      case 'transfer_failed':
        return phrases.transferFailed;
      case 'transfer_update':
        return input.progress === 'answered' ? phrases.transferAnswered : phrases.transferWaiting;
      case 'silence': {
        const { silencePrompts } = this.#policy;
        const index = Math.min(this.#silencePrompts, silencePrompts.length - 1);
        this.#silencePrompts += 1;
        return isLast ? phrases.goodbye : (silencePrompts[index] ?? phrases.stillThere);
      }
      default:
        return undefined;
    }
  }
}
