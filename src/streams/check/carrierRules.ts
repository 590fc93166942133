import type { StreamMessage } from '../../dialects/dialect.ts';
import type { DialectName } from '../../dialects/index.ts';
import { type Fields, fieldsOf, parseJson } from '../../dialects/wire/json.ts';
import { FRAME_MS } from '../../media/codecs/codec.ts';
import type { CheckName } from './finding.ts';

/** What a carrier or a PBX demands of a bot's messages, beyond that they can be read. */
export interface CarrierRules {
  /** @param streamId - The id of the stream. @returns What is wrong with a message; undefined when nothing is. */
  readonly problemOf: (message: StreamMessage, streamId: string) => Problem | undefined;
  /** How much unplayed audio the carrier holds; more is lost. */
  readonly bufferMs: number;
  /** The bot has no message that drops what was not played yet. */
  readonly hasNoClear?: true;
}

export interface Problem {
  readonly check: CheckName;
  readonly detail: string;
}

interface JsonRules {
  /** What a bot may send: the check that each event belongs to. */
  readonly events: Readonly<Record<string, CheckName>>;
  /** The field that names the stream, and the events that need it. */
  readonly streamId?: { readonly field: string; readonly events: readonly string[] };
  /** @returns What is wrong with the audio. */
  readonly audioProblem: (media: Fields) => string | undefined;
}

/** Bytes of the audio of one message. */
interface Lengths {
  readonly min?: number;
  readonly max?: number;
  readonly multipleOf?: number;
}

/** What our own gateway holds, where no limit is documented. */
const UNLIMITED_MS = 120_000;
/** The limit of messages, each of 20 ms. */
const VONAGE_MESSAGES = 3072;
const ASTERISK_FRAMES = 1000;
/** What AudioSocket was sent cannot be taken back when the caller interrupts. */
const AUDIOSOCKET_LEAD_MS = 1000;
const MAX_ASTERISK_COMMAND_LENGTH = 128;
const MAX_ASTERISK_MESSAGE_BYTES = 65_500;
/** `RIFF` in base64, as far as its bits are whole characters. */
const WAV_HEADER = /^UklGR/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const twilioEvents = { media: 'formats', mark: 'marks', clear: 'clear' } as const;
const binary: CarrierRules = { problemOf: oddBytes, bufferMs: UNLIMITED_MS };

/** For the streams that the check opens. A dialect without an entry has no rules of its own. */
export const CARRIER_RULES: Readonly<Partial<Record<DialectName, CarrierRules>>> = {
  twilio: {
    problemOf: jsonRule({
      events: twilioEvents,
      streamId: { field: 'streamSid', events: ['media', 'mark', 'clear'] },
      audioProblem: payloadOf({}),
    }),
    bufferMs: UNLIMITED_MS,
  },
  // 20 ms to 30 s of PCMU.
  telnyx: {
    problemOf: jsonRule({ events: twilioEvents, audioProblem: payloadOf({ min: 160, max: 240_000 }) }),
    bufferMs: UNLIMITED_MS,
  },
  plivo: {
    problemOf: jsonRule({
      events: { playAudio: 'formats', checkpoint: 'marks', clearAudio: 'clear', sendDTMF: 'messages' },
      streamId: { field: 'streamId', events: ['checkpoint', 'clearAudio'] },
      audioProblem: plivoProblem,
    }),
    bufferMs: UNLIMITED_MS,
  },
  // 20 ms at 16 kHz.
  vonage: { problemOf: binaryOf(640), bufferMs: VONAGE_MESSAGES * FRAME_MS },
  exotel: {
    problemOf: jsonRule({
      events: twilioEvents,
      streamId: { field: 'stream_sid', events: ['media', 'mark', 'clear'] },
      audioProblem: payloadOf({ max: 100_000, multipleOf: 320 }),
    }),
    bufferMs: UNLIMITED_MS,
  },
  callway: binary,
  jambonz: binary,
  freeswitch: binary,
  'asterisk-websocket': { problemOf: asteriskProblem, bufferMs: ASTERISK_FRAMES * FRAME_MS },
  audiosocket: { problemOf: () => undefined, bufferMs: AUDIOSOCKET_LEAD_MS, hasNoClear: true },
};

export const NO_RULES: CarrierRules = { problemOf: () => undefined, bufferMs: UNLIMITED_MS };

function jsonRule({ events, streamId, audioProblem }: JsonRules): CarrierRules['problemOf'] {
  return (message, id) => {
    const fields = parseJson(message);
    if (fields === undefined) return { check: 'messages', detail: `${shown(message)} is no JSON object` };
    const event = String(fields.event);
    const check = events[event];
    if (check === undefined)
      return { check: 'messages', detail: `the carrier knows no event "${event}" of a bot` };
    if (streamId?.events.includes(event) && fields[streamId.field] !== id) {
      const found = JSON.stringify(fields[streamId.field]) ?? 'absent';
      return { check, detail: `${streamId.field} of "${event}" is ${found}, not the stream's "${id}"` };
    }
    const detail = check === 'formats' ? audioProblem(fieldsOf(fields.media) ?? {}) : undefined;
    return detail === undefined ? undefined : { check, detail };
  };
}

function payloadOf({ min = 1, max = Number.POSITIVE_INFINITY, multipleOf = 1 }: Lengths) {
  return ({ payload }: Fields): string | undefined => {
    if (typeof payload !== 'string' || !BASE64.test(payload)) return 'media.payload is no base64';
    if (WAV_HEADER.test(payload)) return 'the audio begins with a WAV header; send samples alone';
    const { length } = Buffer.from(payload, 'base64');
    if (length < min || length > max) return `a message has ${length} bytes of audio, not ${min} to ${max}`;
    return length % multipleOf === 0
      ? undefined
      : `a message has ${length} bytes of audio, which is no multiple of ${multipleOf}`;
  };
}

function plivoProblem(media: Fields): string | undefined {
  const { contentType, sampleRate } = media;
  if (contentType !== 'audio/x-mulaw' || Number(sampleRate) !== 8000)
    return `audio is ${String(contentType)} at ${String(sampleRate)}, and the stream audio/x-mulaw at 8000`;
  return payloadOf({})(media);
}

function binaryOf(bytes: number): CarrierRules['problemOf'] {
  return (message) =>
    typeof message === 'string' || message.length === bytes
      ? undefined
      : { check: 'formats', detail: `a binary message has ${message.length} bytes, not ${bytes}` };
}

function oddBytes(message: StreamMessage): Problem | undefined {
  const isOdd = typeof message !== 'string' && message.length % Int16Array.BYTES_PER_ELEMENT === 1;
  return isOdd
    ? { check: 'formats', detail: `a binary message has ${message.length} bytes, half a sample at its end` }
    : undefined;
}

function asteriskProblem(message: StreamMessage): Problem | undefined {
  const { length } = message;
  if (typeof message === 'string')
    return length > MAX_ASTERISK_COMMAND_LENGTH
      ? {
          check: 'messages',
          detail: `a command has ${length} bytes, more than ${MAX_ASTERISK_COMMAND_LENGTH}`,
        }
      : undefined;
  return length > MAX_ASTERISK_MESSAGE_BYTES
    ? {
        check: 'formats',
        detail: `a binary message has ${length} bytes; Asterisk closes above ${MAX_ASTERISK_MESSAGE_BYTES}`,
      }
    : undefined;
}

const MAX_SHOWN = 120;

/** A message as findings quote it. */
export function shown(message: StreamMessage): string {
  return typeof message === 'string' ? message.slice(0, MAX_SHOWN) : `a message of ${message.length} bytes`;
}
