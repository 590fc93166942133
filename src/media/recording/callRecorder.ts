import { CallwayError } from '../../base/errors.ts';
import type { RecordingReport } from '../mediaSession.ts';
import { type SampleRateHz, speechRateHz } from '../resample/resampler.ts';
import { RecordingTap } from './recordingTap.ts';
import { startRecorder } from './stereoRecorder.ts';

/** A call's recording, where one is wanted: nothing happens before it is begun. */
export class CallRecorder {
  readonly #onFailure: (reason: string) => void;
  #tap: RecordingTap | undefined;
  /** A call that ends meanwhile waits for it: its file must be closed. */
  #opening: Promise<void> | undefined;

  /** @param onFailure - Called once; the call goes on without. */
  constructor(onFailure: (reason: string) => void) {
    this.#onFailure = onFailure;
  }

  /** @throws {CallwayError} `recording_failed`, or `recording_running`. */
  async start(path: string, codecRateHz: SampleRateHz): Promise<void> {
    if (this.#tap !== undefined) {
      throw new CallwayError('conflict', 'recording_running', 'the call is being recorded already');
    }
    const tap = new RecordingTap(codecRateHz);
    this.#tap = tap;
    this.#opening = this.#open(tap, path, speechRateHz(codecRateHz));
    try {
      await this.#opening;
    } catch (error) {
      this.#tap = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the recording cannot be made: ${reason}`;
      throw new CallwayError('internal', 'recording_failed', message, { cause: error });
    }
  }

  changeRate(codecRateHz: SampleRateHz): void {
    this.#tap?.changeRate(codecRateHz);
  }

  /** @param caller - 20 ms at the codec's rate, as is the agent's. Both are copied. */
  write(caller: Int16Array, agent: Int16Array): void {
    this.#tap?.write(caller, agent);
  }

  /** Time that passed without audio. */
  writeSilence(frames: number): void {
    this.#tap?.writeSilence(frames);
  }

  /** Idempotent. @returns Undefined where nothing was recorded. */
  async close(): Promise<RecordingReport | undefined> {
    await this.#opening?.catch(() => undefined);
    return this.#tap?.close();
  }

  async #open(tap: RecordingTap, path: string, sampleRateHz: 8000 | 16_000): Promise<void> {
    tap.open(await startRecorder({ path, sampleRateHz, onFailure: this.#onFailure }));
  }
}
