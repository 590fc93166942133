import { readPcm16, writePcm16 } from '../media/pcm16.ts';
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
} from './dialect.ts';
import { FramedPlayout } from './wire/framedPlayout.ts';
import { digitsOf, fieldsOf, nameOf, parseJson, textsOf } from './wire/json.ts';

const CONTENT_TYPE = /^audio\/l16;\s*rate=(8000|16000|24000)$/;
/** What most bots for Vonage expect. */
const CLIENT_RATE_HZ = 16_000;
const FRAMES_PER_SECOND = 50;
/** Vonage buffers 3072 messages of 20 ms; what comes beyond them is lost. */
const MAX_LEAD_SECONDS = 50;
/** Longer payloads of a notification are refused, since they are echoed. */
const MAX_PAYLOAD_LENGTH = 4096;
/** The buffer of 3072 messages of 20 ms. */
const BUFFER_MS = 61_440;
/** 20 ms at {@link CLIENT_RATE_HZ}. */
const MESSAGE_BYTES = 640;

/**
 * The WebSocket endpoint of Vonage's Voice API: control messages as JSON, audio both ways as binary little-endian L16. A
 * mark is a notification; the call's end is the connection's.
 *
 * @see https://developer.vonage.com/en/voice/voice-api/concepts/websockets for every message and field
 */
export const vonage: ClientDialect = {
  description:
    ': the WebSocket endpoint of the Vonage Voice API, audio both ways as binary messages of 20 ms, little-endian L16 at the rate of the `content-type` (8000, 16000 or 24000). The other fields of `websocket:connected` are its custom parameters. Our gateway sends 16000 Hz.',
  openServer,
  openClient,
  botRules: { problemOf: wrongLength, bufferMs: BUFFER_MS, returnsPlayedMarksOnly: true },
};

function openServer(connection: DialectConnection): DialectServer {
  let playout: FramedPlayout | undefined;
  const send = (message: object) => connection.send(JSON.stringify(message));
  return {
    confirmsClear: false,
    endsByClose: true,
    readStart(message) {
      const fields = parseJson(message);
      if (fields?.event !== 'websocket:connected') return undefined;
      const { event: _event, 'content-type': contentType, ...own } = fields;
      const [, rate] = CONTENT_TYPE.exec(nameOf(contentType) ?? '') ?? [];
      if (rate === undefined) return 'the content-type must be audio/l16 with a rate of 8000, 16000 or 24000';
      const sampleRateHz = Number(rate);
      const frameSamples = sampleRateHz / FRAMES_PER_SECOND;
      playout = new FramedPlayout(
        { frameSamples, maxMessageSamples: frameSamples, maxLeadSamples: sampleRateHz * MAX_LEAD_SECONDS },
        {
          audio: (samples) => connection.send(writePcm16(samples)),
          mark: (name) => send({ action: 'notify', payload: { name } }),
        },
      );
      return { sampleRateHz, customParameters: textsOf(own) };
    },
    read(message, gateway) {
      if (typeof message === 'string') return readEvent(message, gateway);
      const samples = readPcm16(message);
      playout?.received(samples.length);
      gateway.audio(samples);
    },
    play: (samples) => playout?.play(samples),
    mark: (name) => playout?.mark(name),
    clear() {
      playout?.clear();
      send({ action: 'clear' });
    },
    command({ kind }) {
      if (kind === 'hangup') connection.close('hangup');
    },
  };
}

function readEvent(message: string, gateway: GatewayMessageHandler): void {
  const fields = parseJson(message);
  switch (fields?.event) {
    case 'websocket:connected':
    case 'websocket:cleared':
      return;
    case 'websocket:dtmf': {
      const digits = digitsOf(fields.digit);
      if (digits === undefined) gateway.malformed();
      for (const digit of digits ?? '') gateway.dtmf(digit);
      return;
    }
    case 'websocket:notify': {
      const name = nameOf(fieldsOf(fields.payload)?.name);
      if (name === undefined) gateway.malformed();
      else gateway.mark(name);
      return;
    }
    default:
      gateway.malformed();
  }
}

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const send = (message: object) => connection.send(JSON.stringify(message));
  send({
    ...target.customParameters,
    event: 'websocket:connected',
    'content-type': `audio/l16;rate=${CLIENT_RATE_HZ}`,
  });
  return {
    sampleRateHz: CLIENT_RATE_HZ,
    agentClosesAfterStop: false,
    // The frame is the caller's; the message is the connection's.
    audio: (samples) => connection.send(writePcm16(samples.slice())),
    dtmf: (digit, durationMs) => send({ event: 'websocket:dtmf', digit, duration: durationMs }),
    mark({ name, outcome }) {
      // The name is the payload, as it was given.
      if (outcome === 'played') connection.send(`{"event":"websocket:notify","payload":${name}}`);
    },
    cleared: () => send({ event: 'websocket:cleared' }),
    read: readAction,
    stop: () => undefined,
  };
}

function readAction(message: StreamMessage, agent: AgentReader): void {
  if (typeof message !== 'string') {
    if (message.length % Int16Array.BYTES_PER_ELEMENT === 1) agent.malformed();
    agent.audio(readPcm16(message));
    return;
  }
  const fields = parseJson(message);
  const payload = fields?.action === 'notify' ? JSON.stringify(fieldsOf(fields.payload)) : undefined;
  if (fields?.action === 'clear') agent.clear();
  else if (payload !== undefined && payload.length <= MAX_PAYLOAD_LENGTH) agent.mark(payload);
  else agent.malformed();
}

function wrongLength(message: StreamMessage): BotProblem | undefined {
  return typeof message === 'string' || message.length === MESSAGE_BYTES
    ? undefined
    : { check: 'formats', detail: `a binary message has ${message.length} bytes, not ${MESSAGE_BYTES}` };
}
