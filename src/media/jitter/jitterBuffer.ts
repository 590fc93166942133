import { type Codec, type Decoder, FRAME_MS, MAX_PACKET_DURATION_MS } from '../codecs/codec.ts';
import { ComfortNoise, parseComfortNoiseLevel } from '../codecs/comfortNoise.ts';
import type { Concealer } from '../concealment/concealer.ts';
import { createSequenceUnwrapper, createTimestampUnwrapper } from '../rtp/unwrapper.ts';
import { type PacketKind, PacketStore, type PutResult, type StoredPacket } from './packetStore.ts';
import { SpeedControl } from './speedControl.ts';
import { TransitEstimator } from './transitEstimator.ts';

/** The contents of a frame; of a mixed one, the first of these that it has. */
export type PulledFrame = 'concealed' | 'speech' | 'silence';

export interface JitterBufferOptions {
  readonly codec: Codec;
  readonly concealer: Concealer;
  /** Each is a delay beyond the fastest packets. */
  readonly minDelayMs?: number;
  readonly initialDelayMs?: number;
  readonly maxDelayMs?: number;
}

/** The jitter of a quiet network and an operating system; a late packet beyond it stretches the speech. */
const DEFAULT_MIN_DELAY_MS = 5;
/** The delay until the network is known: two packets. */
const DEFAULT_INITIAL_DELAY_MS = 40;
/** Above this a conversation suffers more from delay than from loss. */
const DEFAULT_MAX_DELAY_MS = 200;

/** Silence after which a talkspurt has ended; concealment has faded by then. */
const GIVE_UP_AFTER_MS = 60;
/**
 * Delay beyond the maximum above which whole packets are dropped. Up to it speech is shortened, and keeps its words.
 */
const SHED_FROM_MS = 100;
/** Concealment where a packet was dropped, for the next to join. */
const SHED_OVERLAP_MS = 2.5;

/** Counters since the start. All except the delay only grow. */
export interface JitterBufferStatistics {
  readonly duplicates: number;
  /** Arrived after their frame was played. */
  readonly late: number;
  /** The packets that were dropped to reduce the delay. */
  readonly shed: number;
  /** The packets that are neither speech nor well-formed. */
  readonly undecodable: number;
  readonly concealedMs: number;
  /** Lost, and recovered from the next packet. */
  readonly recoveredMs: number;
  /** The number of times that the buffer ran empty during speech. */
  readonly underruns: number;
  /** Removed and inserted by time scaling. */
  readonly shortenedMs: number;
  readonly lengthenedMs: number;
  /** The delay of the current playout beyond the fastest packets. */
  readonly delayMs: number;
}

/**
 * Evens out network jitter: packets in as they arrive, frames out on the clock.
 *
 * ```
 *            a packet is due
 *  waiting ───────────────────▶ playing
 *     ▲                            │ 60 ms without a packet, or a pause of the sender
 *     └────────────────────────────┘
 * ```
 * A missing packet with later ones behind it was lost and is concealed. Without later ones, concealment stretches the
 * speech, so that a late packet is still played whole. Each packet's slack (the time it is ready beyond what the network
 * needs) is kept within bounds by removing or repeating single pitch periods, which follows both the network and a
 * sender's clock that drifts. Each pause restarts at the right delay.
 *
 * Time is an argument; give `insert` and `pull` the same monotonic clock.
 */
