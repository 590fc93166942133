import { withTimeout } from '../../base/async/withTimeout.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { TurnSettings } from '../../conversation/turnDetection/turnSettings.ts';
import type { SessionHistory } from '../../conversation/turns/sessionHistory.ts';
import type { Transcript } from '../../models/ports/speechToText.ts';
import type { SpeechRecognition } from '../recognition/speechRecognition.ts';
import type { TurnController } from '../turnController.ts';
import type { AnsweredBy, AnsweringMachineDetector } from './answeringMachineDetector.ts';

/** Words that have not come so long after they were spoken will not come. */
const WORDS_TIMEOUT_MS = 3000;
/** Speech of this length is worth a transcript of its own while it goes on; people's first words are shorter. */
const INTERIM_EVERY_MS = 3500;
/** The sound of a stop or a tone's first frames, which no word is in. */
const NO_WORD_MS = 100;
/** A call hangs up without it where the database takes longer. */
const STORED_TIMEOUT_MS = 2000;

export interface AnsweredByMonitorDeps {
  /** The detector; undefined on calls that do not detect answering machines. */
  readonly detector: AnsweringMachineDetector | undefined;
  readonly turns: () => TurnController;
  readonly recognition: () => SpeechRecognition;
  /** Neither a transfer nor a supervisor has the call. */
  readonly agentHasCall: () => boolean;
  readonly settings: TurnSettings;
  readonly history: SessionHistory;
  readonly clock: Clock;
  /** @returns A promise that settles once it is stored. */
  readonly onAnsweredBy?: ((answeredBy: AnsweredBy) => Promise<void>) | undefined;
}

/**
 * Follows who has answered a call, and tells the turns when a machine has, when it was none, and when it records. Sees to
 * it that words are transcribed for the verdict where the turns do not ask for them: during a long greeting, and in the
 * pauses of a machine.
 */
export class AnsweredByMonitor {
  readonly #deps: AnsweredByMonitorDeps;
  #reported: AnsweredBy | undefined;
  /** Settles once what was reported last is stored. */
  #stored: Promise<void> | undefined;
  /** The words of speech up to here are known; on the stream's clock. */
  #knownToMs = Number.NEGATIVE_INFINITY;
  /** A machine's words up to here were asked for. */
  #askedToMs = Number.NEGATIVE_INFINITY;
  /** The voiced time of the open utterance when interim words were last requested. */
  #interimAtMs = 0;

  constructor(deps: AnsweredByMonitorDeps) {
    this.#deps = deps;
  }

  get answeredBy(): AnsweredBy {
    return this.#deps.detector?.answeredBy ?? 'unknown';
  }

  /** Whether the text is a call screening service's question. */
  isScreening(text: string): boolean {
    return this.#deps.detector?.isScreening(text) ?? false;
  }

  onFrame(frame: Int16Array): void {
    const { detector, turns, recognition, agentHasCall } = this.#deps;
    if (!detector) return;
    const { nowMs, lastVoicedMs } = turns();
    const { utterance } = recognition();
    this.#decide(() => detector.onFrame(frame, utterance, nowMs, this.#areWordsDue(nowMs)));
    if (!agentHasCall()) return;
    if (detector.isListening && detector.answeredBy !== 'human') this.#askForWords(detector);
    if (turns().phase !== 'suspended') return;
    const evidence = detector.recordingEvidence(nowMs, lastVoicedMs, this.#areWordsDue(nowMs));
    if (evidence !== undefined) turns().dispatch({ type: 'machine_recording', evidence });
  }

  onInterim(text: string): void {
    this.#onWords(text, false);
  }

  onTranscript({ text, late }: Transcript): void {
    const { utterance } = this.#deps.recognition();
    if (!utterance) return;
    const { phase } = this.#deps.turns();
    this.#knownToMs = phase === 'suspended' ? this.#askedToMs : utterance.lastVoicedMs;
    if (!late) this.#onWords(text, true);
    else void late.then((words) => this.#decide(() => this.#deps.detector?.onWords(words, utterance, true)));
  }

  /** The recognizer has failed: the words of the open utterance will not come. */
  onTranscriptionFailed(): void {
    this.onTranscript({ text: '' });
  }

  /** Tells who has answered, if that has changed. */
  report(): void {
    const { detector, onAnsweredBy } = this.#deps;
    if (!detector || detector.answeredBy === this.#reported) return;
    this.#reported = detector.answeredBy;
    this.#stored = onAnsweredBy?.(detector.answeredBy);
  }

  /** Calls `hangUp` once it is stored who has answered, which the events of the call's end tell. */
  onceStored(hangUp: () => void): void {
    if (this.#stored) void withTimeout(this.#deps.clock, this.#stored, STORED_TIMEOUT_MS).then(hangUp);
    else hangUp();
  }

  #onWords(text: string, isFinal: boolean): void {
    const { detector, recognition } = this.#deps;
    const { utterance } = recognition();
    if (utterance) this.#decide(() => detector?.onWords(text, utterance, isFinal));
  }

  #areWordsDue(nowMs: number): boolean {
    const { speechEndMs = 0 } = this.#deps.detector ?? {};
    return speechEndMs - this.#knownToMs > NO_WORD_MS && nowMs - speechEndMs < WORDS_TIMEOUT_MS;
  }

  #askForWords({ answeredBy, speechEndMs }: AnsweringMachineDetector): void {
    const { recognition, settings, turns } = this.#deps;
    const { utterance } = recognition();
    const { nowMs, phase } = turns();
    if (!utterance) {
      this.#interimAtMs = 0;
      return;
    }
    if (utterance.voicedMs - this.#interimAtMs >= INTERIM_EVERY_MS) {
      this.#interimAtMs = utterance.voicedMs;
      recognition().requestInterim();
    }
    // No words have come in time.
    if (nowMs - speechEndMs >= WORDS_TIMEOUT_MS && this.#knownToMs < speechEndMs) {
      this.#knownToMs = speechEndMs;
      if (answeredBy === 'unknown') this.#onWords('', true);
    }
    const hasPaused = nowMs - utterance.lastVoicedMs >= settings.requestAfterMs;
    if (phase !== 'suspended' || !hasPaused || speechEndMs <= this.#askedToMs) return;
    this.#askedToMs = speechEndMs;
    recognition().requestTranscript();
  }

  /** Tells the turns of a verdict that has changed. */
  #decide(change: () => void): void {
    const { detector, settings, history, turns, agentHasCall } = this.#deps;
    const before = detector?.answeredBy;
    change();
    if (!detector || detector.answeredBy === before) return;
    const { answeredBy, evidence } = detector;
    if (answeredBy === 'machine') {
      settings.forbidInterruption();
      turns().dispatch({ type: 'machine_detected' });
    } else if (before === 'machine') {
      settings.allowInterruption();
      if (agentHasCall()) turns().dispatch({ type: 'machine_refuted' });
    }
    if (answeredBy === 'screening') history.addEvent('answering_machine', { kind: 'screening', evidence });
    this.report();
  }
}
