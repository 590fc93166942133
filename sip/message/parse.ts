import { type ByteString, byteString } from './bytes.ts';
import { SipParseError } from './errors.ts';
import { isToken } from './grammar.ts';
import { headerKey } from './headerNames.ts';
import { SipHeaders } from './headers.ts';
import type { SipMessage } from './message.ts';

/** The limits of one message. */
export interface ParseLimits {
  readonly maxMessageBytes: number;
  readonly maxHeaders: number;
}

/** 64 KiB is the maximum of a UDP datagram. */
export const defaultLimits: ParseLimits = { maxMessageBytes: 65_536, maxHeaders: 256 };

/** Header folding. @see RFC 3261 section 7.3.1 */
const FOLD = /[ \t]*(?:\r\n|\n)[ \t]+/g;
const RESPONSE_LINE = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/i;

/**
 * Parses one datagram.
 *
 * Strict about structure (start line, lengths), tolerant about form: compact names, folding, any case, lines without a name,
 * bare line feeds, blanks around colons. Header values are not parsed; see {@link SipHeaders}.
 *
 * @throws {SipParseError} When the bytes are not a SIP message, or shorter than their Content-Length.
 * @see RFC 3261 section 7
 */
export function parseMessage(bytes: Buffer, limits: ParseLimits = defaultLimits): SipMessage {
  if (bytes.length > limits.maxMessageBytes) {
    throw new SipParseError('too_large', `the message is above ${limits.maxMessageBytes} bytes`, 513);
  }
  const text = byteString(bytes);
  const start = /^(?:\r?\n)*/.exec(text)?.[0].length ?? 0;
  const { head, bodyAt } = splitHead(text, start);
  const message = parseHead(head, limits);
  message.body = takeBody(text, bodyAt, message.headers);
  return message;
}

/**
 * Parses a message as drachtio's control protocol carries it: the body is everything after the blank line, whatever
 * Content-Length says.
 *
 * @throws {SipParseError} When the start line is malformed.
 */
export function parseText(text: string, limits: ParseLimits = defaultLimits): SipMessage {
  const end = text.indexOf('\r\n\r\n');
  const message = parseHead(end < 0 ? text.replace(/(?:\r\n)+$/, '') : text.slice(0, end), limits);
  message.body = end < 0 ? '' : text.slice(end + 4);
  return message;
}

/**
 * Parses the start line and the headers; the body is left empty.
 *
 * @throws {SipParseError}
 */
export function parseHead(head: ByteString, limits: ParseLimits = defaultLimits): SipMessage {
  const lineEnd = head.indexOf('\n');
  const startLine = (lineEnd < 0 ? head : head.slice(0, lineEnd)).replace(/\r$/, '');
  const headers = parseHeaders(lineEnd < 0 ? '' : head.slice(lineEnd + 1), limits);
  if (/^SIP\//i.test(startLine)) return parseStatusLine(startLine, headers);
  return parseRequestLine(startLine, headers);
}

/**
 * The declared length of the body.
 *
 * @returns `undefined` when there is no Content-Length.
 * @throws {SipParseError} When it is not a number, or occurs twice with different values.
 */
export function contentLength(headers: SipHeaders): number | undefined {
  const values = new Set(headers.all('content-length').map((value) => value.trim()));
  if (values.size === 0) return undefined;
  const [value = ''] = values;
  if (values.size > 1 || !/^\d{1,9}$/.test(value)) {
    throw new SipParseError('content_length', 'Content-Length is not one number');
  }
  return Number(value);
}

function splitHead(text: ByteString, start: number): { head: ByteString; bodyAt: number } {
  const strict = text.indexOf('\r\n\r\n', start);
  if (strict >= 0) return { head: text.slice(start, strict), bodyAt: strict + 4 };
  const loose = /\r?\n\r?\n/.exec(text.slice(start));
  if (loose)
    return { head: text.slice(start, start + loose.index), bodyAt: start + loose.index + loose[0].length };
  return { head: text.slice(start).replace(/\r?\n$/, ''), bodyAt: text.length };
}

function takeBody(text: ByteString, bodyAt: number, headers: SipHeaders): ByteString {
  const declared = contentLength(headers);
  if (declared === undefined) return text.slice(bodyAt);
  if (bodyAt + declared > text.length) {
    throw new SipParseError('incomplete', 'the message is shorter than its Content-Length');
  }
  return text.slice(bodyAt, bodyAt + declared);
}

function parseHeaders(text: string, limits: ParseLimits): SipHeaders {
  const unfolded = /\n[ \t]/.test(text) ? text.replace(FOLD, ' ') : text;
  const fields: { key: string; name: string; value: string }[] = [];
  for (const line of unfolded.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '') continue;
    const colon = trimmed.indexOf(':');
    const name = trimmed.slice(0, Math.max(colon, 0)).trimEnd();
    // A malformed header is ignored; where it is needed, its absence is noticed. RFC 3261 section 8.2.2
    if (!isToken(name)) continue;
    if (fields.length === limits.maxHeaders) {
      throw new SipParseError('too_many_headers', `there are more than ${limits.maxHeaders} headers`, 513);
    }
    fields.push({ key: headerKey(name), name, value: trimmed.slice(colon + 1).trimStart() });
  }
  return new SipHeaders(fields);
}

function parseStatusLine(line: string, headers: SipHeaders): SipMessage {
  const match = RESPONSE_LINE.exec(line);
  if (!match) throw new SipParseError('start_line', 'the status line is malformed');
  return { kind: 'response', status: Number(match[1]), reason: match[2] ?? '', headers, body: '' };
}

function parseRequestLine(line: string, headers: SipHeaders): SipMessage {
  const [method = '', uri = '', version = '', ...rest] = line.split(' ');
  if (!isToken(method) || uri === '' || rest.length > 0) {
    throw new SipParseError('start_line', 'the request line is malformed');
  }
  if (!/^SIP\/\d+\.\d+$/i.test(version))
    throw new SipParseError('start_line', 'the request line names no SIP version');
  if (version.toUpperCase() !== 'SIP/2.0')
    throw new SipParseError('version', 'only SIP/2.0 is spoken here', 505);
  return { kind: 'request', method, uri, headers, body: '' };
}
