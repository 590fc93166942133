import type { Utterance } from '../recognition/speechActivity.ts';
import type { TurnController } from '../turnController.ts';
import type { TurnSettings } from '../turnDetection/turnSettings.ts';
import type { SessionHistory } from '../turns/sessionHistory.ts';
import type { AnsweredBy, AnsweringMachineDetector, MachineKind } from './answeringMachineDetector.ts';

export interface AnsweredByMonitorDeps {
  /** Absent where answering machines are not detected. */
  readonly detector: AnsweringMachineDetector | undefined;
  readonly turns: () => Pick<TurnController, 'dispatch' | 'nowMs' | 'lastVoicedMs' | 'phase'>;
  /** Neither a transfer nor a supervisor has the call. */
  readonly agentHasCall: () => boolean;
  readonly settings: Pick<TurnSettings, 'forbidInterruption'>;
  readonly history: Pick<SessionHistory, 'addEvent'>;
  readonly onAnsweredBy?: ((answeredBy: AnsweredBy) => void) | undefined;
}

/** Follows who has answered a call, and tells the turns when a machine has, and when it records. */
export class AnsweredByMonitor {
  readonly #deps: AnsweredByMonitorDeps;
  #reported: AnsweredBy | undefined;

  constructor(deps: AnsweredByMonitorDeps) {
    this.#deps = deps;
  }

  get answeredBy(): AnsweredBy {
    return this.#deps.detector?.answeredBy ?? 'unknown';
  }

  /** Whether a call screening service said that. */
  isScreening(text: string): boolean {
    return this.#deps.detector?.isScreening(text) ?? false;
  }

  onFrame(frame: Int16Array, utterance: Utterance | undefined): void {
    const { detector, turns, agentHasCall } = this.#deps;
    if (!detector) return;
    const { nowMs, lastVoicedMs } = turns();
    this.#onMachine(detector.onFrame(frame, utterance, nowMs));
    this.report();
    if (turns().phase !== 'suspended' || !agentHasCall()) return;
    const evidence = detector.recordingEvidence(nowMs, lastVoicedMs);
    if (evidence !== undefined) turns().dispatch({ type: 'machine_recording', evidence });
  }

  onTranscript(text: string, voicedMs: number): void {
    this.#onMachine(this.#deps.detector?.onTranscript(text, voicedMs));
    this.report();
  }

  /** Tells who has answered, if that has changed. */
  report(): void {
    const { detector, onAnsweredBy } = this.#deps;
    if (!detector || detector.answeredBy === this.#reported) return;
    this.#reported = detector.answeredBy;
    onAnsweredBy?.(detector.answeredBy);
  }

  #onMachine(kind: MachineKind | undefined): void {
    const { detector, settings, history, turns } = this.#deps;
    if (kind === 'machine') {
      settings.forbidInterruption();
      turns().dispatch({ type: 'machine_detected' });
    }
    if (kind === 'screening') history.addEvent('answering_machine', { kind, evidence: detector?.evidence });
  }
}
