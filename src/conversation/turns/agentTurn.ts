import type { UsageTally } from '../../agents/cost/usage.ts';
import type { Clock } from '../../base/values/clock.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { NewSession, Session } from '../../engine/session/session.ts';
import { AnswerWaits } from '../../engine/turn/answerWaits.ts';
import {
  type Commitment,
  type CurrentNode,
  type Delivered,
  type SpokenDelivery,
  TurnCancelledError,
} from '../../engine/turn/delivery.ts';
import type {
  ExternalMessage,
  TurnAction,
  TurnDone,
  TurnInput,
  TurnOutput,
  TurnRequest,
} from '../../engine/turn/turn.ts';
import type { AnswerSpeech, AnswerSpeechEvents } from '../speech/answerSpeech.ts';
import type { TurnSettings } from '../turnDetection/turnSettings.ts';
import {
  agentStartEpochMs,
  speechEndEpochMs,
  type TurnLatency,
  type TurnTimestamps,
  turnLatency,
} from './turnLatency.ts';

/** Turns without fillers: an answering machine does not wait, and the others have their text at once. */
const WITHOUT_FILLER: ReadonlySet<TurnInput['kind']> = new Set([
  'voicemail',
  'channel_error',
  'unanswered_message',
  'transfer_update',
  'disclosure',
  'say',
]);
/** Turns that answer no caller, and have no latency. */
const WITHOUT_LATENCY: ReadonlySet<TurnInput['kind']> = new Set([
  'silence',
  'voicemail',
  'transfer_update',
  'disclosure',
  'say',
  'given_back',
]);
/** Silence before the first filler, and between two of them. */
const FILLER_AFTER_MS = 4_000;
const FILLER_INTERVAL_MS = 8_000;

/** What runs the agent's turns: the conversation engine, or a customer's bot in its place. */
export interface TurnEngine {
  readonly runTurn: ConversationEngine['runTurn'];
  readonly heardAfterEnd?: ConversationEngine['heardAfterEnd'] | undefined;
}

export interface AgentTurnDeps<Speech extends AnswerSpeech> {
  readonly engine: TurnEngine;
  readonly session: NewSession;
  /** Variables from the stream, for a new session. */
  readonly variables?: Readonly<Record<string, string>>;
  /** @see TurnRequest.tally */
  readonly tally?: UsageTally | undefined;
  /** Opens what the next answer is said with. */
  readonly openSpeech: (events: AnswerSpeechEvents) => Speech;
  /** @see SpokenDelivery.speakingModel */
  readonly speakingModel?: SpokenDelivery['speakingModel'] | undefined;
  readonly clock: Clock;
  readonly settings: TurnSettings;
  /** @throws {CallwayError} `session_ended` when the session is not the one that the voice session started with. */
  readonly onSession: (session: Session) => void;
  /** The agent's first sample was played. */
  readonly onStartedSpeaking: () => void;
  /** A sentence could not be spoken. */
  readonly onSpeechFailure: (error: unknown) => void;
  /** A disclosure was played to its end. */
  readonly onDisclosed?: ((id: string) => void) | undefined;
}

export interface AgentTurnRequest {
  readonly input: TurnInput;
  /** What was said in turns that were not stored. */
  readonly history: readonly ExternalMessage[];
  readonly timestamps: TurnTimestamps;
  /** The agent hangs up after it. */
  readonly isLast: boolean;
  /** Nothing is played, and no tool has effects, until {@link AgentTurn.commit}. */
  readonly isPreemptive?: boolean;
}

export interface AgentTurnResult {
  readonly outcome: 'completed' | 'interrupted' | 'cancelled' | 'stopped' | 'failed';
  /** Whether the pathway itself said something, fillers excluded. */
  readonly hasText: boolean;
  /** Whether its input is in the session's history. */
  readonly isStored: boolean;
  readonly ended: TurnDone['ended'];
  readonly actions: readonly TurnAction[];
  readonly latency: TurnLatency | undefined;
  readonly error: unknown;
}

/** One turn of the agent: runs on the conversation engine, is spoken as it is written, and stored as it was heard. */
export class AgentTurn<Speech extends AnswerSpeech = AnswerSpeech> {
  readonly input: TurnInput;
  timestamps: TurnTimestamps;
  readonly speech: Speech;
  /** Resolves when the turn has ended. Never rejects. */
  readonly done: Promise<AgentTurnResult>;
  readonly #deps: AgentTurnDeps<Speech>;
  readonly #request: AgentTurnRequest;
  readonly #abort = new AbortController();
  readonly #actions: TurnAction[] = [];
  /** What the turn waited for before its first text. */
  readonly #waits = new AnswerWaits();
  #stopped: 'interrupted' | 'cancelled' | 'stopped' | undefined;
  #hasText = false;
  /** All text that was to be spoken. */
  #written = '';
  #hasFallbackText = false;
  /** The engine has started, and stores what the caller said even if the answer fails. */
  #hasStarted = false;
  /** The answer was played to its end. */
  #isPlayed = false;
  #ended: TurnDone['ended'] = null;
  /** When the caller began to hear nothing while no speech is being prepared. */
  #starvedSinceMs: number | undefined;
  #fillerAtMs: number | undefined;
  /** The commitment of a preemptive turn; undefined for other turns. */
  readonly #commitment: PendingCommitment | undefined;
  /** Nodes that the pathway entered before the commitment. */
  #passedNodes: CurrentNode[] = [];

