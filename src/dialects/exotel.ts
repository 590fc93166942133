import { isSampleRate } from '../media/resample/resampler.ts';
import type { ClientDialect, ClientRequest, DialectClient, DialectConnection } from './dialect.ts';
import { littleEndian, muLaw } from './wire/audio.ts';
import { jsonRule, MEDIA_STREAMS_EVENTS, payloadOf } from './wire/botRules.ts';
import { fieldsOf, nameOf, numberOf, textsOf } from './wire/json.ts';
import { openJsonClient, readMark } from './wire/jsonClient.ts';
import { JsonServer, type JsonServerMessages, type JsonStart } from './wire/jsonServer.ts';

const DEFAULT_RATE_HZ = 8000;
/** `Stream` elements of Exotel's XML may ask for µ-law; the applets send 16-bit samples. */
const MU_LAW = /mulaw|ulaw|pcmu/i;
/** A message's audio is a multiple of 320 bytes: 20 ms at 8 kHz, and of 20 ms at the other rates too. */
const FRAMES_PER_SECOND = 50;
/** 100 kB, less what base64 and JSON add. */
const MAX_MESSAGE_FRAMES = 100;
/** Reported where Exotel names its customer. */
const ACCOUNT = 'callway';
const DIGIT_MS = '100';

/**
 * Exotel's Voicebot applet: the messages of Twilio Media Streams in snake case, audio as little-endian L16 in base64.
 *
 * @see https://developer.exotel.com/docs/agentstream/websocket-protocol for every message and field
 * @see https://support.exotel.com/support/solutions/articles/3000108630 for the lengths of messages
 */
export const exotel: ClientDialect = {
  description:
    ': the Voicebot applet of Exotel, audio in base64 as 16-bit little-endian samples at 8000, 16000 or 24000 Hz, or as µ-law. Our gateway sends samples at 8000 Hz.',
  openServer: (connection) => new JsonServer(connection, SERVER_MESSAGES),
  openClient,
  botRules: {
    problemOf: jsonRule({
      events: MEDIA_STREAMS_EVENTS,
      streamId: { field: 'stream_sid', events: ['media', 'mark', 'clear'] },
      audioProblem: payloadOf({ max: 100_000, multipleOf: 320 }),
    }),
  },
};

const SERVER_MESSAGES: JsonServerMessages = {
  readStart(message): JsonStart | string | undefined {
    const start = fieldsOf(message.start);
    if (message.event !== 'start' || start === undefined) return undefined;
    const format = fieldsOf(start.media_format);
    const sampleRateHz = numberOf(format?.sample_rate) ?? DEFAULT_RATE_HZ;
    const isMuLaw = MU_LAW.test(nameOf(format?.encoding) ?? '');
    if (!isSampleRate(sampleRateHz) || (isMuLaw && sampleRateHz !== DEFAULT_RATE_HZ)) {
      return 'the sample rate must be 8000, 16000 or 24000';
    }
    return {
      streamId: nameOf(message.stream_sid ?? start.stream_sid) ?? '',
      sampleRateHz,
      customParameters: textsOf(fieldsOf(start.custom_parameters)),
      encoding: isMuLaw ? muLaw : littleEndian,
    };
  },
  markEvent: 'mark',
  markName: (message) => fieldsOf(message.mark)?.name,
  ignoredEvents: ['connected', 'clear'],
  media: (payload, { streamId }) =>
    `{"event":"media","stream_sid":${JSON.stringify(streamId)},"media":{"payload":"${payload}"}}`,
  mark: (name, stream_sid) => ({ event: 'mark', stream_sid, mark: { name } }),
  clear: (stream_sid) => ({ event: 'clear', stream_sid }),
  framing: (sampleRateHz) => ({
    frameSamples: sampleRateHz / FRAMES_PER_SECOND,
    maxMessageSamples: (MAX_MESSAGE_FRAMES * sampleRateHz) / FRAMES_PER_SECOND,
    maxLeadSamples: Number.POSITIVE_INFINITY,
  }),
};

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const { streamId: stream_sid, callId: call_sid, customParameters: custom_parameters } = target;
  const { fromNumber: from = '', toNumber: to = '' } = custom_parameters;
  const quotedId = JSON.stringify(stream_sid);
  let sequenceNumber = 0;
  const next = () => String(++sequenceNumber);
  const message = (event: string, fields: object) => ({
    event,
    sequence_number: next(),
    stream_sid,
    ...fields,
  });
  const media_format = { encoding: 'audio/x-raw', sample_rate: String(DEFAULT_RATE_HZ), bit_rate: '16' };
  const start = { stream_sid, call_sid, account_sid: ACCOUNT, from, to, custom_parameters, media_format };
  return openJsonClient(connection, {
    sampleRateHz: DEFAULT_RATE_HZ,
    encoding: littleEndian,
    opening: [{ event: 'connected' }, message('start', { start })],
    media: (payload, chunk, positionMs) =>
      `{"event":"media","sequence_number":"${next()}","stream_sid":${quotedId},"media":{"chunk":"${chunk}","timestamp":"${positionMs}","payload":"${payload}"}}`,
    dtmf: (digit) => message('dtmf', { dtmf: { digit, duration: DIGIT_MS } }),
    mark: (name) => message('mark', { mark: { name } }),
    stop: () => message('stop', { stop: { call_sid, account_sid: ACCOUNT } }),
    audioEvent: 'media',
    readAgent(fields, agent) {
      if (fields.event === 'mark') return readMark(fieldsOf(fields.mark)?.name, agent);
      if (fields.event === 'clear') agent.clear();
      return fields.event === 'clear';
    },
  });
}
