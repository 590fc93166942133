import { encodeL16 } from '../../models/recognition/protocol.ts';

/** The audio of one connection, and the position up to which its words were asked for. */
export class SentAudio {
  readonly #sampleRateHz: number;
  #samples = 0;
  /** The position in ms up to which an answer is due; undefined while none is. */
  askedMs: number | undefined;

  constructor(sampleRateHz: number) {
    this.#sampleRateHz = sampleRateHz;
  }

  encode(samples: Int16Array): Uint8Array {
    this.#samples += samples.length;
    return encodeL16(samples);
  }

  /** The words of everything sent so far are asked for. */
  ask(): void {
    this.askedMs = (this.#samples * 1000) / this.#sampleRateHz;
  }
}