export class JitterBuffer {
  readonly #codec: Codec;
  readonly #concealer: Concealer;
  readonly #sampleRateHz: number;
  readonly #ticksPerMs: number;
  readonly #minDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #store = new PacketStore();
  readonly #transit: TransitEstimator;
  readonly #noise: ComfortNoise;
  readonly #speed: SpeedControl;
  readonly #sequences = createSequenceUnwrapper();
  readonly #timestamps = createTimestampUnwrapper();
  /** Decoded and not yet pulled; with room to lengthen the longest packet. */
  readonly #pcm: Int16Array;
  #pcmLength = 0;
  #isPlaying = false;
  #lastSequence = 0;
  /** The length of the last decoded packet; a sender's packets have equal lengths. */
  #packetSamples = 0;
  /** Media time of the next sample, in extended ticks. */
  #cursorTicks = 0;
  /** Concealed since the cursor last moved. */
  #concealedSamples = 0;
  #leastSlackMs = Number.POSITIVE_INFINITY;
  #statistics = {
    duplicates: 0,
    late: 0,
    shed: 0,
    undecodable: 0,
    concealedMs: 0,
    recoveredMs: 0,
    underruns: 0,
    delayMs: 0,
  };

  constructor(options: JitterBufferOptions) {
    const { format } = options.codec;
    this.#codec = options.codec;
    this.#concealer = options.concealer;
    this.#sampleRateHz = format.sampleRateHz;
    this.#ticksPerMs = format.rtpClockRateHz / 1000;
    this.#minDelayMs = options.minDelayMs ?? DEFAULT_MIN_DELAY_MS;
    this.#maxDelayMs = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS;
    this.#transit = new TransitEstimator(options.initialDelayMs ?? DEFAULT_INITIAL_DELAY_MS);
    this.#noise = new ComfortNoise(format.sampleRateHz);
    this.#speed = new SpeedControl(format.sampleRateHz);
    this.#pcm = new Int16Array(this.#toSamples(2 * MAX_PACKET_DURATION_MS + 2 * FRAME_MS));
  }

  /** The delay of the current playout beyond the fastest packets. */
  get delayMs(): number {
    return this.#statistics.delayMs;
  }

  /**
   * The least slack of the packets that were played since the last call: frames could be pulled that much sooner. Infinite
   * without a packet.
   */
  takeLeastSlackMs(): number {
    const slackMs = this.#leastSlackMs;
    this.#leastSlackMs = Number.POSITIVE_INFINITY;
    return slackMs;
  }

  get statistics(): JitterBufferStatistics {
    const { shortenedMs, lengthenedMs } = this.#speed;
    const shed = this.#statistics.shed + this.#store.overflows;
    return { ...this.#statistics, shed, shortenedMs, lengthenedMs };
  }

  /**
   * @param sequenceNumber - The number, 0..65535. @param timestamp - The timestamp, 0..2^32-1.
   * @param payload - Owned by the buffer until it is played.
   * @param hasWaited - True when the packet has waited on this machine for an unknown time, which says nothing about
   *   the network.
   * @param decoder - Decodes the payload at the codec's sample rate. Default: the codec.
   */
  insert(
    sequenceNumber: number,
    timestamp: number,
    payload: Uint8Array,
    nowMs: number,
    kind: PacketKind = 'speech',
    hasWaited = false,
    decoder: Decoder = this.#codec,
  ): PutResult {
    const sequence = this.#sequences.unwrap(sequenceNumber);
    const ticks = this.#timestamps.unwrap(timestamp);
    const result = this.#store.put({ sequence, timestamp: ticks, kind, payload, decoder });
    if (result === 'duplicate') this.#statistics.duplicates++;
    if (result === 'late') this.#statistics.late++;
    // A DTMF event keeps the timestamp of its start, which tells nothing about the network.
    if (result !== 'duplicate' && kind !== 'other' && !hasWaited)
      this.#transit.observe(nowMs - ticks / this.#ticksPerMs, nowMs);
    return result;
  }

  /** Call for another source, or when the source restarts its numbers. */
  reset(): void {
    this.#store.clear();
    this.#sequences.reset();
    this.#timestamps.reset();
    this.#transit.reset();
    this.#isPlaying = false;
    this.#concealedSamples = 0;
  }

  /**
   * Fills one frame, once per tick.
   *
   * @param nowMs - The time at which the frame is due, so that a late timer does not count as network delay.
   * @throws {RangeError} When the frame is longer than 120 ms.
   */
  pull(nowMs: number, out: Int16Array): PulledFrame {
    if (out.length > this.#toSamples(MAX_PACKET_DURATION_MS))
      throw new RangeError('a frame is 120 ms at most');
    let frame: PulledFrame = this.#pcmLength > 0 ? 'speech' : 'silence';
    while (this.#pcmLength < out.length) {
      const added = this.#isPlaying
        ? this.#play(nowMs, out.length - this.#pcmLength)
        : this.#wait(nowMs, out.length - this.#pcmLength);
      if (added === 'concealed' || frame === 'silence') frame = added;
    }
    out.set(this.#pcm.subarray(0, out.length));
    this.#pcm.copyWithin(0, out.length, this.#pcmLength);
    this.#pcmLength -= out.length;
    return frame;
  }

  /** Plays comfort noise between talkspurts until the next packet is due. */
  #wait(nowMs: number, wanted: number): PulledFrame {
    const next = this.#store.peek();
    if (next !== undefined && (next.kind !== 'speech' || this.#slackMs(next, nowMs) >= 0)) {
      this.#isPlaying = true;
      this.#cursorTicks = next.timestamp;
      this.#lastSequence = next.sequence - 1;
      this.#concealedSamples = 0;
      return this.#play(nowMs, wanted);
    }
    this.#noise.fill(this.#pcm.subarray(this.#pcmLength, this.#pcmLength + wanted));
    this.#pcmLength += wanted;
    return 'silence';
  }

  #play(nowMs: number, wanted: number): PulledFrame {
    const next = this.#store.peek();
    if (next === undefined) return this.#conceal(wanted);
    if (next.kind !== 'speech') return this.#pause(next, nowMs, wanted);
    const missing = this.#samplesBefore(next) - this.#concealedSamples;
    if (missing > 0) {
      if (next.sequence !== this.#lastSequence + 1) return this.#fillGap(next, missing, wanted);
      // The sender suppresses silence: packets in sequence with a gap in time.
      this.#isPlaying = false;
      return this.#wait(nowMs, wanted);
    }
    if (this.#isStale(next, nowMs)) return this.#shed(nowMs);
    return this.#decode(nowMs);
  }

  #decode(nowMs: number): PulledFrame {
    const packet = this.#takePart();
    if (packet === undefined) return 'silence';
    const slackMs = this.#slackMs(packet, nowMs);
    this.#leastSlackMs = Math.min(this.#leastSlackMs, slackMs);
    const heldMs = this.#toMs(this.#pcmLength);
    const room = this.#pcm.subarray(this.#pcmLength);
    const length = packet.decoder.decode(
      packet.payload,
      room.subarray(0, this.#toSamples(MAX_PACKET_DURATION_MS)),
    );
    this.#lastSequence = packet.sequence;
    if (length === 0) {
      this.#statistics.undecodable++;
      return 'silence';
    }
    this.#packetSamples = length;
    this.#cursorTicks = packet.timestamp + (length * 1000 * this.#ticksPerMs) / this.#sampleRateHz;
    this.#concealedSamples = 0;
    this.#noise.setLevel(Number.POSITIVE_INFINITY);
    this.#statistics.delayMs = slackMs + this.#targetDelayMs() + heldMs;
    this.#concealer.received(room.subarray(0, length));
    this.#pcmLength += this.#speed.adjust(room, length, slackMs, heldMs, nowMs);
    return 'speech';
  }

  /**
   * Takes the next packet; of one that is too long to be decoded at once its first part, while none is due after that.
   */
  #takePart(): StoredPacket | undefined {
    const packet = this.#store.take();
    const partBytes = packet?.decoder.partBytes;
    if (!packet || partBytes === undefined || packet.payload.length <= partBytes) return packet;
    const { payload } = packet;
    const timestamp = packet.timestamp + MAX_PACKET_DURATION_MS * this.#ticksPerMs;
    const next = this.#store.peek();
    if (next === undefined || next.timestamp > timestamp)
      this.#store.putBack({ ...packet, timestamp, payload: payload.subarray(partBytes) });
    return { ...packet, payload: payload.subarray(0, partBytes) };
  }

  /** Fills a loss; the next packet may carry a copy of the one right before it. */
  #fillGap(next: StoredPacket, missing: number, wanted: number): PulledFrame {
    const { decoder } = next;
    const lastLost = decoder.recover === undefined ? 0 : this.#packetSamples;
    if (missing !== lastLost)
      return this.#conceal(Math.min(wanted, missing > lastLost ? missing - lastLost : missing));
    const room = this.#pcm.subarray(this.#pcmLength, this.#pcmLength + missing);
    if (decoder.recover?.(next.payload, room) !== missing) return this.#conceal(Math.min(wanted, missing));
    this.#concealer.received(room);
    this.#pcmLength += missing;
    this.#concealedSamples += missing;
    this.#statistics.recoveredMs += this.#toMs(missing);
    return 'speech';
  }

  #conceal(length: number): PulledFrame {
    this.#concealer.conceal(this.#pcm.subarray(this.#pcmLength, this.#pcmLength + length));
    this.#pcmLength += length;
    this.#concealedSamples += length;
    this.#statistics.concealedMs += this.#toMs(length);
    if (this.#store.count === 0 && this.#concealedSamples === length) this.#statistics.underruns++;
    if (this.#toMs(this.#concealedSamples) >= GIVE_UP_AFTER_MS) this.#isPlaying = false;
    return 'concealed';
  }

  /** Drops packets that wait too long, but for the newest; a short concealment lets the next join without a click. */
  #shed(nowMs: number): PulledFrame {
    let next = this.#store.peek();
    while (next !== undefined && this.#isStale(next, nowMs)) {
      this.#store.take();
      this.#statistics.shed++;
      this.#lastSequence = next.sequence;
      next = this.#store.peek();
    }
    this.#cursorTicks = next?.timestamp ?? this.#cursorTicks;
    this.#concealedSamples = 0;
    const overlap = this.#toSamples(SHED_OVERLAP_MS);
    this.#concealer.conceal(this.#pcm.subarray(this.#pcmLength, this.#pcmLength + overlap));
    this.#pcmLength += overlap;
    return 'speech';
  }

  /** A packet other than speech starts a pause, with comfort noise if it carries a level. */
  #pause(packet: StoredPacket, nowMs: number, wanted: number): PulledFrame {
    this.#store.take();
    this.#lastSequence = packet.sequence;
    this.#isPlaying = false;
    if (packet.kind === 'comfort_noise') {
      const level = parseComfortNoiseLevel(packet.payload);
      if (level === undefined) this.#statistics.undecodable++;
      else this.#noise.setLevel(level);
    }
    return this.#wait(nowMs, wanted);
  }

  /** Returns true when a packet has waited too long to be played. The newest packet never has. */
  #isStale(packet: StoredPacket, nowMs: number): boolean {
    return this.#store.count > 1 && this.#delayOf(packet, nowMs) > this.#maxDelayMs + SHED_FROM_MS;
  }

  /** Returns the time that a packet is ready beyond the network's delay; negative when it should wait. */
  #slackMs(packet: StoredPacket, nowMs: number): number {
    return this.#delayOf(packet, nowMs) - this.#targetDelayMs();
  }

  /** Returns the delay of a packet's playout compared with the fastest packet, in ms. */
  #delayOf(packet: StoredPacket, nowMs: number): number {
    return nowMs - packet.timestamp / this.#ticksPerMs - this.#transit.fastestMs;
  }

  #targetDelayMs(): number {
    return Math.max(this.#minDelayMs, Math.min(this.#maxDelayMs, this.#transit.delayMs));
  }

  #samplesBefore(packet: StoredPacket): number {
    return this.#toSamples((packet.timestamp - this.#cursorTicks) / this.#ticksPerMs);
  }

  #toSamples(ms: number): number {
    return Math.round((ms * this.#sampleRateHz) / 1000);
  }

  #toMs(samples: number): number {
    return (samples * 1000) / this.#sampleRateHz;
  }
}
