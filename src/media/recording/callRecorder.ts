import { CallwayError } from '../../base/errors.ts';
import type { RecordingReport } from '../mediaSession.ts';
import { createFrameResampler, type FrameResampler } from '../resample/frameResampler.ts';
import { type SampleRateHz, speechRateHz } from '../resample/resampler.ts';
import type { OpenRecordingFile } from './recordingFile.ts';
import { StereoRecorder } from './stereoRecorder.ts';

/** The resamplers between the codec and the file, which keeps its rate when the codec changes. */
interface Resamplers {
  readonly left: FrameResampler;
  readonly right: FrameResampler;
}

export interface CallRecorderOptions {
  readonly openFile: OpenRecordingFile;
  /** Called once; the call continues unrecorded. */
  readonly onFailure: (reason: string) => void;
  /** Returns the time since the Unix epoch. */
  readonly nowMs: () => number;
}

/** The recording of one call. Does nothing before `start`. */
export class CallRecorder {
  /** While true, silence is recorded. */
  isPaused = false;
  readonly #options: CallRecorderOptions;
  /** Awaited by `close`, so that the file of a call that ends meanwhile is closed. */
  #opening: Promise<void> | undefined;
  #recorder: StereoRecorder | undefined;
  #resamplers: Resamplers | undefined;
  #codecRateHz: SampleRateHz = 8000;
  /** The time of the first frame; undefined before it. */
  #startedAtMs: number | undefined;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
  }

  /**
   * Records from now on, also what is written before this resolves.
   *
   * @throws {CallwayError} `recording_failed`, or `recording_running`.
   */
  async start(path: string, codecRateHz: SampleRateHz): Promise<void> {
    if (this.#recorder !== undefined) {
      throw new CallwayError('conflict', 'recording_running', 'the call is being recorded already');
    }
    this.#codecRateHz = codecRateHz;
    const sampleRateHz = speechRateHz(codecRateHz);
    const { openFile, onFailure } = this.#options;
    this.#recorder = new StereoRecorder({ path, sampleRateHz, onFailure, openFile });
    this.#resamplers = this.#createResamplers(sampleRateHz);
    this.#opening = this.#recorder.open();
    try {
      await this.#opening;
    } catch (error) {
      this.#recorder = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the recording cannot be started: ${reason}`;
      throw new CallwayError('internal', 'recording_failed', message, { cause: error });
    }
  }

  /** The call has another codec from now on. */
  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    if (this.#recorder) this.#resamplers = this.#createResamplers(this.#recorder.sampleRateHz);
  }

  /** @param caller - 20 ms at the codec's rate, as is the agent's. Both are copied. */
  write(caller: Int16Array, agent: Int16Array): void {
    if (this.#recorder === undefined || this.#resamplers === undefined) return;
    this.#startedAtMs ??= this.#options.nowMs();
    if (this.isPaused) {
      this.#recorder.writeSilence(1);
      return;
    }
    const { left, right } = this.#resamplers;
    this.#recorder.write(left.process(caller), right.process(agent));
  }

  /** Idempotent. @returns Undefined when nothing was recorded. */
  async close(): Promise<RecordingReport | undefined> {
    await this.#opening?.catch(() => undefined);
    const report = await this.#recorder?.close();
    return report && { ...report, startedAtMs: this.#startedAtMs };
  }

  #createResamplers(sampleRateHz: 8000 | 16_000): Resamplers {
    return {
      left: createFrameResampler(this.#codecRateHz, sampleRateHz),
      right: createFrameResampler(this.#codecRateHz, sampleRateHz),
    };
  }
}
