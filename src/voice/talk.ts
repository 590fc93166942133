import type { Clock } from '../base/clock.ts';
import { CallwayError } from '../base/errors.ts';
import type { Conversations, NewSession } from '../conversation/conversations.ts';
import type { Place } from '../conversation/delivery.ts';
import type { Session, SessionEvent } from '../conversation/session.ts';
import type { TakenMessage, TurnInput } from '../conversation/turn.ts';
import type { SpeechToText } from '../models/speechToText.ts';
import type { VoiceActivity } from '../models/voiceActivity.ts';
import { createAgentSpeech } from './agentSpeech.ts';
import { type AgentTurn, type AgentTurnResult, startAgentTurn } from './agentTurn.ts';
import { createMachineWatch, type MachineWatch } from './answering/machineWatch.ts';
import type { AudioStream, AudioStreamEvents } from './audioStream.ts';
import { createEar, type Ear } from './ear.ts';
import { type CallerHabits, endPauseMs, learnPause, NO_HABITS } from './endOfTurn.ts';
import {
  type FloorContext,
  type FloorEffect,
  type FloorEvent,
  type FloorState,
  OPEN_FLOOR,
  transition,
} from './floor.ts';
import { type KeypadState, pressKey, waitForKeys } from './keypad.ts';
import { phrasesOf } from './phrases.ts';
import type { SpokenTurn, VoiceReport } from './report.ts';
import type { SpeechSource } from './speechSource.ts';
import { DEFAULT_TURN_POLICY, type TurnPolicy, turnPolicyOf } from './turnPolicy.ts';
import type { TurnMoments } from './turnTiming.ts';
import { isAcknowledgement } from './words.ts';

/** Nobody waits longer for an answer without asking whether the line is dead. */
const FILL_AFTER_MS = 4000;
/** For the other side to close the stream after it was told to hang up. */
const CLOSE_WAIT_MS = 5000;

export interface TalkDeps {
  readonly stream: AudioStream;
  readonly conversations: Pick<Conversations, 'converse'>;
  /** Adds to a session's history what belongs to no turn. */
  readonly addEvents: (instanceId: string, events: readonly SessionEvent[]) => Promise<void>;
  readonly source: SpeechSource;
  readonly speechToText: SpeechToText;
  readonly activity: VoiceActivity;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

export interface TalkOptions {
  readonly session: NewSession;
  /** Tag of the language until the session's variable `language` says another. */
  readonly language: string;
  /** Whether machines may answer: they are looked for beside the talk. */
  readonly watchForMachines: boolean;
}

/** One call's talk, from the agent's first word to the stream's end: does what the floor's machine wants done. */
export class Talk {
  readonly #deps: TalkDeps;
  readonly #options: TalkOptions;
  readonly #ear: Ear;
  readonly #watch: MachineWatch | undefined;
  readonly #unlisten: (() => void)[] = [];
  readonly #turns: SpokenTurn[] = [];
  #floor: FloorState = OPEN_FLOOR;
  #nowMs = 0;
  #place: Place | undefined;
  #policy: TurnPolicy = DEFAULT_TURN_POLICY;
  #habits: CallerHabits = NO_HABITS;
  #language: string;
  #instanceId: string | undefined;
  /** That belong to no turn, and wait until the session's id is known. */
  #events: SessionEvent[] = [];
  #keypad: KeypadState | undefined;
  #turn: AgentTurn | undefined;
  /** What the turn answers that is under way, or about to be. */
  #answering: TurnInput['kind'] | undefined;
  /** Of the newest turn that is wanted; one that waits with an older one is not wanted any more. */
  #ticket = 0;
  #speech: ReturnType<typeof createAgentSpeech> | undefined;
  /** What the caller said in turns that were not kept. */
  #unkept: TakenMessage[] = [];
  #lastVoicedMs = 0;
  /** Of the caller's turn that is over, while its words are still waited for. */
  #moments: TurnMoments | undefined;
  #isFilled = false;
  #isLastTurn = false;
  #silencePrompts = 0;
  #marks = 0;
  #bargeIns = 0;
  #falseStops = 0;
  #how: VoiceReport['how'] = 'closed';
  #finish: () => void = () => undefined;
  #isClosed = false;

