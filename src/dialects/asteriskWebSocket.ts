import type {
  AgentReader,
  BotProblem,
  ClientDialect,
  ClientRequest,
  DialectClient,
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamMessage,
  StreamStart,
} from './dialect.ts';
import { type AudioEncoding, aLaw, littleEndian, muLaw } from './wire/audio.ts';
import { FramedPlayout } from './wire/framedPlayout.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf, parseJson, textsOf } from './wire/json.ts';

interface Format {
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
}

/** By Asterisk's names. */
const FORMATS: ReadonlyMap<unknown, Format> = new Map([
  ['ulaw', { encoding: muLaw, sampleRateHz: 8000 }],
  ['alaw', { encoding: aLaw, sampleRateHz: 8000 }],
  ['slin', { encoding: littleEndian, sampleRateHz: 8000 }],
  ['slin16', { encoding: littleEndian, sampleRateHz: 16_000 }],
  ['slin24', { encoding: littleEndian, sampleRateHz: 24_000 }],
  ['slin48', { encoding: littleEndian, sampleRateHz: 48_000 }],
]);
/** A longer message closes Asterisk's WebSocket. */
const MAX_MESSAGE_BYTES = 65_500;
/** Asterisk's queue holds 1000 frames of 20 ms; what comes beyond them is lost. */
const MAX_LEAD_SECONDS = 15;
const PTIME_MS = 20;
/** The limit of a mark's id, and of our gateway's answer to it: a command has at most 128 bytes. */
const MAX_ID_LENGTH = 100;
/** The limit of plain text, whose words are split: Asterisk's events have some hundred characters. */
const MAX_PLAIN_LENGTH = 4096;
const MAX_COMMAND_LENGTH = 128;
/** The queue of 1000 frames. */
const BUFFER_MS = 20_000;

/**
 * Asterisk's `chan_websocket`: media as binary messages in the channel's codec, control as text, either plain or JSON
 * (`f(json)`). The call's end is the connection's.
 *
 * @see https://docs.asterisk.org/Configuration/Channel-Drivers/WebSocket for events, commands and limits
 * @see https://github.com/asterisk/asterisk/blob/master/channels/chan_websocket.c for the JSON form, and for `MARK_MEDIA`
 */
export const asteriskWebSocket: ClientDialect = {
  subprotocols: ['media'],
  description:
    ' (subprotocol `media`): `chan_websocket` of Asterisk 20.18, 22.8 or 23.2 and later, media as binary messages in `ulaw`, `alaw`, `slin`, `slin16`, `slin24` or `slin48`, control messages as plain text or JSON. With JSON the texts of `channel_variables` are custom parameters. Our gateway sends plain text, and `ulaw` or `slin16`.',
  openServer: (connection) => new AsteriskServer(connection),
  openClient,
  botRules: { problemOf: botProblem, bufferMs: BUFFER_MS, returnsPlayedMarksOnly: true },
};

class AsteriskServer implements DialectServer {
  readonly confirmsClear = false;
  readonly endsByClose = true;
  readonly #connection: DialectConnection;
  #isJson = false;
  #format: Format | undefined;
  #playout: FramedPlayout | undefined;

  constructor(connection: DialectConnection) {
    this.#connection = connection;
  }

  readStart(message: StreamMessage): StreamStart | string | undefined {
    const event = readEvent(message);
    if (event?.event !== 'MEDIA_START') return undefined;
    const format = FORMATS.get(event.format);
    if (format === undefined) return `the codec must be one of ${[...FORMATS.keys()].join(', ')}`;
    const { encoding, sampleRateHz } = format;
    const frameBytes = numberOf(event.optimal_frame_size) ?? 0;
    const frameSamples = frameBytes / encoding.bytesPerSample;
    if (!Number.isInteger(frameSamples) || frameBytes === 0 || frameBytes > MAX_MESSAGE_BYTES) {
      return `the optimal_frame_size must be whole samples in 1 to ${MAX_MESSAGE_BYTES} bytes`;
    }
    this.#isJson = parseJson(message) !== undefined;
    this.#format = format;
    const maxMessageSamples = Math.floor(MAX_MESSAGE_BYTES / frameBytes) * frameSamples;
    this.#playout = new FramedPlayout(
      { frameSamples, maxMessageSamples, maxLeadSamples: sampleRateHz * MAX_LEAD_SECONDS },
      {
        audio: (samples) => this.#connection.send(encoding.encode(samples)),
        mark: (name) => this.#command('MARK_MEDIA', name),
      },
    );
    return { sampleRateHz, customParameters: textsOf(fieldsOf(event.channel_variables)) };
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    if (typeof message === 'string') this.#readEvent(readEvent(message), gateway);
    else this.#readAudio(message, gateway);
  }

  play(samples: Int16Array): void {
    this.#playout?.play(samples);
  }

  mark(name: string): void {
    this.#playout?.mark(name);
  }

  clear(): void {
    this.#playout?.clear();
    this.#command('FLUSH_MEDIA');
  }

  command({ kind }: { readonly kind: string }): void {
    if (kind !== 'hangup') return;
    this.#command('HANGUP');
    this.#connection.close('hangup');
  }

  #command(command: string, id?: string): void {
    const plain = id === undefined ? command : `${command} ${id}`;
    const json = { command, correlation_id: id };
    this.#connection.send(this.#isJson ? JSON.stringify(json) : plain);
  }

  #readAudio(message: Uint8Array, gateway: GatewayMessageHandler): void {
    const samples = this.#format?.encoding.decode(message);
    if (samples === undefined || samples.length === 0) {
      gateway.malformed();
      return;
    }
    this.#playout?.received(samples.length);
    gateway.audio(samples);
  }

  #readEvent(event: Fields | undefined, gateway: GatewayMessageHandler): void {
    switch (event?.event) {
      case 'DTMF_END': {
        const digits = digitsOf(event.digit);
        if (digits === undefined) gateway.malformed();
        for (const digit of digits ?? '') gateway.dtmf(digit);
        return;
      }
      case 'MEDIA_MARK_PROCESSED': {
        const name = nameOf(event.correlation_id);
        if (name === undefined) gateway.malformed();
        else gateway.mark(name, { outcome: 'played' });
        return;
      }
      // The lead stays below Asterisk's limits.
      case 'MEDIA_START':
      case 'MEDIA_XOFF':
      case 'MEDIA_XON':
      case 'STATUS':
      case 'QUEUE_DRAINED':
      case 'MEDIA_BUFFERING_COMPLETED':
        return;
      default:
        gateway.malformed();
    }
  }
}

