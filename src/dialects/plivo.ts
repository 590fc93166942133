import type { ClientDialect, ClientRequest, DialectClient, DialectConnection } from './dialect.ts';
import { littleEndian, muLaw } from './wire/audio.ts';
import { jsonRule, payloadOf } from './wire/botRules.ts';
import { digitsOf, type Fields, fieldsOf, nameOf, numberOf } from './wire/json.ts';
import { openJsonClient, readMark } from './wire/jsonClient.ts';
import { JsonServer, type JsonServerMessages, type JsonStart } from './wire/jsonServer.ts';

const MU_LAW = 'audio/x-mulaw';
const L16 = 'audio/x-l16';
const G711_RATE_HZ = 8000;
/** The formats of Plivo's streams; each is a content type of its `Stream` element. */
const FORMATS: readonly { readonly contentType: string; readonly sampleRateHz: number }[] = [
  { contentType: MU_LAW, sampleRateHz: G711_RATE_HZ },
  { contentType: L16, sampleRateHz: 8000 },
  { contentType: L16, sampleRateHz: 16_000 },
];
/** Plivo limits `extraHeaders` to this. */
const MAX_EXTRA_HEADERS_LENGTH = 512;
/** Reported where Plivo names its customer. */
const ACCOUNT_ID = 'callway';

/**
 * Plivo audio streaming: JSON messages, audio in base64. A checkpoint is returned only when it was played, and the call's
 * end is the connection's.
 *
 * @see https://www.plivo.com/docs/voice/audio-streaming/audio-streaming for every message and field
 * @see https://www.plivo.com/docs/voice/xml/audiostream for content types and `extraHeaders`
 */
export const plivo: ClientDialect = {
  description:
    ': Plivo audio streaming with `bidirectional`, audio in base64 as `audio/x-mulaw;rate=8000`, or `audio/x-l16` (little-endian) at 8000 or 16000 Hz. `send_dtmf` is passed on as `sendDTMF`. Our gateway sends µ-law.',
  openServer: (connection) => new JsonServer(connection, SERVER_MESSAGES),
  openClient,
  botRules: {
    problemOf: jsonRule({
      events: { playAudio: 'formats', checkpoint: 'marks', clearAudio: 'clear', sendDTMF: 'messages' },
      streamId: { field: 'streamId', events: ['checkpoint', 'clearAudio'] },
      audioProblem,
    }),
    returnsPlayedMarksOnly: true,
  },
};

const SERVER_MESSAGES: JsonServerMessages = {
  readStart(message): JsonStart | string | undefined {
    const start = fieldsOf(message.start);
    if (message.event !== 'start' || start === undefined) return undefined;
    const { encoding, sampleRate } = fieldsOf(start.mediaFormat) ?? {};
    const sampleRateHz = numberOf(sampleRate);
    const format = FORMATS.find(
      (each) => each.contentType === encoding && each.sampleRateHz === sampleRateHz,
    );
    if (format === undefined) {
      return 'the content type must be audio/x-mulaw;rate=8000, audio/x-l16;rate=8000 or audio/x-l16;rate=16000';
    }
    return {
      streamId: nameOf(start.streamId) ?? '',
      sampleRateHz: format.sampleRateHz,
      customParameters: readExtraHeaders(message.extra_headers),
      encoding: encodingOf(format.contentType),
    };
  },
  markEvent: 'playedStream',
  markName: (message) => message.name,
  ignoredEvents: ['clearedAudio'],
  endsByClose: true,
  media: (payload, { encoding, sampleRateHz }) => {
    const contentType = encoding === muLaw ? MU_LAW : L16;
    return `{"event":"playAudio","media":{"contentType":"${contentType}","sampleRate":${sampleRateHz},"payload":"${payload}"}}`;
  },
  mark: (name, streamId) => ({ event: 'checkpoint', streamId, name }),
  clear: (streamId) => ({ event: 'clearAudio', streamId }),
  digits: (dtmf) => ({ event: 'sendDTMF', dtmf }),
};

function openClient(connection: DialectConnection, { target }: ClientRequest): DialectClient {
  const { streamId, callId, customParameters } = target;
  const extra_headers = writeExtraHeaders(customParameters);
  const quotedHeaders = JSON.stringify(extra_headers);
  const startedAtMs = Date.now();
  let sequenceNumber = 0;
  const message = (event: string, fields: object) => ({
    event,
    sequenceNumber: ++sequenceNumber,
    streamId,
    ...fields,
  });
  const start = {
    callId,
    streamId,
    accountId: ACCOUNT_ID,
    tracks: ['inbound'],
    mediaFormat: { encoding: MU_LAW, sampleRate: G711_RATE_HZ },
  };
  return openJsonClient(connection, {
    sampleRateHz: G711_RATE_HZ,
    encoding: muLaw,
    opening: [{ event: 'start', sequenceNumber: ++sequenceNumber, start, extra_headers }],
    media: (payload, chunk, positionMs) =>
      `{"event":"media","sequenceNumber":${++sequenceNumber},"streamId":"${streamId}","media":{"track":"inbound","timestamp":"${startedAtMs + positionMs}","chunk":${chunk},"payload":"${payload}"},"extra_headers":${quotedHeaders}}`,
    dtmf: (digit) => message('dtmf', { dtmf: { track: 'inbound', digit, timestamp: String(Date.now()) } }),
    mark: (name, outcome) => (outcome === 'played' ? message('playedStream', { name }) : undefined),
    cleared: () => message('clearedAudio', {}),
    audioEvent: 'playAudio',
    readAgent(fields, agent) {
      if (fields.event === 'checkpoint') return readMark(fields.name, agent);
      if (fields.event === 'clearAudio') {
        agent.clear();
        return true;
      }
      const digits = fields.event === 'sendDTMF' ? digitsOf(fields.dtmf) : undefined;
      if (digits !== undefined) agent.command({ kind: 'send_dtmf', digits });
      return digits !== undefined;
    },
  });
}

function encodingOf(contentType: string) {
  return contentType === MU_LAW ? muLaw : littleEndian;
}

/** Plivo's pages separate the pairs with `;` in the message and with `,` in the attribute. */
function readExtraHeaders(text: unknown): Record<string, string> {
  if (typeof text !== 'string') return {};
  const pairs = text.split(/[;,]/).map((pair) => /^([^=]+)=(.*)$/s.exec(pair.trimStart()) ?? []);
  return Object.fromEntries(
    pairs.flatMap(([, name, value]) => (name === undefined || value === undefined ? [] : [[name, value]])),
  );
}

/** Parameters that Plivo could not carry are left out. */
function writeExtraHeaders(parameters: Readonly<Record<string, string>>): string {
  let text = '';
  for (const [name, value] of Object.entries(parameters)) {
    const longer = `${text}${text === '' ? '' : ';'}${name}=${value}`;
    if (/[;,={}"]/.test(name + value) || longer.length > MAX_EXTRA_HEADERS_LENGTH) continue;
    text = longer;
  }
  return text;
}

function audioProblem(media: Fields): string | undefined {
  const { contentType, sampleRate } = media;
  if (contentType !== 'audio/x-mulaw' || Number(sampleRate) !== 8000)
    return `audio is ${String(contentType)} at ${String(sampleRate)}, and the stream audio/x-mulaw at 8000`;
  return payloadOf({})(media);
}
