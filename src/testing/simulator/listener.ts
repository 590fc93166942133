import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import type { VoiceActivityDetection } from '../../models/ports/voiceActivity.ts';

/** Shorter pauses are part of a sentence. */
const HANGOVER_MS = 200;
/** Shorter bursts are clicks. */
const ONSET_MS = 60;

/** Thrown by pending waits when the other party has hung up. */
export class StreamClosedError extends Error {
  constructor() {
    super('the stream has ended');
    this.name = 'StreamClosedError';
  }
}

interface Wait {
  readonly condition: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Detects the speech of the other party, on the stream's clock. */
export class SpeechListener {
  readonly #sampleRateHz: number;
  readonly #detector: ReturnType<VoiceActivityDetection['open']>;
  readonly #onChange: (isSpeaking: boolean, atMs: number) => void;
  readonly #frame: Int16Array;
  readonly #waits = new Set<Wait>();
  readonly #removeListeners: (() => void)[];
  #filled = 0;
  #samples = 0;
  #voicedMs = 0;
  #unvoicedMs = 0;
  #changedAtMs = 0;
  #isSpeaking = false;
  #hasHeard = false;
  #hasEnded = false;

  constructor(
    stream: AudioStream,
    activity: VoiceActivityDetection,
    onChange: (isSpeaking: boolean, atMs: number) => void,
  ) {
    this.#sampleRateHz = stream.info.sampleRateHz;
    this.#detector = activity.open(this.#sampleRateHz);
    this.#frame = new Int16Array((this.#sampleRateHz * FRAME_MS) / 1000);
    this.#onChange = onChange;
    this.#removeListeners = [
      stream.events.on('audio', (samples) => this.#receive(samples)),
      stream.events.on('closed', () => this.#end()),
    ];
  }

  /** The time since the start of the stream. */
  get nowMs(): number {
    return (this.#samples * 1000) / this.#sampleRateHz;
  }

  /** The time that the other party has been silent; 0 while it speaks. */
  get quietMs(): number {
    return this.#isSpeaking ? 0 : this.nowMs - this.#changedAtMs;
  }

  /** The time that the other party has been speaking; 0 while it is silent. */
  get speakingMs(): number {
    return this.#isSpeaking ? this.nowMs - this.#changedAtMs : 0;
  }

  /** Whether the other party has spoken since `reset`. */
  get hasHeard(): boolean {
    return this.#hasHeard;
  }

  reset(): void {
    this.#hasHeard = this.#isSpeaking;
  }

  /** Resolves when the condition becomes true; rejects when the stream ends. */
  until(condition: () => boolean): Promise<void> {
    if (this.#hasEnded) return Promise.reject(new StreamClosedError());
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waits.add({ condition, resolve, reject }));
  }

  close(): void {
    for (const remove of this.#removeListeners) remove();
    this.#end();
    this.#detector.close();
  }

  #receive(heard: Int16Array): void {
    for (let at = 0; at < heard.length; ) {
      const taken = heard.subarray(at, at + this.#frame.length - this.#filled);
      this.#frame.set(taken, this.#filled);
      this.#filled += taken.length;
      this.#samples += taken.length;
      at += taken.length;
      if (this.#filled < this.#frame.length) continue;
      this.#filled = 0;
      this.#classifyFrame();
    }
    for (const wait of this.#waits) {
      if (!wait.condition()) continue;
      this.#waits.delete(wait);
      wait.resolve();
    }
  }

  #classifyFrame(): void {
    if (this.#detector.isSpeech(this.#frame)) {
      this.#voicedMs += FRAME_MS;
      this.#unvoicedMs = 0;
      if (!this.#isSpeaking && this.#voicedMs >= ONSET_MS) this.#change(true);
    } else {
      this.#unvoicedMs += FRAME_MS;
      this.#voicedMs = 0;
      if (this.#isSpeaking && this.#unvoicedMs >= HANGOVER_MS) this.#change(false);
    }
  }

  #change(isSpeaking: boolean): void {
    this.#isSpeaking = isSpeaking;
    this.#hasHeard ||= isSpeaking;
    this.#changedAtMs = this.nowMs;
    this.#onChange(isSpeaking, this.nowMs);
  }

  #end(): void {
    this.#hasEnded = true;
    for (const wait of this.#waits) wait.reject(new StreamClosedError());
    this.#waits.clear();
  }
}
