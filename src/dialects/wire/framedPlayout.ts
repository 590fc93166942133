export interface PlayoutFraming {
  /** The audio of a message is a whole number of frames; an incomplete one is filled with silence. */
  readonly frameSamples: number;
  /** A whole number of frames. */
  readonly maxMessageSamples: number;
  /** How far the audio may be ahead of its playout: what the gateway's buffer holds. */
  readonly maxLeadSamples: number;
  /** The room that is waited for, so that more is sent at once. Default: a frame. */
  readonly batchSamples?: number;
  /** The gateway has no marks: they are answered here, when the audio before them should be played. */
  readonly hasNoMarks?: boolean;
  /** The gateway plays all that it was sent, a clear or not. */
  readonly hasNoClear?: boolean;
}

export interface PlayoutSinks {
  readonly audio: (samples: Int16Array) => void;
  /** To the gateway; of one without marks, to the agent: it is played. */
  readonly mark: (name: string) => void;
}

/** For gateways that take messages of any length, and buffer without limit. */
export const UNFRAMED: PlayoutFraming = {
  frameSamples: 1,
  maxMessageSamples: Number.POSITIVE_INFINITY,
  maxLeadSamples: Number.POSITIVE_INFINITY,
};

/**
 * The agent's audio on its way to a gateway that wants it in frames, or has a buffer of limited length. The caller's
 * samples are the clock: for each of them, one sample is taken to be played.
 */
export class FramedPlayout {
  readonly #framing: PlayoutFraming;
  readonly #sinks: PlayoutSinks;
  #chunks: Int16Array[] = [];
  /** Sent samples of the first chunk. */
  #offset = 0;
  #marks: { readonly name: string; readonly position: number }[] = [];
  /** Positions of the audio without filling. */
  #enqueued = 0;
  #sent = 0;
  /** Sent and not yet played, with filling. */
  #lead = 0;
  #sentWithFilling = 0;
  /** Marks that wait here for their playout. */
  #awaited: { readonly name: string; readonly position: number }[] = [];

  constructor(framing: PlayoutFraming, sinks: PlayoutSinks) {
    this.#framing = framing;
    this.#sinks = sinks;
  }

  /** Takes ownership of the array. */
  play(samples: Int16Array): void {
    this.#chunks.push(samples);
    this.#enqueued += samples.length;
    this.#flush(false);
  }

  /** Passed on when the audio before it was sent. */
  mark(name: string): void {
    this.#marks.push({ name, position: this.#enqueued });
    this.#flush(false);
  }

  /** Drops what was not sent. A gateway with a clear drops the rest. */
  clear(): void {
    this.#chunks = [];
    this.#offset = 0;
    this.#marks = [];
    this.#awaited = [];
    this.#sent = this.#enqueued;
    if (!this.#framing.hasNoClear) this.#lead = 0;
  }

  /** The caller's samples have arrived: as much time has passed. */
  received(samples: number): void {
    this.#lead = Math.max(0, this.#lead - samples);
    const played = this.#sentWithFilling - this.#lead;
    while (this.#awaited[0] !== undefined && this.#awaited[0].position <= played) {
      this.#sinks.mark(this.#awaited.shift()?.name ?? '');
    }
    this.#flush(this.#lead === 0);
  }

  /** @param isStarving - Nothing is left to play, so that an incomplete frame cannot wait for more. */
  #flush(isStarving: boolean): void {
    const { frameSamples, maxMessageSamples, maxLeadSamples, batchSamples = frameSamples } = this.#framing;
    const hasRoom = maxLeadSamples - this.#lead >= batchSamples;
    for (;;) {
      const mark = this.#marks[0];
      if (mark !== undefined && mark.position <= this.#sent) {
        this.#marks.shift();
        this.#passMark(mark.name);
        continue;
      }
      const available = (mark?.position ?? this.#enqueued) - this.#sent;
      const room = maxLeadSamples - this.#lead;
      if (available === 0 || !hasRoom || room < frameSamples) return;
      const isIncomplete = available < frameSamples;
      if (isIncomplete && mark === undefined && !isStarving) return;
      const most = Math.min(available, room, maxMessageSamples);
      const length = isIncomplete ? frameSamples : most - (most % frameSamples);
      this.#send(Math.min(available, length), length);
    }
  }

  #passMark(name: string): void {
    if (this.#framing.hasNoMarks) this.#awaited.push({ name, position: this.#sentWithFilling });
    else this.#sinks.mark(name);
  }

  #send(count: number, length: number): void {
    const samples = this.#take(count, length);
    this.#sent += count;
    this.#sentWithFilling += length;
    this.#lead += length;
    this.#sinks.audio(samples);
  }

  /** @returns A view of a chunk where that is possible. */
  #take(count: number, length: number): Int16Array {
    const first = this.#chunks[0];
    if (first !== undefined && count === length && first.length - this.#offset >= count) {
      const view = first.subarray(this.#offset, this.#offset + count);
      this.#advance(first, count);
      return view;
    }
    const samples = new Int16Array(length);
    for (let taken = 0; taken < count; ) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) break;
      const part = chunk.subarray(this.#offset, this.#offset + count - taken);
      samples.set(part, taken);
      taken += part.length;
      this.#advance(chunk, part.length);
    }
    return samples;
  }

  #advance(chunk: Int16Array, count: number): void {
    this.#offset += count;
    if (this.#offset < chunk.length) return;
    this.#chunks.shift();
    this.#offset = 0;
  }
}
