import type { ClientDialect, ClientRequest, DialectClient, DialectConnection } from './dialect.ts';
import { muLaw } from './wire/audio.ts';
import { jsonRule, MEDIA_STREAMS_EVENTS, payloadOf } from './wire/botRules.ts';
import { fieldsOf } from './wire/json.ts';
import { openJsonClient } from './wire/jsonClient.ts';
import { JsonServer, type JsonServerMessages } from './wire/jsonServer.ts';
import { GatewayMessages, readAgentMessage, readStart } from './wire/mediaStreams.ts';

const SAMPLE_RATE_HZ = 8000;
const ENCODING = 'audio/x-mulaw';
/** Other carriers of the family write the same encoding in other ways. */
const MU_LAW = /mulaw|mu-law|pcmu|ulaw/i;

/**
 * Twilio Media Streams: JSON messages, audio as µ-law in base64. It has no positions, hold, transfer status or failover
 * prompts, and of the commands only hangup, as a close.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export const twilio: ClientDialect = {
  description: ': the messages of Twilio Media Streams, audio as µ-law in base64.',
  isSignedByTwilio: true,
  openServer: (connection) => new JsonServer(connection, SERVER_MESSAGES),
  openClient,
  botRules: {
    problemOf: jsonRule({
      events: MEDIA_STREAMS_EVENTS,
      streamId: { field: 'streamSid', events: ['media', 'mark', 'clear'] },
      audioProblem: payloadOf({}),
    }),
  },
};

const SERVER_MESSAGES: JsonServerMessages = {
  readStart(message) {
    const start = readStart(message);
    if (start === undefined) return undefined;
    if (start.sampleRateHz !== SAMPLE_RATE_HZ || !MU_LAW.test(start.encoding)) {
      return 'the audio must be audio/x-mulaw at 8000 Hz';
    }
    return { ...start, encoding: muLaw };
  },
  markEvent: 'mark',
  markName: (message) => fieldsOf(message.mark)?.name,
  ignoredEvents: ['connected'],
  hasTimestamps: true,
  media: (payload, { streamId }) =>
    `{"event":"media","streamSid":${JSON.stringify(streamId)},"media":{"payload":"${payload}"}}`,
  mark: (name, streamSid) => ({ event: 'mark', streamSid, mark: { name } }),
  clear: (streamSid) => ({ event: 'clear', streamSid }),
};

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const messages = new GatewayMessages(target);
  const streamSid = JSON.stringify(target.streamId);
  return openJsonClient(connection, {
    sampleRateHz: SAMPLE_RATE_HZ,
    encoding: muLaw,
    opening: messages.opening({ encoding: ENCODING, sampleRateHz: SAMPLE_RATE_HZ }),
    media: (payload, chunk, positionMs) =>
      `{"event":"media","sequenceNumber":"${messages.nextSequenceNumber()}","streamSid":${streamSid},"media":{"track":"inbound","chunk":"${chunk}","timestamp":"${positionMs}","payload":"${payload}"}}`,
    dtmf: (digit) => messages.dtmf(digit),
    mark: (name) => messages.message('mark', { mark: { name } }),
    stop: () => messages.stop(),
    audioEvent: 'media',
    readAgent: readAgentMessage,
  });
}
