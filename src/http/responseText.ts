import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

import { HttpClientError } from './errors.ts';
import type { HttpResponse } from './response.ts';

/** The largest decompressed body; no model can use a larger tool result. */
const MAX_TEXT_BYTES = 1_048_576;
/** Each costs the time of the whole body. */
const MAX_ENCODINGS = 3;
const XML_ENCODING = /^<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w.:-]{1,40})["']/;

/**
 * The response body as text: decompressed, and decoded by its charset.
 *
 * @throws {HttpClientError} `response_encoded` when it is compressed in an unknown way or too often, or is damaged;
 *   `response_too_large` when it is longer than 1 MiB.
 * @see RFC 9110 section 8.4
 */
export function responseText({ headers, body }: Pick<HttpResponse, 'headers' | 'body'>): string {
  const encodings = (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (encodings.length > MAX_ENCODINGS)
    throw new HttpClientError('response_encoded', `the response is encoded ${encodings.length} times`);
  const bytes = encodings.reduceRight<Uint8Array>(decompressed, body);
  return decoded(bytes, headers['content-type'] ?? '');
}

/** A body that was cut is read as far as it goes. */
function decompressed(bytes: Uint8Array, encoding: string): Uint8Array {
  const limit = { maxOutputLength: MAX_TEXT_BYTES };
  const zlib = { ...limit, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    switch (encoding) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, zlib);
      case 'deflate':
        // Some servers send it without the zlib header (RFC 1950).
        return (bytes[0] ?? 0) % 16 === 8 ? inflateSync(bytes, zlib) : inflateRawSync(bytes, zlib);
      case 'br':
        return brotliDecompressSync(bytes, { ...limit, finishFlush: constants.BROTLI_OPERATION_FLUSH });
    }
  } catch (error) {
    if (error instanceof RangeError)
      throw new HttpClientError('response_too_large', `the response is longer than ${MAX_TEXT_BYTES} bytes`);
    throw new HttpClientError('response_encoded', `the response is no valid ${encoding}`, error);
  }
  const message = `the response is encoded as ${encoding}; gzip, deflate and br can be read`;
  throw new HttpClientError('response_encoded', message);
}

/**
 * Decodes text by its byte order mark, its header, or its XML declaration; else as UTF-8, or as Windows-1252 when it is
 * not valid UTF-8.
 */
function decoded(bytes: Uint8Array, contentType: string): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const inHeader = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
  const declared = inHeader ?? XML_ENCODING.exec(Buffer.from(bytes.subarray(0, 300)).toString('latin1'))?.[1];
  const usual = isUtf8(bytes) ? 'utf-8' : 'windows-1252';
  try {
    return new TextDecoder(declared ?? usual).decode(bytes);
  } catch {
    return new TextDecoder(usual).decode(bytes);
  }
}
