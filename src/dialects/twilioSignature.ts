import { createHmac, timingSafeEqual } from 'node:crypto';

/** In the request that opens a WebSocket. */
export const SIGNATURE_HEADER = 'X-Twilio-Signature';

/** The request that opens a WebSocket, as far as its signature depends on it. */
export interface SignedRequest {
  readonly signature: string | undefined;
  /** Path and query, as they arrived. */
  readonly path: string;
  /** With its port where it has one, as the client wrote it. */
  readonly host: string;
}

/** Twilio signs the URL as its customer wrote it. A proxy in front of us may leave nothing but its path. */
const SCHEMES = ['wss', 'https', 'ws', 'http'];
/** Some of Twilio's services add the default port before they sign. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { wss: '443', https: '443', ws: '80', http: '80' };

/**
 * The value of `X-Twilio-Signature` for a WebSocket.
 *
 * @see https://www.twilio.com/docs/usage/security#validating-requests: HMAC-SHA1 of the whole URL, in base64
 */
export function twilioSignature(authToken: string, url: string): string {
  return createHmac('sha1', authToken).update(url, 'utf8').digest('base64');
}

/** @param publicUrl - The URL at which peers reach the HTTP API. */
export function isSignedByTwilio(
  authToken: string,
  { signature, path, host }: SignedRequest,
  publicUrl: string,
): boolean {
  if (signature === undefined) return false;
  const given = Buffer.from(signature);
  const base = publicUrl.replace(/^[a-z]+:\/\//, '').replace(/\/+$/, '');
  const addresses = [...addressesOf(`${base}${path}`), ...addressesOf(`${host}${path}`)];
  return addresses.some((url) => {
    const expected = Buffer.from(twilioSignature(authToken, url));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}

/** @param address - A URL without its scheme. */
function addressesOf(address: string): readonly string[] {
  const [, host = '', port, rest = ''] = /^(\[[^\]]*\]|[^:/?]*)(:\d+)?(.*)$/s.exec(address) ?? [];
  return SCHEMES.flatMap((scheme) => {
    const variants = port === undefined ? ['', `:${DEFAULT_PORTS[scheme]}`] : [port, ''];
    return variants.map((one) => `${scheme}://${host}${one}${rest}`);
  });
}
