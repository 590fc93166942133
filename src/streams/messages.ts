import type { TransferStatus } from '../media/mediaSession.ts';
import type { PlayoutPosition } from '../voice/audioStream.ts';

/** The subprotocol of our own bridge: Twilio's control messages as text, the audio as binary frames. */
export const CALLWAY_SUBPROTOCOL = 'audio.callway.v1';

/**
 * A control message of either side, read. What one dialect lacks is optional in the other.
 *
 * @see https://www.twilio.com/docs/voice/media-streams/websocket-messages
 */
export type StreamMessage =
  | { readonly event: 'connected' }
  | { readonly event: 'start'; readonly start: StreamStart }
  /** µ-law in base64; the callway dialect has its audio in binary frames. */
  | { readonly event: 'media'; readonly payload: string; readonly timestampMs?: number }
  | { readonly event: 'dtmf'; readonly digits: string }
  | {
      readonly event: 'mark';
      readonly name: string;
      readonly outcome?: 'played' | 'cleared';
      readonly position?: PlayoutPosition;
    }
  | { readonly event: 'hold'; readonly isHeld: boolean }
  | { readonly event: 'clear' }
  | { readonly event: 'cleared'; readonly position: PlayoutPosition }
  | { readonly event: 'stop' }
  | { readonly event: 'hangup' }
  /** L16 in base64. */
  | { readonly event: 'standby'; readonly waiting: string; readonly apology: string }
  | { readonly event: 'transfer'; readonly to: string }
  | { readonly event: 'transfer_status'; readonly progress: TransferStatus };

export interface StreamStart {
  readonly streamId: string;
  readonly callId?: string;
  readonly encoding: string;
  readonly sampleRateHz: number;
  readonly customParameters: Readonly<Record<string, string>>;
}

/** What is longer is no name of ours, and would be echoed at our cost. */
const MAX_NAME_LENGTH = 256;
const MAX_DIGITS = 64;
const DIGITS = /^[0-9*#A-Da-d]+$/;

/**
 * Reads one text frame. Unknown fields are passed over, and numbers may stand in strings, as Twilio writes them.
 *
 * @returns Undefined for what is no message: not JSON, another event, or a field that is missing or of another form.
 */
export function readMessage(text: string): StreamMessage | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const message = fieldsOf(parsed);
  if (!message) return undefined;
  switch (message.event) {
    case 'connected':
    case 'clear':
    case 'stop':
    case 'hangup':
      return { event: message.event };
    case 'media':
      return readMedia(fieldsOf(message.media));
    case 'start':
      return readStart(message);
    case 'dtmf':
      return readDtmf(fieldsOf(message.dtmf));
    case 'hold': {
      const isHeld = fieldsOf(message.hold)?.isHeld;
      return typeof isHeld === 'boolean' ? { event: 'hold', isHeld } : undefined;
    }
    case 'mark':
      return readMark(fieldsOf(message.mark));
    case 'cleared': {
      const position = readPosition(fieldsOf(message.position));
      return position && { event: 'cleared', position };
    }
    case 'standby': {
      const { waiting, apology } = fieldsOf(message.standby) ?? {};
      if (typeof waiting !== 'string' || typeof apology !== 'string') return undefined;
      return { event: 'standby', waiting, apology };
    }
    case 'transfer': {
      const to = fieldsOf(message.transfer)?.to;
      return isName(to) ? { event: 'transfer', to } : undefined;
    }
    case 'transfer_status': {
      const progress = readProgress(fieldsOf(message.transfer));
      return progress && { event: 'transfer_status', progress };
    }
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function readMedia(media: Fields | undefined): StreamMessage | undefined {
  if (typeof media?.payload !== 'string') return undefined;
  // A stream that carries both tracks sends back what the engine itself said.
  if (media.track === 'outbound') return undefined;
  const timestampMs = toNumber(media.timestamp);
  return { event: 'media', payload: media.payload, ...(timestampMs === undefined ? {} : { timestampMs }) };
}

function readStart(message: Fields): StreamMessage | undefined {
  const start = fieldsOf(message.start);
  const streamId = start?.streamSid ?? start?.stream_sid ?? message.streamSid ?? message.stream_id;
  if (!start || !isName(streamId)) return undefined;
  const format = fieldsOf(start.mediaFormat) ?? fieldsOf(start.media_format);
  const callId = start.callSid ?? start.call_sid;
  return {
    event: 'start',
    start: {
      streamId,
      ...(isName(callId) ? { callId } : {}),
      encoding: typeof format?.encoding === 'string' ? format.encoding : 'audio/x-mulaw',
      sampleRateHz: toNumber(format?.sampleRate ?? format?.sample_rate) ?? 8000,
      customParameters: readParameters(fieldsOf(start.customParameters ?? start.custom_parameters)),
    },
  };
}

function readParameters(fields: Fields | undefined): Record<string, string> {
  const entries = Object.entries(fields ?? {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function readProgress(transfer: Fields | undefined): TransferStatus | undefined {
  if (!isName(transfer?.to)) return undefined;
  const { status, to, reason } = transfer;
  if (status === 'begun') return { status, to };
  return status === 'failed' && isName(reason) ? { status, to, reason } : undefined;
}

/** Twilio tells one digit; our engine may ask for several. */
function readDtmf(dtmf: Fields | undefined): StreamMessage | undefined {
  const digits = dtmf?.digits ?? dtmf?.digit;
  if (typeof digits !== 'string' || digits.length > MAX_DIGITS || !DIGITS.test(digits)) return undefined;
  return { event: 'dtmf', digits: digits.toUpperCase() };
}

function readMark(mark: Fields | undefined): StreamMessage | undefined {
  if (!isName(mark?.name)) return undefined;
  const position = readPosition(fieldsOf(mark.position));
  const outcome = mark.outcome === 'played' || mark.outcome === 'cleared' ? mark.outcome : undefined;
  return {
    event: 'mark',
    name: mark.name,
    ...(outcome ? { outcome } : {}),
    ...(position ? { position } : {}),
  };
}

function readPosition(fields: Fields | undefined): PlayoutPosition | undefined {
  const playedSamples = toNumber(fields?.playedSamples);
  const receivedSamples = toNumber(fields?.receivedSamples);
  if (playedSamples === undefined || receivedSamples === undefined) return undefined;
  return { playedSamples, receivedSamples, bufferDelayMs: toNumber(fields?.bufferDelayMs) ?? 0 };
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH;
}

function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}