  constructor(deps: AgentTurnDeps<Speech>, request: AgentTurnRequest) {
    this.#deps = deps;
    this.#request = request;
    this.input = request.input;
    this.timestamps = request.timestamps;
    this.speech = this.#openSpeech();
    if (request.isPreemptive) {
      this.#commitment = createCommitment(this.#abort.signal);
      this.speech.playout.pause();
    }
    this.done = this.#run();
  }

  /** Whether the turn is preemptive and not committed: it can be cancelled without a trace. */
  get isUncommitted(): boolean {
    return this.#commitment?.isPending ?? false;
  }

  /** The caller has finished: the preemptive turn becomes their answer. @param timestamps - The times of the end of turn. */
  commit(timestamps: TurnTimestamps): void {
    const { firstTextAtMs, firstSentenceAtMs, firstSamplesAtMs } = this.timestamps;
    const steps = { firstTextAtMs, firstSentenceAtMs, firstSamplesAtMs };
    this.timestamps = { ...timestamps, ...omitUndefined(steps) };
    this.#commitment?.commit();
    for (const node of this.#passedNodes.splice(0)) this.#deps.settings.enterNode(node);
    this.speech.playout.resume();
  }

  /** The caller interrupts: the history keeps what was heard. No effect on an answer that was already played. */
  interrupt(): void {
    const reason = new Error('the caller interrupted');
    // Only the storing is left, which must not delay the next turn.
    if (this.#isPlayed) this.#abort.abort(reason);
    else this.#stop('interrupted', reason);
  }

  /** The caller continued before anything was heard: the turn is undone. */
  cancel(): void {
    this.#stop('cancelled', new TurnCancelledError());
  }

  /** The call has ended or is transferred: the history keeps what was heard, without an interruption. */
  stop(): void {
    this.#stop('stopped', new Error('the call has ended or is transferred'));
  }

  /** Call with each frame of the caller. @param isOnHold - The peer plays nothing. */
  onFrame(isOnHold: boolean): void {
    this.speech.onFrame(isOnHold);
    const nowMs = this.#deps.clock.monotonicMs();
    if (isOnHold || !this.speech.isStarved) this.#starvedSinceMs = undefined;
    else this.#starvedSinceMs ??= nowMs;
    if (this.#starvedSinceMs === undefined || WITHOUT_FILLER.has(this.input.kind)) return;
    const { filler } = this.#deps.settings;
    if (filler === undefined || nowMs - this.#starvedSinceMs < FILLER_AFTER_MS) return;
    if (this.#fillerAtMs !== undefined && nowMs - this.#fillerAtMs < FILLER_INTERVAL_MS) return;
    this.#fillerAtMs = nowMs;
    this.#sayFallback(filler);
  }

  #openSpeech(): Speech {
    const { clock, openSpeech, onStartedSpeaking, onSpeechFailure } = this.#deps;
    return openSpeech({
      onFirstSentence: () => {
        this.timestamps.firstSentenceAtMs = clock.monotonicMs();
      },
      onFirstSamples: () => {
        this.timestamps.firstSamplesAtMs = clock.monotonicMs();
      },
      onStarted: ({ streamMs, bufferDelayMs }) => {
        this.timestamps.agentStartStreamMs = streamMs;
        this.timestamps.bufferDelayMs = bufferDelayMs;
        onStartedSpeaking();
      },
      onFailure: onSpeechFailure,
    });
  }

  async #run(): Promise<AgentTurnResult> {
    const { engine, session } = this.#deps;
    try {
      const onOutput = (output: TurnOutput) => this.#onOutput(output);
      await engine.runTurn(session, () => this.#turnRequest(), onOutput, this.#abort.signal);
      return this.#result(this.#stopped ?? 'completed');
    } catch (error) {
      if (this.#stopped) return this.#result(this.#stopped);
      return this.#result(this.isUncommitted ? 'cancelled' : 'failed', error);
    }
  }

  #turnRequest(): TurnRequest {
    const { clock, onSession, speakingModel, variables, tally } = this.#deps;
    const { input, history } = this.#request;
    const { firstVoicedMs, lastVoicedMs } = this.timestamps;
    const beganAtMs = speechEndEpochMs(this.timestamps, clock.monotonicMs(), clock.now());
    return {
      input,
      tally,
      delivery: {
        onSession,
        onNode: (current, hasSpokenFor) => this.#onNode(current, hasSpokenFor),
        onWait: (waitedFor) => {
          if (this.timestamps.firstTextAtMs === undefined) this.#waits.begin(waitedFor, clock.monotonicMs());
        },
        finish: () => this.#finish(),
        heardSoFar: () => this.#heardSoFar(),
        commitment: this.#commitment,
        speakingModel,
      },
      beganAtMs,
      spokenFromMs:
        firstVoicedMs === undefined ? undefined : beganAtMs - Math.max(0, lastVoicedMs - firstVoicedMs),
      history,
      variables,
    };
  }

  #onNode(current: CurrentNode, hasSpokenFor: boolean): Promise<void> | undefined {
    const { settings } = this.#deps;
    // Words of two nodes share no piece.
    this.speech.completeText();
    if (this.isUncommitted) this.#passedNodes.push(current);
    else settings.enterNode(current);
    this.speech.enterNode(settings.policyAt(current), hasSpokenFor);
    return this.speech.useVoiceOf(current);
  }

  #onOutput(output: TurnOutput): undefined {
    switch (output.type) {
      case 'start':
        this.#hasStarted = true;
        return;
      case 'text':
        this.timestamps.firstTextAtMs ??= this.#deps.clock.monotonicMs();
        this.#hasText = true;
        this.#written += output.text;
        if (output.isSpoken) this.speech.writeSpoken(output.text);
        else this.speech.write(output.text);
        return;
      case 'speech':
        this.timestamps.firstTextAtMs ??= this.#deps.clock.monotonicMs();
        this.#hasText = true;
        this.speech.play(output.speech);
        return;
      case 'filler':
        this.timestamps.firstTextAtMs ??= this.#deps.clock.monotonicMs();
        this.#written += output.text;
        this.speech.completeText();
        this.speech.say(output.text);
        return;
      case 'action':
        this.#actions.push(output.action);
        return;
      case 'done':
        this.#ended = output.ended;
        return;
      default:
    }
  }

  /** The text is complete: waits until the speech was played or stopped. */
  async #finish(): Promise<Delivered> {
    this.speech.completeText();
    const { input, isLast } = this.#request;
    const isTransfer = this.#actions.some(({ kind }) => kind === 'transfer');
    const fallback = this.#hasText
      ? undefined
      : this.#deps.settings.fallbackPhrase(input, isLast, isTransfer);
    if (fallback !== undefined) this.#sayFallback(fallback);
    this.speech.finish();
    this.#isPlayed = (await this.speech.playout.ended) === 'played';
    if (input.kind === 'disclosure' && this.#isPlayed && this.#hasText) this.#deps.onDisclosed?.(input.id);
    const latency = WITHOUT_LATENCY.has(input.kind) ? undefined : turnLatency(this.timestamps, this.#waits);
    return { ...this.#heardSoFar(), interrupted: !this.#isPlayed, ...latency };
  }

  /** Says a fallback phrase or filler, which the engine did not generate. */
  #sayFallback(text: string): void {
    this.speech.say(text);
    this.#written = `${this.#written} ${text} `;
    this.#hasFallbackText = true;
  }

  #heardSoFar(): Delivered {
    const text = this.speech.heardText();
    const generatedText = this.#hasFallbackText ? this.#written.trim() : undefined;
    const { provider, heard } = this.speech;
    const { clock } = this.#deps;
    const spokenFromMs = agentStartEpochMs(this.timestamps, clock.monotonicMs(), clock.now());
    const speech = provider === undefined ? undefined : { synthesis: provider };
    const spoken = { text, spokenFromMs, speech, heard, generatedText };
    if (this.#stopped !== 'interrupted') return { ...spoken, interrupted: false, events: [] };
    const { stopMs } = this.speech.playout;
    const bargeIn = {
      type: 'barge_in',
      data: {
        heardText: text,
        heardMs: Math.round(this.speech.heardMs()),
        stopMs: stopMs === undefined ? undefined : Math.round(stopMs),
      },
    } as const;
    return { ...spoken, interrupted: true, events: [bargeIn] };
  }

  #result(outcome: AgentTurnResult['outcome'], error?: unknown): AgentTurnResult {
    // A failed turn may still be speaking.
    this.speech.stop();
    return {
      outcome,
      hasText: this.#hasText,
      isStored: this.#hasStarted && outcome !== 'cancelled',
      ended: this.#ended,
      actions: this.#actions,
      latency: turnLatency(this.timestamps, this.#waits),
      error,
    };
  }

  #stop(outcome: 'interrupted' | 'cancelled' | 'stopped', reason: Error): void {
    this.#stopped ??= outcome;
    this.speech.stop();
    this.#abort.abort(reason);
  }
}

interface PendingCommitment extends Commitment {
  commit(): void;
}

function createCommitment(signal: AbortSignal): PendingCommitment {
  let isPending = true;
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((resolvePromise, reject) => {
    resolve = resolvePromise;
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // Most turns have no tool that waits for it.
  promise.catch(() => {});
  return {
    promise,
    get isPending() {
      return isPending;
    },
    commit() {
      isPending = false;
      resolve();
    },
  };
}