/** @returns An event of either form: plain text is `EVENT [id] [name:value …]`. */
function readEvent(message: StreamMessage): Fields | undefined {
  if (typeof message !== 'string') return undefined;
  const json = parseJson(message);
  if (json) return json;
  if (message.length > MAX_PLAIN_LENGTH) return undefined;
  const [event, ...words] = message.trim().split(' ');
  const pairs = words.flatMap((word) => {
    const [, name, value] = /^([a-z_]+):(.*)$/s.exec(word) ?? [];
    return name === undefined ? [] : [[name, value]];
  });
  const id = words[0]?.includes(':') ? undefined : words[0];
  return { event, correlation_id: id, ...Object.fromEntries(pairs) };
}

function openClient(
  connection: DialectConnection,
  { target, sampleRateHz: wantedHz }: ClientRequest,
): DialectClient {
  const isWideband = wantedHz > 8000;
  const format = isWideband ? 'slin16' : 'ulaw';
  const encoding = isWideband ? littleEndian : muLaw;
  const sampleRateHz = isWideband ? 16_000 : 8000;
  const frameBytes = (sampleRateHz * PTIME_MS * encoding.bytesPerSample) / 1000;
  const channelId = target.callId;
  connection.send(
    `MEDIA_START connection_id:${target.streamId} channel:WebSocket/${target.streamId} channel_id:${channelId} format:${format} optimal_frame_size:${frameBytes} ptime:${PTIME_MS}`,
  );
  const refuse = (command: string) =>
    connection.send(`ERROR channel_id:${channelId} error_text:${command} not supported`);
  return {
    sampleRateHz,
    agentClosesAfterStop: false,
    // The frame is the caller's; the message is the connection's.
    audio: (samples) => connection.send(encoding.encode(isWideband ? samples.slice() : samples)),
    dtmf: (digit) => connection.send(`DTMF_END digit:${digit} channel_id:${channelId}`),
    mark({ name, outcome }) {
      // The name is the answer. A flush drops the marks with their media, and leaves the queue drained.
      if (outcome === 'played' || name === 'QUEUE_DRAINED') connection.send(name);
    },
    read(message, agent) {
      if (typeof message === 'string') readCommand(message, agent, refuse);
      else agent.audio(encoding.decode(message));
    },
    stop: () => undefined,
  };
}

function readCommand(message: string, agent: AgentReader, refuse: (command: string) => void): void {
  const json = parseJson(message);
  if (!json && message.length > MAX_PLAIN_LENGTH) {
    agent.malformed();
    return;
  }
  const [plain = '', ...words] = json ? [] : message.trim().split(' ');
  const command = json ? json.command : plain;
  const id = (json ? nameOf(json.correlation_id) : words.join(' ')) ?? '';
  if (id.length > MAX_ID_LENGTH) {
    agent.malformed();
    return;
  }
  switch (command) {
    case 'FLUSH_MEDIA':
      agent.clear();
      break;
    case 'HANGUP':
      agent.command({ kind: 'hangup' });
      break;
    case 'MARK_MEDIA':
      agent.mark(`MEDIA_MARK_PROCESSED ${id}`.trim());
      break;
    case 'STOP_MEDIA_BUFFERING':
      agent.mark(`MEDIA_BUFFERING_COMPLETED ${id}`.trim());
      break;
    case 'REPORT_QUEUE_DRAINED':
      agent.mark('QUEUE_DRAINED');
      break;
    // The call is answered, and audio of any length is buffered.
    case 'ANSWER':
    case 'START_MEDIA_BUFFERING':
      break;
    case 'PAUSE_MEDIA':
    case 'CONTINUE_MEDIA':
    case 'GET_STATUS':
    case 'SET_MEDIA_DIRECTION':
      refuse(command);
      break;
    default:
      agent.malformed();
  }
}

function botProblem(message: StreamMessage): BotProblem | undefined {
  const { length } = message;
  if (typeof message === 'string')
    return length > MAX_COMMAND_LENGTH
      ? {
          check: 'messages',
          detail: `a command has ${length} bytes, more than ${MAX_COMMAND_LENGTH}`,
        }
      : undefined;
  return length > MAX_MESSAGE_BYTES
    ? {
        check: 'formats',
        detail: `a binary message has ${length} bytes; Asterisk closes above ${MAX_MESSAGE_BYTES}`,
      }
    : undefined;
}
