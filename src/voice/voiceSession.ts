import { CallwayError } from '../base/errors.ts';
import { AGENT_FAILED, STREAM_RESUMED } from '../conversation/speech/fallbackPhrases.ts';
import type { AudioStream } from '../conversation/streams/audioStream.ts';
import { TurnSettings } from '../conversation/turnDetection/turnSettings.ts';
import type { TurnEngine } from '../conversation/turns/agentTurn.ts';
import { AgentTurnQueue } from '../conversation/turns/agentTurnQueue.ts';
import { Disclosures } from '../conversation/turns/disclosures.ts';
import { SessionHistory, type SessionHistoryDeps } from '../conversation/turns/sessionHistory.ts';
import type { SessionOutcome } from '../conversation/turns/sessionOutcome.ts';
import { TurnCheckpoints } from '../conversation/turns/turnCheckpoints.ts';
import type { SpokenTurn } from '../conversation/turns/turnLatency.ts';
import type { HeardSpeech } from '../engine/history/historyStore.ts';
import type { TurnCheckpointStore } from '../engine/session/interruptedTurn.ts';
import type { NewSession } from '../engine/session/session.ts';
import type { CurrentNode } from '../engine/turn/delivery.ts';
import type { TurnInput } from '../engine/turn/turn.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { NoiseSuppression } from '../models/ports/noiseSuppression.ts';
import type { Transcript } from '../models/ports/speechToText.ts';
import type { VoiceActivityDetection } from '../models/ports/voiceActivity.ts';
import type { ProviderFallback } from '../models/selection/callProviders.ts';
import { AnsweredByMonitor, type AnsweredByMonitorDeps } from './answeringMachine/answeredByMonitor.ts';
import { type AnsweredBy, AnsweringMachineDetector } from './answeringMachine/answeringMachineDetector.ts';
import { Captions } from './captions.ts';
import { CallNoise } from './recognition/callNoise.ts';
import { CallRecognizers } from './recognition/callRecognizers.ts';
import { HeardTally, type UtteranceResult } from './recognition/heardSpeech.ts';
import { recognizerAbilities } from './recognition/openTranscription.ts';
import { SpeechRecognition } from './recognition/speechRecognition.ts';
import { SessionEnd } from './sessionEnd.ts';
import { type AgentSpeech, createSpeechOpener } from './speech/agentSpeech.ts';
import type { SessionSpeech } from './speech/callSpeech.ts';
import { type CallEngine, createCallEngine } from './speechToSpeech/callEngine.ts';
import { SupervisedAgent } from './supervisedAgent.ts';
import { ThreadTime } from './threadTime.ts';
import { CallTransfer, transferFailed } from './transfer/callTransfer.ts';
import { TurnController } from './turnController.ts';

/** A session that holds its thread has this long to say its apology. */
const APOLOGY_TIMEOUT_MS = 15_000;

const BEGIN: TurnInput = { kind: 'begin' };
const RESUME: TurnInput = {
  kind: 'channel_error',
  code: STREAM_RESUMED,
  message: 'The audio stream was lost; the session continues on another one',
};

/** What answers the caller: the conversation engine, or a customer's bot in its place. */
interface AnsweringEngine extends TurnEngine {
  /** What the bot wants to say without having been asked; undefined when it never does. */
  readonly initiative?: (() => TurnInput | undefined) | undefined;
}

export interface VoiceSessionDeps extends SessionHistoryDeps {
  readonly stream: AudioStream;
  readonly engine: AnsweringEngine;
  /** Stores running turns, so that another node can recover them; undefined for a customer's bot. */
  readonly checkpoints?: TurnCheckpointStore | undefined;
  readonly speech: SessionSpeech;
  readonly voiceActivity: VoiceActivityDetection;
  /** What the process has computed so far. Default: the operating system's count. */
  readonly cpuMs?: (() => number) | undefined;
  /** Suppresses noise; undefined on an installation that never does. */
  readonly noiseSuppression?: NoiseSuppression | undefined;
  /** A turn in which the agent was heard has ended. */
  readonly onSpokenTurn?: ((turn: SpokenTurn) => void) | undefined;
  /** An utterance of the caller is closed. */
  readonly onUtterance?: ((result: UtteranceResult) => void) | undefined;
  /** Publishes live events; undefined in tests, which have no subscribers. */
  readonly liveEvents?: LiveEvents | undefined;
}

