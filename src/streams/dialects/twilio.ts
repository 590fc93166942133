import type {
  ClientRequest,
  DialectClient,
  DialectConnection,
  DialectServer,
  GatewayMessageHandler,
  StreamDialect,
  StreamMessage,
} from './dialect.ts';
import { type Fields, fieldsOf, nameOf, numberOf, parseJson } from './wire/json.ts';
import { GatewayMessages, readAgentMessage, readDigits, readStart } from './wire/mediaStreams.ts';
import { decodeMuLaw, encodeMuLaw } from './wire/muLaw.ts';

const SAMPLE_RATE_HZ = 8000;
const ENCODING = 'audio/x-mulaw';
/** Other carriers of the family write the same encoding in other ways. */
const MU_LAW = /mulaw|mu-law|pcmu|ulaw/i;
/** Frames are 20 ms apart; a smaller gap between timestamps is rounding. */
const MIN_GAP_MS = 40;
/** Longer gaps are not filled with silence. */
const MAX_GAP_MS = 5000;

/**
 * Twilio Media Streams: JSON messages, audio as µ-law in base64. It has no positions, hold, transfer status or failover
 * prompts, and of the commands only hangup, as a close.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export const twilio: StreamDialect = {
  description: ': the messages of Twilio Media Streams, audio as µ-law in base64.',
  openServer: (connection) => new TwilioServer(connection),
  openClient,
};

class TwilioServer implements DialectServer {
  readonly confirmsClear = false;
  readonly #connection: DialectConnection;
  #streamSid = '';
  /** The caller's audio so far, gaps included. */
  #receivedSamples = 0;

  constructor(connection: DialectConnection) {
    this.#connection = connection;
  }

  readStart(message: StreamMessage) {
    const start = readStart(message);
    if (start === undefined) return undefined;
    if (start.sampleRateHz !== SAMPLE_RATE_HZ || !MU_LAW.test(start.encoding)) {
      return 'the audio must be audio/x-mulaw at 8000 Hz';
    }
    this.#streamSid = start.streamId;
    return start;
  }

  read(message: StreamMessage, gateway: GatewayMessageHandler): void {
    const fields = parseJson(message);
    if (fields === undefined || !this.#readKnownMessage(fields, gateway)) gateway.malformed();
  }

  play(samples: Int16Array): void {
    this.#send('media', { media: { payload: encodeMuLaw(samples) } });
  }

  mark(name: string): void {
    this.#send('mark', { mark: { name } });
  }

  clear(): void {
    this.#send('clear');
  }

  command({ kind }: { readonly kind: string }): void {
    if (kind === 'hangup') this.#connection.close('hangup');
  }

  #send(event: string, fields: object = {}): void {
    this.#connection.send(JSON.stringify({ event, streamSid: this.#streamSid, ...fields }));
  }

  #readKnownMessage(message: Fields, gateway: GatewayMessageHandler): boolean {
    switch (message.event) {
      case 'connected':
      case 'start':
        return true;
      case 'stop':
        gateway.stopped();
        return true;
      case 'media':
        return this.#readMedia(fieldsOf(message.media), gateway);
      case 'dtmf': {
        const digits = readDigits(message);
        for (const digit of digits ?? '') gateway.dtmf(digit);
        return digits !== undefined;
      }
      case 'mark': {
        const name = nameOf(fieldsOf(message.mark)?.name);
        if (name !== undefined) gateway.mark(name);
        return name !== undefined;
      }
      default:
        return false;
    }
  }

  #readMedia(media: Fields | undefined, gateway: GatewayMessageHandler): boolean {
    // A stream of both tracks sends the agent's own audio back.
    if (media?.track === 'outbound') return false;
    const samples = decodeMuLaw(media?.payload);
    if (samples === undefined) return false;
    const gapMs = (numberOf(media?.timestamp) ?? 0) - (this.#receivedSamples * 1000) / SAMPLE_RATE_HZ;
    if (gapMs >= MIN_GAP_MS && gapMs <= MAX_GAP_MS) {
      this.#receive(new Int16Array(Math.round((gapMs * SAMPLE_RATE_HZ) / 1000)), gateway);
    }
    this.#receive(samples, gateway);
    return true;
  }

  #receive(samples: Int16Array, gateway: GatewayMessageHandler): void {
    this.#receivedSamples += samples.length;
    gateway.audio(samples);
  }
}

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const messages = new GatewayMessages(target, (text) => connection.send(text));
  const streamSid = JSON.stringify(target.streamId);
  let chunk = 0;
  messages.start({ encoding: ENCODING, sampleRateHz: SAMPLE_RATE_HZ });
  return {
    sampleRateHz: SAMPLE_RATE_HZ,
    agentClosesAfterStop: false,
    audio(samples, position) {
      chunk++;
      const payload = encodeMuLaw(samples);
      const timestamp = Math.round((position * 1000) / SAMPLE_RATE_HZ);
      // Written by hand, since base64 needs no escaping and each call sends fifty of these a second.
      connection.send(
        `{"event":"media","sequenceNumber":"${messages.nextSequenceNumber()}","streamSid":${streamSid},"media":{"track":"inbound","chunk":"${chunk}","timestamp":"${timestamp}","payload":"${payload}"}}`,
      );
    },
    dtmf: (digit) => messages.dtmf(digit),
    mark: ({ name }) => messages.write('mark', { mark: { name } }),
    read(message, agent) {
      const fields = parseJson(message);
      const samples = fields?.event === 'media' ? decodeMuLaw(fieldsOf(fields.media)?.payload) : undefined;
      if (samples !== undefined) agent.audio(samples);
      else if (!readAgentMessage(fields, agent)) agent.malformed();
    },
    stop: () => messages.stop(),
  };
}
