import type { RecordingReport } from '../mediaSession.ts';
import { createFrameResampler, type FrameResampler } from '../resample/frameResampler.ts';
import type { SampleRateHz } from '../resample/resampler.ts';
import type { StereoRecorder } from './stereoRecorder.ts';

/** Between a call and its recorder, which keeps its rate when the codec changes. */
export class RecordingTap {
  #codecRateHz: SampleRateHz;
  #opened: { readonly recorder: StereoRecorder; left: FrameResampler; right: FrameResampler } | undefined;

  constructor(codecRateHz: SampleRateHz) {
    this.#codecRateHz = codecRateHz;
  }

  open(recorder: StereoRecorder): void {
    this.#opened = { recorder, ...this.#resamplers(recorder) };
  }

  changeRate(codecRateHz: SampleRateHz): void {
    this.#codecRateHz = codecRateHz;
    if (this.#opened !== undefined) Object.assign(this.#opened, this.#resamplers(this.#opened.recorder));
  }

  /** @param caller - 20 ms at the codec's rate, as is the agent's. Both are copied. */
  write(caller: Int16Array, agent: Int16Array): void {
    if (this.#opened === undefined) return;
    const { recorder, left, right } = this.#opened;
    recorder.write(left.process(caller), right.process(agent));
  }

  writeSilence(frames: number): void {
    this.#opened?.recorder.writeSilence(frames);
  }

  async close(): Promise<RecordingReport | undefined> {
    return this.#opened?.recorder.close();
  }

  #resamplers({ sampleRateHz }: StereoRecorder): { left: FrameResampler; right: FrameResampler } {
    return {
      left: createFrameResampler(this.#codecRateHz, sampleRateHz),
      right: createFrameResampler(this.#codecRateHz, sampleRateHz),
    };
  }
}
