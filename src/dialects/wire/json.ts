import type { PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import type { StreamMessage } from '../dialect.ts';

/** An object of a JSON message. Peers are foreign: a field may be missing or of any type. */
export type Fields = Readonly<Record<string, unknown>>;

/** Longer names are refused, since a mark's name is echoed. */
const MAX_NAME_LENGTH = 256;
const MAX_DIGITS = 64;
const DIGITS = /^[0-9*#A-D]+$/;

/** @returns Undefined unless the message is text and a JSON object. */
export function parseJson(message: StreamMessage): Fields | undefined {
  if (typeof message !== 'string') return undefined;
  try {
    return fieldsOf(JSON.parse(message));
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** @returns Undefined unless it is a text of 1 to 256 characters. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH ? value : undefined;
}

/** @returns Undefined unless it is a number of 0 or more, or a text of one. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
}

/** @returns DTMF digits in upper case; undefined for any other text, and above 64. */
export function digitsOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_DIGITS) return undefined;
  const digits = value.toUpperCase();
  return DIGITS.test(digits) ? digits : undefined;
}

/** The texts among an object's values. */
export function textsOf(fields: Fields | undefined): Record<string, string> {
  const entries = Object.entries(fields ?? {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function positionOf(fields: Fields | undefined): PlayoutPosition | undefined {
  const playedSamples = numberOf(fields?.playedSamples);
  const receivedSamples = numberOf(fields?.receivedSamples);
  if (playedSamples === undefined || receivedSamples === undefined) return undefined;
  return { playedSamples, receivedSamples, bufferDelayMs: numberOf(fields?.bufferDelayMs) ?? 0 };
}

export function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
