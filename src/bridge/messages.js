/** The subprotocol of our own bridge: Twilio's control messages as text, the audio as binary frames. */
export const CALLWAY_SUBPROTOCOL = 'audio.callway.v1';
/** What is longer is no name of ours, and would be echoed at our cost. */
const MAX_NAME_LENGTH = 256;
const MAX_DIGITS = 64;
const DIGITS = /^[0-9*#A-Da-d]+$/;
/**
 * Reads one text frame. Unknown fields are passed over, and numbers may stand in strings, as Twilio writes them.
 *
 * @returns Undefined for what is no message: not JSON, another event, or a field that is missing or of another form.
 */
export function readMessage(text) {
  let parsed;
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
    case 'mark':
      return readMark(fieldsOf(message.mark));
    case 'cleared': {
      const position = readPosition(fieldsOf(message.position));
      return position && { event: 'cleared', position };
    }
    case 'transfer': {
      const to = fieldsOf(message.transfer)?.to;
      return isName(to) ? { event: 'transfer', to } : undefined;
    }
    default:
      return undefined;
  }
}
function readMedia(media) {
  if (typeof media?.payload !== 'string') return undefined;
  // A stream that carries both tracks sends back what the engine itself said.
  if (media.track === 'outbound') return undefined;
  const timestampMs = toNumber(media.timestamp);
  return { event: 'media', payload: media.payload, ...(timestampMs === undefined ? {} : { timestampMs }) };
}
function readStart(message) {
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
function readParameters(fields) {
  const entries = Object.entries(fields ?? {});
  return Object.fromEntries(entries.filter((entry) => typeof entry[1] === 'string'));
}
/** Twilio tells one digit; our engine may ask for several. */
function readDtmf(dtmf) {
  const digits = dtmf?.digits ?? dtmf?.digit;
  if (typeof digits !== 'string' || digits.length > MAX_DIGITS || !DIGITS.test(digits)) return undefined;
  return { event: 'dtmf', digits: digits.toUpperCase() };
}
function readMark(mark) {
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
function readPosition(fields) {
  const playedSamples = toNumber(fields?.playedSamples);
  const receivedSamples = toNumber(fields?.receivedSamples);
  if (playedSamples === undefined || receivedSamples === undefined) return undefined;
  return { playedSamples, receivedSamples, bufferDelayMs: toNumber(fields?.bufferDelayMs) ?? 0 };
}
function fieldsOf(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
function isName(value) {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH;
}
function toNumber(value) {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}
