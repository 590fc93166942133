import type {
  ClientDialect,
  ClientRequest,
  DialectClient,
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamMessage,
  StreamStart,
} from './dialect.ts';
import { littleEndian } from './wire/audio.ts';
import { FramedPlayout } from './wire/framedPlayout.ts';
import { digitsOf } from './wire/json.ts';

/** Kinds of messages. */
const HANGUP = 0x00;
const UUID = 0x01;
const DTMF = 0x03;
const AUDIO = 0x10;
const ERROR = 0xff;
/** Rates of 16-bit little-endian samples, by kind, as far as they can be resampled. */
const RATES_HZ: ReadonlyMap<number, number> = new Map([
  [AUDIO, 8000],
  [0x12, 16_000],
  [0x13, 24_000],
  [0x16, 48_000],
]);
const CLIENT_RATE_HZ = 8000;
/** A kind, and a length in network byte order. */
const HEADER_BYTES = 3;
const UUID_BYTES = 16;
export const UUID_MESSAGE_BYTES = HEADER_BYTES + UUID_BYTES;
const FRAMES_PER_SECOND = 50;
/** What was sent cannot be taken back: 40 to 120 ms, of which 40 are for the jitter of a local network. */
const MAX_LEAD_FRAMES = 6;
/** One write to a socket costs as much processor time as most of the other work for a frame. */
const BATCH_FRAMES = 4;
/** A bot's audio may be this far ahead: it cannot be taken back when the caller interrupts. */
const BOT_LEAD_MS = 1000;

/**
 * Asterisk's AudioSocket, over TCP. It has neither marks nor a clear: the audio is sent in the pace of the caller's.
 *
 * ```text
 *  0        1                 3
 * +--------+-----------------+----------------------+
 * |  kind  | length (2, BE)  |  payload             |
 * +--------+-----------------+----------------------+
 * ```
 *
 * @see https://github.com/asterisk/asterisk/blob/master/include/asterisk/res_audiosocket.h for the kinds
 * @see https://docs.asterisk.org/Configuration/Channel-Drivers/AudioSocket
 */
export const audiosocket: ClientDialect = {
  isTcp: true,
  hasNoMarks: true,
  description:
    ' (TCP, where `AUDIOSOCKET_PORT` is set): AudioSocket of Asterisk, 16-bit little-endian samples at 8000, 16000, 24000 or 48000 Hz. `url` is `tcp://host:port`, and the UUID that Asterisk sends is the `streamId`. It has no custom parameters, and what was heard is estimated. Our gateway sends 8000 Hz.',
  openServer: (connection) => new AudioSocketServer(connection),
  openClient,
  botRules: { bufferMs: BOT_LEAD_MS, hasNoClear: true },
};

class AudioSocketServer implements DialectServer {
  readonly confirmsClear = false;
  readonly endsByClose = true;
  readonly #connection: DialectConnection;
  #kind = AUDIO;
  #playout: FramedPlayout | undefined;
  /** The handler of the message that is being read. */
  #gateway: GatewayMessageHandler | undefined;

  constructor(connection: DialectConnection) {
    this.#connection = connection;
  }

  /** The first audio says the rate. */
  readStart(message: StreamMessage): StreamStart | string | undefined {
    const { kind } = parse(message);
    if (kind === undefined || kind < AUDIO || kind === ERROR) return undefined;
    const sampleRateHz = RATES_HZ.get(kind);
    if (sampleRateHz === undefined) return 'the sample rate must be 8000, 16000, 24000 or 48000';
    this.#kind = kind;
    const frameSamples = sampleRateHz / FRAMES_PER_SECOND;
    const framing = {
      frameSamples,
      maxMessageSamples: frameSamples,
      maxLeadSamples: frameSamples * MAX_LEAD_FRAMES,
      batchSamples: frameSamples * BATCH_FRAMES,
      hasNoMarks: true,
      hasNoClear: true,
    };
    this.#playout = new FramedPlayout(framing, {
      audio: (samples) => this.#connection.send(write(kind, littleEndian.encode(samples))),
      mark: (name) => this.#gateway?.mark(name, { outcome: 'played' }),
    });
    return { sampleRateHz, customParameters: {} };
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    const { kind, payload } = parse(message);
    const digit = kind === DTMF ? digitOf(payload) : undefined;
    if (kind === HANGUP) gateway.stopped();
    else if (kind === this.#kind && payload.length > 0) this.#receive(decode(payload), gateway);
    else if (digit !== undefined) gateway.dtmf(digit);
    else if (kind !== UUID) gateway.malformed();
  }

  #receive(samples: Int16Array, gateway: GatewayMessageHandler): void {
    this.#gateway = gateway;
    this.#playout?.received(samples.length);
    gateway.audio(samples);
  }

  play(samples: Int16Array): void {
    this.#playout?.play(samples);
  }

  mark(name: string): void {
    this.#playout?.mark(name);
  }

  clear(): void {
    this.#playout?.clear();
  }

  command({ kind }: { readonly kind: string }): void {
    if (kind !== 'hangup') return;
    this.#connection.send(write(HANGUP));
    this.#connection.close('hangup');
  }
}

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  connection.send(write(UUID, Buffer.from(target.streamId.replaceAll('-', ''), 'hex')));
  return {
    sampleRateHz: CLIENT_RATE_HZ,
    agentClosesAfterStop: false,
    audio: (samples) => connection.send(write(AUDIO, littleEndian.encode(samples))),
    dtmf: (digit) => connection.send(write(DTMF, Buffer.from(digit, 'ascii'))),
    // Bots pace their audio themselves.
    mark: () => undefined,
    read(message, agent) {
      const { kind, payload } = parse(message);
      if (kind === AUDIO && payload.length > 0) agent.audio(decode(payload));
      else if (kind === HANGUP) agent.command({ kind: 'hangup' });
      else agent.malformed();
    },
    stop: () => connection.send(write(HANGUP)),
  };
}

/** @returns The UUID in its usual form; undefined unless the message is one. */
export function readUuid(message: Uint8Array): string | undefined {
  const { kind, payload } = parse(message);
  if (kind !== UUID || payload.length !== UUID_BYTES) return undefined;
  const hex = Buffer.from(payload).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** @returns The length of the message at the start of the bytes; undefined while its header is incomplete. */
export function messageLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  return HEADER_BYTES + (((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0));
}

function parse(message: StreamMessage): { readonly kind: number | undefined; readonly payload: Uint8Array } {
  if (typeof message === 'string' || messageLength(message) !== message.length) {
    return { kind: undefined, payload: new Uint8Array(0) };
  }
  return { kind: message[0], payload: message.subarray(HEADER_BYTES) };
}

/** Behind a header of three bytes samples are not aligned: they are copied, into Node's buffer pool. */
function decode(payload: Uint8Array): Int16Array {
  return littleEndian.decode(Buffer.from(payload));
}

/** @returns A message with its own copy of the payload. */
function write(kind: number, payload: Uint8Array = new Uint8Array(0)): Uint8Array {
  // From Node's buffer pool, without an allocation for each message.
  const message = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  message[0] = kind;
  message[1] = payload.length >> 8;
  message[2] = payload.length;
  message.set(payload, HEADER_BYTES);
  return message;
}

function digitOf(payload: Uint8Array): string | undefined {
  return payload.length === 1 ? digitsOf(String.fromCharCode(payload[0] ?? 0)) : undefined;
}