export interface VoiceSessionOptions {
  readonly session: NewSession;
  readonly detectAnsweringMachine?: boolean;
  /** Called when it is not yet known who answered the call, and whenever that changes. */
  readonly onAnsweredBy?: AnsweredByMonitorDeps['onAnsweredBy'];
  /** Whether the number's settings suppress noise; undefined where they leave it to the agent. */
  readonly noiseSuppression?: boolean | undefined;
  /** The agent has spoken in this session on a stream that was lost: it does not greet again. */
  readonly isResumed?: boolean;
}

export interface VoiceReport {
  readonly outcome: SessionOutcome;
  readonly answeredBy: AnsweredBy;
  /** The spoken turns, in order. */
  readonly turns: readonly SpokenTurn[];
  /** Answers that the caller interrupted. */
  readonly interruptions: number;
  /** Pauses of the agent that were resumed. */
  readonly falseInterruptions: number;
  readonly heard: HeardSpeech;
}

/** One call's voice session, from the agent's first word until the stream closes. */
export class VoiceSession {
  readonly #deps: VoiceSessionDeps;
  readonly #settings: TurnSettings;
  readonly #history: SessionHistory;
  readonly #engine: CallEngine | undefined;
  readonly #recognizers: CallRecognizers;
  readonly #noise: CallNoise;
  readonly #tally: HeardTally;
  readonly #recognition: SpeechRecognition;
  readonly #agentTurns: AgentTurnQueue<AgentSpeech>;
  readonly #turns: TurnController;
  readonly #supervised: SupervisedAgent;
  readonly #transfer: CallTransfer;
  readonly #threadTime: ThreadTime;
  readonly #answering: AnsweredByMonitor;
  /** The last one that was published. */
  #interim = '';
  /** Sends captions; undefined when the peer does not want them. */
  readonly #captions: Captions | undefined;
  readonly #firstInput: TurnInput;
  readonly #end: SessionEnd;

