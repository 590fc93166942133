import { isSampleRate } from '../media/resample/resampler.ts';
import type { ClientDialect, ClientRequest, DialectClient, DialectConnection } from './dialect.ts';
import { type AudioEncoding, aLaw, bigEndian, muLaw } from './wire/audio.ts';
import { jsonRule, MEDIA_STREAMS_EVENTS, payloadOf } from './wire/botRules.ts';
import { fieldsOf, nameOf, numberOf, textsOf } from './wire/json.ts';
import { openJsonClient, readMark } from './wire/jsonClient.ts';
import { JsonServer, type JsonServerMessages, type JsonStart } from './wire/jsonServer.ts';

const G711_RATE_HZ = 8000;
/** A message to Telnyx has 20 ms to 30 s of audio. */
const FRAMES_PER_SECOND = 50;
const MAX_MESSAGE_SECONDS = 30;
/** L16 is in network byte order, as in RTP (RFC 3551). */
const ENCODINGS: Readonly<Record<string, AudioEncoding>> = { PCMU: muLaw, PCMA: aLaw, L16: bigEndian };
/** Reported where Telnyx names its customer. */
const USER_ID = 'callway';

/**
 * Telnyx media streaming in the bidirectional mode `rtp`: JSON messages, audio in base64. The start message names the codec
 * of what Telnyx sends; that of what it plays is the same, or is named by custom parameters.
 *
 * @see https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket for every message and field
 * @see https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream for codecs and rates
 */
export const telnyx: ClientDialect = {
  description:
    ': Telnyx media streaming in the bidirectional mode `rtp`, audio in base64 as PCMU, PCMA or L16 (big-endian, 8000, 16000 or 24000 Hz); the bidirectional codec is that of the stream, unless the custom parameters `stream_bidirectional_codec` and `stream_bidirectional_sampling_rate` name another. Our gateway sends PCMU.',
  openServer: (connection) => new JsonServer(connection, SERVER_MESSAGES),
  openClient,
  botRules: {
    // 20 ms to 30 s of PCMU.
    problemOf: jsonRule({
      events: MEDIA_STREAMS_EVENTS,
      audioProblem: payloadOf({ min: 160, max: 240_000 }),
    }),
  },
};

const SERVER_MESSAGES: JsonServerMessages = {
  readStart(message): JsonStart | string | undefined {
    const start = fieldsOf(message.start);
    if (message.event !== 'start' || start === undefined) return undefined;
    const format = fieldsOf(start.media_format);
    const customParameters = textsOf(fieldsOf(start.custom_parameters));
    const sent = readFormat(nameOf(format?.encoding) ?? '', format?.sample_rate);
    const played = playedFormat(customParameters) ?? sent;
    if (!sent || !played || played === 'unknown')
      return 'the codec must be PCMU or PCMA at 8000 Hz, or L16 at 8000, 16000 or 24000 Hz';
    return { streamId: nameOf(message.stream_id) ?? '', customParameters, ...sent, played };
  },
  markEvent: 'mark',
  markName: (message) => fieldsOf(message.mark)?.name,
  ignoredEvents: ['connected', 'error'],
  isUnordered: true,
  media: (payload) => `{"event":"media","media":{"payload":"${payload}"}}`,
  mark: (name) => ({ event: 'mark', mark: { name } }),
  clear: () => ({ event: 'clear' }),
  framing: (sampleRateHz) => ({
    frameSamples: sampleRateHz / FRAMES_PER_SECOND,
    maxMessageSamples: sampleRateHz * MAX_MESSAGE_SECONDS,
    maxLeadSamples: Number.POSITIVE_INFINITY,
  }),
};

/** What Telnyx plays, where its custom parameters say so by the names of the call command or of TeXML. */
function playedFormat(own: Readonly<Record<string, string>>) {
  const codec = own.stream_bidirectional_codec ?? own.bidirectionalCodec;
  const rate = own.stream_bidirectional_sampling_rate ?? own.bidirectionalSamplingRate;
  return codec === undefined ? undefined : (readFormat(codec, rate) ?? 'unknown');
}

/** @returns Undefined for a codec, or a rate of it, that is not taken. */
function readFormat(codec: string, rate: unknown): JsonStart['played'] {
  const encoding = ENCODINGS[codec.toUpperCase()];
  const sampleRateHz = numberOf(rate) ?? G711_RATE_HZ;
  if (!encoding || !isSampleRate(sampleRateHz)) return undefined;
  return encoding === bigEndian || sampleRateHz === G711_RATE_HZ ? { encoding, sampleRateHz } : undefined;
}

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const { streamId: stream_id, callId: call_control_id, customParameters: custom_parameters } = target;
  const { fromNumber: from = '', toNumber: to = '' } = custom_parameters;
  const quotedId = JSON.stringify(stream_id);
  let sequenceNumber = 0;
  const next = () => String(++sequenceNumber);
  const message = (event: string, fields: object) => ({
    event,
    sequence_number: next(),
    stream_id,
    ...fields,
  });
  const media_format = { encoding: 'PCMU', sample_rate: G711_RATE_HZ, channels: 1 };
  const start = { user_id: USER_ID, call_control_id, from, to, custom_parameters, media_format };
  return openJsonClient(connection, {
    sampleRateHz: G711_RATE_HZ,
    encoding: muLaw,
    opening: [{ event: 'connected', version: '1.0.0' }, message('start', { start })],
    media: (payload, chunk, positionMs) =>
      `{"event":"media","sequence_number":"${next()}","stream_id":${quotedId},"media":{"track":"inbound","chunk":"${chunk}","timestamp":"${positionMs}","payload":"${payload}"}}`,
    dtmf: (digit) => message('dtmf', { dtmf: { digit } }),
    mark: (name) => message('mark', { mark: { name } }),
    stop: () => message('stop', { stop: { user_id: USER_ID, call_control_id } }),
    audioEvent: 'media',
    readAgent(fields, agent) {
      if (fields.event === 'mark') return readMark(fieldsOf(fields.mark)?.name, agent);
      if (fields.event === 'clear') agent.clear();
      return fields.event === 'clear';
    },
  });
}
