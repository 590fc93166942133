import type { CallCommand } from '../../media/agentStream/streamClient.ts';
import { isSampleRate, type SampleRateHz } from '../../media/resample/resampler.ts';
import type {
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamMessage,
  StreamStart,
} from '../dialect.ts';
import { type AudioEncoding, base64Reader, encodeBase64 } from './audio.ts';
import { FramedPlayout, type PlayoutFraming, UNFRAMED } from './framedPlayout.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, parseJson } from './json.ts';
import { streamResampler } from './streamResampler.ts';

/** Chunks that may overtake a missing one: 100 ms. A chunk that is later than that is lost. */
const MAX_HELD_CHUNKS = 5;

/** A stream's description, and how its audio is written. */
export interface JsonStart extends StreamStart {
  readonly streamId: string;
  readonly encoding: AudioEncoding;
  /** How the agent's audio is written, where that differs from the caller's. */
  readonly played?: { readonly encoding: AudioEncoding; readonly sampleRateHz: SampleRateHz };
}

/** The messages of a carrier whose every message is JSON with an `event`, and its audio base64. */
export interface JsonServerMessages {
  /** @returns Undefined when the message is not the start; a text with the reason for refusing the stream. */
  readStart(message: Fields): JsonStart | string | undefined;
  /** The event that returns a mark, and the mark's name in it. */
  readonly markEvent: string;
  markName(message: Fields): unknown;
  /** Events that say nothing which the agent needs. */
  readonly ignoredEvents: readonly string[];
  /** In milliseconds since the stream's start, where the carrier says so: gaps are then filled with silence. */
  readonly hasTimestamps?: boolean;
  /** Set where the order of the media messages is not guaranteed: `chunk` has it. */
  readonly isUnordered?: boolean;
  /** Set where the carrier only closes the connection when its call ends. */
  readonly endsByClose?: boolean;
  /** @returns JSON text. `JSON.stringify` would search the base64 for characters to escape, which it has none of. */
  media(payload: string, start: JsonStart): string;
  mark(name: string, streamId: string): object;
  clear(streamId: string): object;
  /** Absent where digits cannot be sent into the call. */
  digits?(digits: string): object;
  /** Absent where messages may have any length. */
  framing?(sampleRateHz: number): PlayoutFraming;
}

/** Frames are 20 ms apart; a smaller gap between timestamps is rounding. */
const MIN_GAP_MS = 40;
/** Longer gaps are not filled with silence. */
const MAX_GAP_MS = 5000;

export class JsonServer implements DialectServer {
  readonly confirmsClear = false;
  readonly endsByClose: boolean;
  readonly #connection: DialectConnection;
  readonly #messages: JsonServerMessages;
  readonly #order = new ChunkOrder();
  #start: JsonStart | undefined;
  #decode: ReturnType<typeof base64Reader> | undefined;
  #playout: FramedPlayout | undefined;
  /** The caller's audio so far, gaps included. */
  #receivedSamples = 0;

  constructor(connection: DialectConnection, messages: JsonServerMessages) {
    this.#connection = connection;
    this.#messages = messages;
    this.endsByClose = messages.endsByClose === true;
  }

