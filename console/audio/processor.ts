import { type FromProcessor, type Position, PROCESSOR, type ToProcessor, WIRE_RATE_HZ } from './messages.ts';
import { Playout } from './playout.ts';
import { Resampler } from './resampler.ts';

/** The globals of an AudioWorklet, which TypeScript's library lacks. */
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const FRAME_SAMPLES = WIRE_RATE_HZ / 50;
/** Fed to the resampler at once: 2.5 ms. */
const PLAYED_AT_ONCE = WIRE_RATE_HZ / 400;
const FRAMES_PER_LEVEL = 3;
const FULL_SCALE = 32_768;

/** Of one input or output; none where nothing is connected. */
type Channels = readonly Float32Array[];

/** The audio thread: sends the microphone in frames, and plays the agent to the sample. */
class AudioProcessor extends AudioWorkletProcessor {
  readonly #toWire = new Resampler(sampleRate, WIRE_RATE_HZ);
  readonly #fromWire = new Resampler(WIRE_RATE_HZ, sampleRate);
  readonly #playout = new Playout((name, outcome) =>
    this.#send({ kind: 'mark', name, outcome, position: this.#position() }),
  );
  readonly #played = new Float32Array(PLAYED_AT_ONCE);
  #frame = new Int16Array(FRAME_SAMPLES);
  #frameLength = 0;
  #received = 0;
  /** Resampled for the loudspeaker, and not played yet. */
  #ready = new Float32Array(0);
  #isMuted = false;
  readonly #peaks = { caller: 0, agent: 0, frames: 0 };

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToProcessor>) => this.#read(data);
  }

  /** @returns True: it runs until its context is closed. */
  process([inputs]: Channels[], [outputs]: Channels[]): boolean {
    const [[microphone], [loudspeaker]] = [inputs ?? [], outputs ?? []];
    const length = loudspeaker?.length ?? microphone?.length ?? 128;
    // Without a gap, silence included: the samples are the clock of the other side.
    const isHeard = microphone !== undefined && !this.#isMuted;
    this.#capture(isHeard ? microphone : new Float32Array(length));
    if (loudspeaker) this.#play(loudspeaker);
    return true;
  }

  #read(message: ToProcessor): void {
    switch (message.kind) {
      case 'play':
        this.#playout.play(Float32Array.from(message.samples, (sample) => sample / FULL_SCALE));
        break;
      case 'mark':
        this.#playout.mark(message.name);
        break;
      case 'clear':
        this.#playout.clear();
        this.#ready = new Float32Array(0);
        this.#send({ kind: 'cleared', position: this.#position() });
        break;
      case 'mute':
        this.#isMuted = message.isMuted;
    }
  }

  #capture(samples: Float32Array): void {
    for (const sample of this.#toWire.process(samples)) {
      this.#peaks.caller = Math.max(this.#peaks.caller, Math.abs(sample));
      const scaled = Math.round(sample * FULL_SCALE);
      this.#frame[this.#frameLength++] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, scaled));
      if (this.#frameLength === FRAME_SAMPLES) this.#sendFrame();
    }
  }

  #sendFrame(): void {
    const samples = this.#frame;
    this.#frame = new Int16Array(FRAME_SAMPLES);
    this.#frameLength = 0;
    this.#received += FRAME_SAMPLES;
    this.port.postMessage({ kind: 'frame', samples } satisfies FromProcessor, [samples.buffer]);
    this.#peaks.frames += 1;
    if (this.#peaks.frames < FRAMES_PER_LEVEL) return;
    const { caller, agent } = this.#peaks;
    this.#send({ kind: 'levels', caller: Math.min(1, caller), agent: Math.min(1, agent) });
    Object.assign(this.#peaks, { caller: 0, agent: 0, frames: 0 });
  }

  #play(loudspeaker: Float32Array): void {
    while (this.#ready.length < loudspeaker.length) {
      this.#playout.next(this.#played);
      this.#ready = joined(this.#ready, this.#fromWire.process(this.#played));
    }
    const samples = this.#ready.subarray(0, loudspeaker.length);
    for (const sample of samples) this.#peaks.agent = Math.max(this.#peaks.agent, Math.abs(sample));
    loudspeaker.set(samples);
    this.#ready = this.#ready.subarray(loudspeaker.length);
  }

  #position(): Position {
    return { playedSamples: this.#playout.played, receivedSamples: this.#received, bufferDelayMs: 0 };
  }

  #send(message: FromProcessor): void {
    this.port.postMessage(message);
  }
}

function joined(first: Float32Array, second: Float32Array): Float32Array<ArrayBuffer> {
  const both = new Float32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

registerProcessor(PROCESSOR, AudioProcessor);