  constructor(deps: TalkDeps, options: TalkOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#language = options.language;
    const { sampleRateHz } = deps.stream.info;
    this.#ear = createEar({
      sampleRateHz,
      detector: deps.activity.open(sampleRateHz),
      speechToText: deps.speechToText,
      hints: () => ({
        language: this.#language,
        expectedAnswers: this.#place?.node.data.expectedAnswers ?? [],
      }),
      onFrame: (frame, atMs) => this.#onFrame(frame, atMs),
      onWords: (text) => this.#onWords(text),
      onWordsFailed: (error) => this.#onWordsFailed(error),
    });
    this.#watch = options.watchForMachines ? createMachineWatch(sampleRateHz) : undefined;
  }

  /** Talks until the stream is closed. Never rejects. */
  async run(): Promise<VoiceReport> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    this.#listen();
    void this.#takeTurn({ kind: 'begin' });
    await finished;
    await this.#turn?.done;
    this.#ear.close();
    for (const unlisten of this.#unlisten) unlisten();
    return {
      how: this.#how,
      answeredBy: this.#watch?.verdict ?? 'unknown',
      turns: this.#turns,
      bargeIns: this.#bargeIns,
      falseStops: this.#falseStops,
    };
  }

  #listen(): void {
    const { events } = this.#deps.stream;
    this.#unlisten.push(
      events.on('audio', (samples) => this.#ear.push(samples)),
      events.on('dtmf', ({ digit }) => this.#onKey(digit)),
      events.on('mark', (mark) => this.#speech?.onMark(mark)),
      events.on('cleared', (position) => this.#speech?.onCleared(position)),
      events.on('closed', () => this.#onClosed()),
    );
  }

  #onFrame(frame: Int16Array, atMs: number): void {
    this.#nowMs = atMs;
    const { utterance } = this.#ear;
    if (utterance) this.#lastVoicedMs = utterance.lastVoicedMs;
    this.#speech?.onTick();
    this.#watchMachine(frame);
    const keys = waitForKeys(this.#keypad, atMs);
    this.#keypad = keys.state;
    if (keys.complete !== undefined) this.#dispatch({ type: 'keys', digits: keys.complete });
    this.#fillLongWait();
    this.#dispatch({ type: 'frame' });
  }

  #onWords(text: string): void {
    const turn = this.#moments;
    if (turn) turn.wordsAtMs = this.#deps.clock.monotonicMs();
    const voicedMs = this.#ear.utterance?.voicedMs ?? 0;
    this.#noteMachine(this.#watch?.onWords(text, voicedMs));
    this.#dispatch({
      type: 'words',
      text,
      isAcknowledgement: isAcknowledgement(text, voicedMs, this.#language),
    });
  }

  #onWordsFailed(error: unknown): void {
    this.#deps.onError(error, 'speech was not recognised');
    const message = error instanceof CallwayError ? error.message : 'The recogniser failed';
    this.#dispatch({ type: 'words_failed', message });
  }

  #onKey(digit: string): void {
    this.#dispatch({ type: 'key' });
    const step = pressKey(this.#keypad, digit, this.#nowMs, this.#place?.keys ?? []);
    this.#keypad = step.state;
    if (step.complete !== undefined) this.#dispatch({ type: 'keys', digits: step.complete });
  }

  #onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#dispatch({ type: 'ending' });
    this.#turn?.leave();
    this.#speech?.onClosed();
    this.#finish();
  }

  #dispatch(event: FloorEvent): void {
    const { state, effects } = transition(this.#floor, event, this.#context());
    const wasEnded = this.#floor.isEnded;
    this.#floor = state;
    if (state.isEnded && !wasEnded) this.#moments = this.#momentsNow();
    for (const effect of effects) this.#perform(effect);
  }

  #context(): FloorContext {
    const expectedAnswers = this.#place?.node.data.expectedAnswers ?? [];
    return {
      atMs: this.#nowMs,
      utterance: this.#ear.utterance,
      policy: this.#policy,
      endPauseMs: endPauseMs(this.#floor.words, expectedAnswers, this.#habits, this.#policy),
      answering: this.#answering,
    };
  }

  #momentsNow(): TurnMoments {
    const endedAtMs = this.#deps.clock.monotonicMs();
    return { lastVoicedMs: this.#lastVoicedMs, endedStreamMs: this.#nowMs, endedAtMs };
  }

  #perform(effect: FloorEffect): void {
    switch (effect.type) {
      case 'ask_words':
        this.#ear.ask();
        break;
      case 'went_on':
        this.#habits = learnPause(this.#habits, effect.pauseMs);
        this.#moments = undefined;
        this.#ear.dropQuestion();
        break;
      case 'forget_utterance':
        this.#ear.forget();
        break;
      case 'hold':
        this.#speech?.hold();
        break;
      case 'resume':
        this.#falseStops += 1;
        this.#speech?.resume();
        break;
      case 'cut':
        this.#turn?.cut();
        break;
      case 'take_back':
        this.#ticket += 1;
        this.#turn?.takeBack();
        break;
      case 'take_turn':
        this.#isLastTurn = effect.isLast === true;
        void this.#takeTurn(effect.input);
    }
  }

  /** Takes a turn once the one before is kept, and sees to what comes of it. */
  async #takeTurn(input: TurnInput, isApology = false): Promise<void> {
    this.#ticket += 1;
    const ticket = this.#ticket;
    const moments = this.#moments ?? this.#momentsNow();
    this.#moments = undefined;
    this.#answering = input.kind;
    await this.#turn?.done;
    if (this.#isClosed || ticket !== this.#ticket) return;
    const turn = this.#startTurn(input, moments, isApology);
    const result = await turn.done;
    this.#note(turn, result);
    await this.#follow(turn, result, isApology);
  }

  #startTurn(input: TurnInput, moments: TurnMoments, isApology: boolean): AgentTurn {
    const { stream, source, conversations, clock, onError } = this.#deps;
    const speech = createAgentSpeech({
      stream,
      source,
      voice: { language: this.#language },
      nextMark: () => `callway-${++this.#marks}`,
      onSpeech: () => {
        moments.firstSpeechAtMs = clock.monotonicMs();
      },
      onSounding: (position) => this.#onSounding(moments, position),
      onFailure: (error) => onError(error, 'a piece of an answer was not spoken'),
    });
    this.#speech = speech;
    this.#isFilled = false;
    const { session } = this.#options;
    const turn = startAgentTurn(
      {
        conversations,
        session,
        clock,
        speech,
        onPlace: (place) => this.#onPlace(place),
        onSession: (found) => this.#onSession(found),
      },
      { input, history: this.#unkept.splice(0), moments, ownWords: () => this.#ownWords(input, isApology) },
    );
    this.#turn = turn;
    return turn;
  }

  #onSounding(moments: TurnMoments, position: AudioStreamEvents['cleared']): void {
    moments.soundedStreamMs = (position.receivedSamples * 1000) / this.#deps.stream.info.sampleRateHz;
    moments.bufferDelayMs = position.bufferDelayMs;
    this.#dispatch({ type: 'sounding' });
  }

  #onPlace(place: Place): void {
    if (place.node.id !== this.#place?.node.id) this.#silencePrompts = 0;
    this.#place = place;
    const policy = turnPolicyOf(place.node);
    // A machine that records cannot mean to interrupt.
    this.#policy = this.#watch?.verdict === 'machine' ? { ...policy, interruptible: false } : policy;
  }

  #onSession(session: Session): void {
    if (session.instanceId !== '') this.#instanceId = session.instanceId;
    this.#keepEvents();
    const { language } = session.state.variables;
    if (typeof language === 'string' && language !== '') this.#language = language;
  }

  /** What is said where the pathway says nothing. */
  #ownWords(input: TurnInput, isApology: boolean): string | undefined {
    const phrases = phrasesOf(this.#language);
    if (isApology) return phrases.apology;
    if (input.kind === 'failure') {
      this.#isLastTurn = true;
      this.#how = 'failed';
      return phrases.apology;
    }
    if (input.kind === 'notice') return input.code === 'not_understood' ? phrases.pardon : phrases.useKeys;
    if (input.kind !== 'silence') return undefined;
    if (this.#isLastTurn) return phrases.goodbye;
    const { silencePrompts } = this.#policy;
    const index = Math.min(this.#silencePrompts, silencePrompts.length - 1);
    this.#silencePrompts += 1;
    return silencePrompts[index] ?? phrases.stillThere;
  }

  #note(turn: AgentTurn, result: AgentTurnResult): void {
    const { input } = turn;
    if (!result.isKept && input.kind === 'words' && result.how !== 'taken_back') {
      this.#unkept.push({ role: 'user', content: input.text });
    }
    if (result.how === 'cut') this.#bargeIns += 1;
    if (!result.latency) return;
    const isAnswer = input.kind === 'words' || input.kind === 'dtmf';
    this.#turns.push({
      kind: input.kind,
      interrupted: result.how === 'cut',
      ...(isAnswer ? result.latency : {}),
    });
  }

  async #follow(turn: AgentTurn, result: AgentTurnResult, isApology: boolean): Promise<void> {
    if (this.#isClosed) return;
    if (result.how === 'failed') {
      await this.#afterFailure(turn, result.error, isApology);
      return;
    }
    const wasCut = result.how !== 'answered';
    if (!wasCut) this.#act(result);
    const isOver = result.ended !== null || isApology || turn.input.kind === 'voicemail';
    if (isOver || (this.#isLastTurn && !result.saidAnything)) {
      this.#hangUp();
      return;
    }
    this.#isLastTurn = false;
    if (!wasCut && this.#turn === turn) this.#dispatch({ type: 'answered' });
  }

  /** The pathway's fallback is tried, then an apology is said; nobody is left in silence. */
  async #afterFailure(turn: AgentTurn, error: unknown, isApology: boolean): Promise<void> {
    this.#deps.onError(error, 'a turn failed');
    if (isApology) {
      this.#hangUp();
      return;
    }
    this.#dispatch({ type: 'rethinking' });
    if (turn.input.kind !== 'failure') {
      await this.#takeTurn({ kind: 'failure' });
      return;
    }
    this.#how = 'failed';
    const message = error instanceof CallwayError ? error.message : 'The turn failed';
    await this.#takeTurn({ kind: 'notice', code: 'agent_failed', message }, true);
  }

  #act({ actions }: AgentTurnResult): void {
    for (const action of actions) {
      if (action.kind === 'transfer') {
        this.#how = 'transferred';
        this.#dispatch({ type: 'ending' });
      }
      this.#deps.stream.command(action);
    }
  }

  #hangUp(): void {
    if (this.#how === 'closed') this.#how = 'hung_up';
    this.#dispatch({ type: 'ending' });
    const { stream, clock } = this.#deps;
    stream.command({ kind: 'hangup' });
    const timer = clock.setTimer(() => {
      stream.close(1000, 'the agent has hung up');
      this.#onClosed();
    }, CLOSE_WAIT_MS);
    this.#unlisten.push(() => timer.cancel());
  }

  #fillLongWait(): void {
    const { phase, sinceMs } = this.#floor;
    if (phase !== 'thinking' || this.#isFilled || !this.#turn || this.#turn.hasText) return;
    if (this.#turn.input.kind !== 'words' || this.#nowMs - sinceMs < FILL_AFTER_MS) return;
    this.#isFilled = true;
    this.#turn.fill(phrasesOf(this.#language).moment);
  }

  #watchMachine(frame: Int16Array): void {
    const watch = this.#watch;
    if (!watch) return;
    this.#noteMachine(watch.onFrame(frame, this.#ear.utterance, this.#nowMs));
    const evidence =
      this.#floor.phase === 'waiting' ? watch.recordsBy(this.#nowMs, this.#lastVoicedMs) : undefined;
    if (evidence !== undefined) this.#dispatch({ type: 'recording', evidence });
  }

  #noteMachine(kind: 'machine' | 'screening' | undefined): void {
    if (kind === 'machine') {
      this.#policy = { ...this.#policy, interruptible: false };
      this.#dispatch({ type: 'machine' });
    }
    if (kind === 'screening') this.#addEvent('answering_machine', { kind, evidence: this.#watch?.evidence });
  }

  #addEvent(type: SessionEvent['type'], data: Readonly<Record<string, unknown>>): void {
    this.#events.push({ type, at: new Date(this.#deps.clock.now()).toISOString(), data });
    this.#keepEvents();
  }

  /** A session that a turn has just made is known by its id from the next turn on. */
  #keepEvents(): void {
    if (this.#instanceId === undefined || this.#events.length === 0) return;
    this.#deps.addEvents(this.#instanceId, this.#events.splice(0)).catch((error: unknown) => {
      this.#deps.onError(error, 'an event was not kept');
    });
  }
}