  readStart(message: StreamMessage): StreamStart | string | undefined {
    const fields = parseJson(message);
    const start = fields && this.#messages.readStart(fields);
    if (start === undefined || typeof start === 'string') return start;
    this.#start = start;
    this.#decode = base64Reader(start.encoding);
    const { encoding, sampleRateHz } = start.played ?? start;
    const toPlayed =
      isSampleRate(sampleRateHz) && isSampleRate(start.sampleRateHz)
        ? streamResampler(start.sampleRateHz, sampleRateHz)
        : (samples: Int16Array) => samples;
    this.#playout = new FramedPlayout(this.#messages.framing?.(start.sampleRateHz) ?? UNFRAMED, {
      audio: (samples) =>
        this.#connection.send(this.#messages.media(encodeBase64(encoding, toPlayed(samples)), start)),
      mark: (name) => this.#send(this.#messages.mark(name, start.streamId)),
    });
    return start;
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    const fields = parseJson(message);
    if (fields === undefined || !this.#readEvent(fields, gateway)) gateway.malformed();
  }

  play(samples: Int16Array): void {
    this.#playout?.play(samples);
  }

  mark(name: string): void {
    this.#playout?.mark(name);
  }

  clear(): void {
    if (this.#start === undefined) return;
    this.#playout?.clear();
    this.#send(this.#messages.clear(this.#start.streamId));
  }

  command(command: CallCommand): void {
    if (command.kind === 'hangup') this.#connection.close('hangup');
    if (command.kind === 'send_dtmf' && this.#messages.digits)
      this.#send(this.#messages.digits(command.digits));
  }

  #send(message: object): void {
    this.#connection.send(JSON.stringify(message));
  }

  #readEvent(message: Fields, gateway: GatewayMessageHandler): boolean {
    const { event } = message;
    if (event === 'media') return this.#readMedia(fieldsOf(message.media), gateway);
    if (event === 'start') return true;
    if (event === 'stop') {
      gateway.stopped();
      return true;
    }
    if (event === 'dtmf') {
      const dtmf = fieldsOf(message.dtmf);
      const digits = digitsOf(dtmf?.digit ?? dtmf?.digits);
      for (const digit of digits ?? '') gateway.dtmf(digit);
      return digits !== undefined;
    }
    if (event === this.#messages.markEvent) {
      const name = nameOf(this.#messages.markName(message));
      if (name !== undefined) gateway.mark(name);
      return name !== undefined;
    }
    return typeof event === 'string' && this.#messages.ignoredEvents.includes(event);
  }

  #readMedia(media: Fields | undefined, gateway: GatewayMessageHandler): boolean {
    // A stream of both tracks sends the agent's own audio back.
    if (this.#start === undefined || media?.track === 'outbound') return false;
    const samples = this.#decode?.(media?.payload);
    if (samples === undefined) return false;
    const { hasTimestamps, isUnordered } = this.#messages;
    const gapSamples = hasTimestamps ? this.#gapBefore(media?.timestamp, this.#start) : 0;
    if (gapSamples > 0) this.#receive(new Int16Array(gapSamples), gateway);
    const chunk = isUnordered ? numberOf(media?.chunk) : undefined;
    const ordered = chunk === undefined ? [samples] : this.#order.push(chunk, samples);
    for (const next of ordered) this.#receive(next, gateway);
    return true;
  }

  #gapBefore(timestamp: unknown, { sampleRateHz }: JsonStart): number {
    const gapMs = (numberOf(timestamp) ?? 0) - (this.#receivedSamples * 1000) / sampleRateHz;
    return gapMs >= MIN_GAP_MS && gapMs <= MAX_GAP_MS ? Math.round((gapMs * sampleRateHz) / 1000) : 0;
  }

  #receive(samples: Int16Array, gateway: GatewayMessageHandler): void {
    this.#receivedSamples += samples.length;
    this.#playout?.received(samples.length);
    gateway.audio(samples);
  }
}

/** Puts numbered chunks of a carrier that does not guarantee their order into it. */
class ChunkOrder {
  #next: number | undefined;
  readonly #held = new Map<number, Int16Array>();

  /**
   * @param samples - Copied where they wait.
   * @returns The chunks that are now in order; none for a late or repeated one.
   */
  push(chunk: number, samples: Int16Array): Int16Array[] {
    this.#next ??= chunk;
    if (chunk < this.#next) return [];
    if (chunk === this.#next && this.#held.size === 0) {
      this.#next++;
      return [samples];
    }
    this.#held.set(chunk, samples.slice());
    if (this.#held.size > MAX_HELD_CHUNKS) this.#next = Math.min(...this.#held.keys());
    const ordered: Int16Array[] = [];
    for (;;) {
      const next = this.#held.get(this.#next);
      if (next === undefined) return ordered;
      this.#held.delete(this.#next);
      ordered.push(next);
      this.#next++;
    }
  }
}
