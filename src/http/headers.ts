import { z } from 'zod';
import { HttpClientError } from './errors.ts';

const MAX_HEADERS = 50;
const MAX_HEADER_VALUE_LENGTH = 4096;

/** Headers of the connection or the message framing, which only the client may set. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A token, RFC 9110 section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
/**
 * Visible characters, spaces and tabs of Latin-1, RFC 9110 section 5.5. No line breaks, so a value cannot add a
 * header.
 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A header in a user's configuration. */
export interface HeaderEntry {
  readonly key: string;
  readonly value: string;
}

/** @returns The first invalid header as `target_header_invalid`; its value is never in the message. */
export function checkHeaders(headers: readonly HeaderEntry[]): HttpClientError | undefined {
  if (headers.length > MAX_HEADERS) return bad(`at most ${MAX_HEADERS} headers are allowed`);
  for (const header of headers) {
    const error = checkHeader(header);
    if (error) return error;
  }
  return undefined;
}

/** Headers that a user adds to each request. */
export function targetHeadersSchema() {
  const entry = z
    .strictObject({
      key: z
        .string()
        .min(1)
        .max(128)
        .meta({ description: 'Header name', examples: ['Authorization'] }),
      value: z.string().max(MAX_HEADER_VALUE_LENGTH),
    })
    .superRefine((header, context) => {
      const error = checkHeader(header);
      if (error) context.addIssue({ code: 'custom', message: error.message, params: { code: error.code } });
    });
  return z.array(entry).max(MAX_HEADERS).meta({
    description: 'Headers sent with each request, beside those that the service itself must set',
  });
}

function checkHeader({ key, value }: HeaderEntry): HttpClientError | undefined {
  if (!HEADER_NAME.test(key)) return bad(`${JSON.stringify(key)} is not a header name`);
  if (RESERVED.has(key.toLowerCase())) return bad(`header ${key} is set by the service and cannot be given`);
  if (value.length > MAX_HEADER_VALUE_LENGTH) {
    return bad(`header ${key} is longer than ${MAX_HEADER_VALUE_LENGTH} characters`);
  }
  if (!HEADER_VALUE.test(value)) {
    return bad(`header ${key} has a line break, or a character outside of Latin-1, in its value`);
  }
  return undefined;
}

function bad(message: string): HttpClientError {
  return new HttpClientError('target_header_invalid', message);
}

/** Adds the trace context, unless the user has set it. */
export function withTraceparent(
  headers: readonly HeaderEntry[],
  traceparent: string | undefined,
): readonly HeaderEntry[] {
  const isSet = headers.some(({ key }) => key.toLowerCase() === 'traceparent');
  return traceparent === undefined || isSet
    ? headers
    : [...headers, { key: 'traceparent', value: traceparent }];
}
