import { isSampleRate } from '../../media/resample/resampler.ts';
import type { ClientDialect, ClientRequest, DialectClient, DialectConnection } from './dialect.ts';
import { type AudioEncoding, aLaw, bigEndian, muLaw } from './wire/audio.ts';
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
 * Telnyx media streaming in the bidirectional mode `rtp`: JSON messages, audio in base64. What Telnyx plays must have the
 * codec of what it sends: the start message names only the latter.
 *
 * @see https://developers.telnyx.com/api-reference/websockets/stream-call-media-over-websocket for every message and field
 * @see https://developers.telnyx.com/docs/voice/programmable-voice/texml-verbs/stream for codecs and rates
 */
export const telnyx: ClientDialect = {
  description:
    ': Telnyx media streaming in the bidirectional mode `rtp`, audio in base64 as PCMU, PCMA or L16 (big-endian, 8000, 16000 or 24000 Hz); the bidirectional codec must be the codec of the stream. Our gateway sends PCMU.',
  openServer: (connection) => new JsonServer(connection, SERVER_MESSAGES),
  openClient,
};

const SERVER_MESSAGES: JsonServerMessages = {
  readStart(message): JsonStart | string | undefined {
    const start = fieldsOf(message.start);
    if (message.event !== 'start' || start === undefined) return undefined;
    const format = fieldsOf(start.media_format);
    const encoding = ENCODINGS[(nameOf(format?.encoding) ?? '').toUpperCase()];
    const sampleRateHz = numberOf(format?.sample_rate) ?? G711_RATE_HZ;
    const isPossible = encoding === bigEndian ? isSampleRate(sampleRateHz) : sampleRateHz === G711_RATE_HZ;
    if (encoding === undefined || !isPossible) {
      return 'the codec must be PCMU or PCMA at 8000 Hz, or L16 at 8000, 16000 or 24000 Hz';
    }
    const customParameters = textsOf(fieldsOf(start.custom_parameters));
    return { streamId: nameOf(message.stream_id) ?? '', sampleRateHz, customParameters, encoding };
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