  constructor(deps: VoiceSessionDeps, options: VoiceSessionOptions) {
    this.#deps = deps;
    const { stream, speech, historyStore, noiseSuppression, clock, onError } = deps;
    const { failedTransfer, sampleRateHz } = stream.info;
    const resuming = failedTransfer ? transferFailed(failedTransfer) : RESUME;
    this.#firstInput = options.isResumed ? resuming : BEGIN;
    this.#threadTime = new ThreadTime(clock, () => this.#onThreadHeld(), deps.cpuMs);
    if (stream.info.captions) this.#captions = new Captions(stream);
    const abilities = recognizerAbilities(speech.speechToText);
    this.#settings = new TurnSettings(abilities, (current) => this.#onNode(current));
    this.#history = new SessionHistory({ historyStore, clock, onError });
    speech.callSpeech?.listen((fallback) => this.#onFallback(fallback));
    this.#answering = this.#createAnsweredByMonitor(options);
    this.#end = new SessionEnd({ stream, onClosed: () => this.#onClosed(), clock });
    this.#engine = this.#createEngine();
    this.#recognizers = this.#createRecognizers();
    this.#noise = new CallNoise({
      noiseSuppression,
      ofNumber: options.noiseSuppression,
      sampleRateHz,
      onError,
    });
    this.#agentTurns = this.#createAgentTurns(options.session);
    this.#tally = new HeardTally(deps.onUtterance);
    this.#recognition = this.#createRecognition();
    this.#turns = new TurnController({
      stream,
      speechToText: this.#recognizers,
      settings: this.#settings,
      recognition: this.#recognition,
      agentTurns: this.#agentTurns,
      isScreening: (text) => this.#answering.isScreening(text),
      isCallerStored: () =>
        this.#agentTurns.session !== undefined && this.#answering.answeredBy !== 'machine',
      clock,
      onError,
    });
    const speaking = { turns: this.#turns, agentTurns: this.#agentTurns };
    const initiative = () => deps.engine.initiative?.() ?? this.#agentTurns.waiting;
    this.#supervised = new SupervisedAgent({ initiative, stream, ...speaking });
    this.#transfer = new CallTransfer({
      ...speaking,
      onFailed: (input) => this.#supervised.startTurn(input),
    });
  }

  /** Runs until the stream is closed. Never rejects. */
  async run(): Promise<VoiceReport> {
    const { events } = this.#deps.stream;
    const cleanups = [
      events.on(
        'audio',
        this.#threadTime.counted((samples) => this.#recognition.push(samples)),
      ),
      events.on('dtmf', ({ digit }) => this.#turns.onDigit(digit)),
      events.on('hold', ({ isHeld }) => {
        this.#turns.isOnHold = isHeld;
      }),
      events.on('mark', (mark) => this.#agentTurns.speech?.playout.onMark(mark)),
      events.on('cleared', (position) => this.#agentTurns.speech?.playout.onCleared(position)),
      events.on('transfer', (status) => this.#transfer.onStatus(status)),
      events.on('control', (control) => this.#supervised.onControl(control)),
      events.on('request', (request) => this.#supervised.onRequest(request)),
      events.on('closed', () => this.#end.onClosed()),
    ];
    this.#answering.report();
    this.#supervised.start(this.#firstInput);
    await this.#end.closed();
    await this.#agentTurns.settled;
    this.#recognition.close();
    const { heard } = this.#tally;
    this.#history.addHeard(heard);
    this.#noise.close();
    this.#engine?.close();
    for (const cleanup of cleanups) cleanup();
    this.#history.addUsage(this.#deps.speech.tally);
    return {
      outcome: this.#end.outcome ?? (this.#transfer.isRunning ? 'transferred' : 'closed'),
      answeredBy: this.#answering.answeredBy,
      turns: this.#agentTurns.spokenTurns,
      interruptions: this.#agentTurns.interruptions,
      falseInterruptions: this.#turns.falseInterruptions,
      heard,
    };
  }

  #createAnsweredByMonitor({ detectAnsweringMachine, onAnsweredBy }: VoiceSessionOptions): AnsweredByMonitor {
    const { stream, clock } = this.#deps;
    return new AnsweredByMonitor({
      detector: detectAnsweringMachine ? new AnsweringMachineDetector(stream.info.sampleRateHz) : undefined,
      turns: () => this.#turns,
      recognition: () => this.#recognition,
      agentHasCall: () => !this.#transfer.isRunning && !this.#supervised.isTakenOver,
      settings: this.#settings,
      history: this.#history,
      clock,
      onAnsweredBy,
    });
  }

  #createAgentTurns(session: NewSession): AgentTurnQueue<AgentSpeech> {
    const { stream, engine, speech, checkpoints: store, onSpokenTurn, clock, onError } = this.#deps;
    const disclosures = new Disclosures(clock, stream.info.disclosures, () =>
      stream.command({ kind: 'message_began' }),
    );
    return new AgentTurnQueue({
      stream,
      engine,
      session,
      tally: speech.tally,
      speechToText: this.#recognizers,
      openSpeech: createSpeechOpener(stream, speech, clock, () => this.#settings.language),
      checkpoints: store && new TurnCheckpoints({ store, clock, onError }),
      disclosures,
      onDisclosed: (id) => stream.command({ kind: 'disclosed', id, messageMs: disclosures.messageMs }),
      settings: this.#settings,
      history: this.#history,
      speakingModel: (config) => this.#engine?.use(config),
      dispatch: (event) => this.#turns.dispatch(event),
      onSession: (session) => this.#settings.onSession(session),
      onSessionOver: (outcome) => this.#onSessionOver(outcome),
      onSpokenTurn,
      clock,
      onError,
    });
  }

  #createRecognition(): SpeechRecognition {
    const { stream, voiceActivity } = this.#deps;
    const { sampleRateHz } = stream.info;
    return new SpeechRecognition({
      sampleRateHz,
      startSamples: stream.receivedSamples,
      detector: voiceActivity.open(sampleRateHz),
      transcription: this.#recognizers.transcription,
      clean: (frame) => this.#noise.clean(frame),
      agentFrame: () => this.#agentTurns.speech?.playout.lastFrame(),
      onFrame: (frame, atMs) => this.#onFrame(frame, atMs),
      onTranscript: (transcript) => this.#onTranscript(transcript),
      onTranscriptionFailed: (error) => this.#onTranscriptionFailed(error),
      tally: this.#tally,
    });
  }

  #createEngine(): CallEngine | undefined {
    const { stream, speech, clock, onError } = this.#deps;
    return createCallEngine(
      { engines: speech.engines, stream, clock, onError },
      {
        language: () => this.#settings.language,
        transcribe: (frames, options) => this.#recognizers.transcribe(frames, options),
        onFallback: (fallback) => this.#onFallback(fallback),
      },
    );
  }

  #createRecognizers(): CallRecognizers {
    const { stream, speech, clock, onError } = this.#deps;
    return new CallRecognizers({
      stream,
      speech,
      settings: this.#settings,
      engineRecognizer: () => this.#engine?.recognizer,
      threadTime: this.#threadTime,
      onInterim: (text) => this.#onInterim(text),
      onRevised: (transcript) => {
        this.#recognition.noteWords(transcript.text);
        this.#onTranscript(transcript);
      },
      onTurnSignal: (signal) => this.#turns.onTurnSignal(signal),
      clock,
      onError,
    });
  }

  #onNode(current: CurrentNode): void {
    this.#engine?.use(current.engine);
    this.#recognizers.onNode(current);
    this.#noise.onNode(current);
  }

  #onInterim(text: string): void {
    this.#answering.onInterim(text);
    this.#turns.onInterimTranscript(text);
    if (text === this.#interim) return;
    this.#interim = text;
    this.#captions?.callerSays(text);
    this.#deps.liveEvents?.publish({ ...this.#subject(), type: 'transcript.interim', data: { text } });
  }

  #onFallback(fallback: ProviderFallback): void {
    this.#history.addEvent('provider_fallback', { ...fallback });
    this.#deps.liveEvents?.publish({ ...this.#subject(), type: 'provider.fallback', data: { ...fallback } });
    if (fallback.kind === 'recognition') this.#recognizers.onFallback();
    if (fallback.kind === 'engine' && this.#settings.node) this.#recognizers.onNode(this.#settings.node);
  }

  #onFrame(frame: Int16Array, atMs: number): void {
    this.#end.onAudio();
    this.#turns.advanceTo(atMs);
    this.#answering.onFrame(frame);
    this.#transfer.onFrame(atMs);
    this.#turns.onFrame();
    this.#supervised.onFrame();
    this.#captions?.onFrame(this.#agentTurns.speech, this.#recognition.utterance);
  }

  #onTranscript(transcript: Transcript): void {
    if (this.#end.isClosed) return;
    this.#captions?.callerSaid(transcript.text);
    this.#answering.onTranscript(transcript);
    this.#turns.onTranscript(transcript);
  }

  #onTranscriptionFailed(error: unknown): void {
    if (this.#end.isClosed) return;
    this.#deps.onError(error, 'speech recognition failed');
    this.#answering.onTranscriptionFailed();
    const message = error instanceof CallwayError ? error.message : 'Speech recognition failed';
    this.#turns.dispatch({ type: 'transcription_failed', message });
  }

  #onSessionOver(outcome: SessionOutcome): void {
    if (outcome === 'transferred') {
      this.#transfer.start();
      return;
    }
    this.#turns.dispatch({ type: 'session_ending' });
    this.#end.hangUp(outcome, (tell) => this.#answering.onceStored(tell));
  }

  /** What it hears takes the time; without it, the apology does not. */
  #onThreadHeld(): void {
    const message = 'voice session ended: it takes more than its share of the thread';
    this.#deps.onError(undefined, message);
    this.#history.addEvent('error', {
      code: 'thread_held',
      message: 'The call takes more processor time than it may',
    });
    this.#recognizers.transcription.close();
    const apology: TurnInput = { kind: 'channel_error', code: AGENT_FAILED, message };
    void this.#agentTurns.run(apology, this.#turns.timestamps());
    this.#end.after(APOLOGY_TIMEOUT_MS, () => this.#onSessionOver('failed'));
  }

  #subject() {
    const { projectId, sessionId, callId } = this.#deps.stream.info;
    return { projectId, sessionId, callId, release: this.#agentTurns.session?.release };
  }

  #onClosed(): void {
    this.#agentTurns.close(this.#turns.takeUnansweredText(), this.#turns.timestamps());
    this.#turns.dispatch({ type: 'session_ending' });
  }
}
