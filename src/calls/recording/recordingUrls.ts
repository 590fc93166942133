import { createHmac, timingSafeEqual } from 'node:crypto';
import { CallwayError } from '../../base/errors.ts';

/** Signed URLs of recordings, which need no API key. */
export interface RecordingUrls {
  /** @returns An absolute URL that is valid for an hour. */
  sign(key: string): string;
  /**
   * @param token - The last segment of a signed URL's path.
   * @returns The recording's key.
   * @throws {CallwayError} 403 `recording_url_invalid`, or `recording_url_expired`.
   */
  verify(token: string): string;
}

export interface RecordingUrlsOptions {
  /** The key that seals secrets, the same on all nodes; the signing key is derived from it. */
  readonly secretsKey: Uint8Array;
  /** Earlier keys, whose URLs stay valid until they expire. */
  readonly previousKeys?: readonly Uint8Array[] | undefined;
  /** Returns the public URL without a slash at its end. */
  readonly publicUrl: () => string;
  readonly now: () => number;
}

const LIFETIME_SECONDS = 3600;
const PURPOSE = 'callway-recording-urls';
/** The recording's key, the time of expiry, and the signature of both. */
const TOKEN = /^([A-Za-z0-9_-]+)\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

/** The path of a signed URL before its token. */
const RECORDINGS_PATH = '/v1/recordings/';

export function createRecordingUrls(options: RecordingUrlsOptions): RecordingUrls {
  const { secretsKey, previousKeys = [], publicUrl, now } = options;
  const sign = signerWith(secretsKey);
  const signers = [sign, ...previousKeys.map(signerWith)];
  return {
    sign(key) {
      const expires = Math.floor(now() / 1000) + LIFETIME_SECONDS;
      const claim = `${Buffer.from(key, 'utf8').toString('base64url')}.${expires}`;
      return `${publicUrl()}${RECORDINGS_PATH}${claim}.${sign(claim)}`;
    },
    verify(token) {
      const [, name = '', expires = '', signature = ''] = TOKEN.exec(token) ?? [];
      if (!signers.some((signWith) => areEqual(signature, signWith(`${name}.${expires}`)))) {
        throw new CallwayError('forbidden', 'recording_url_invalid', 'This link to a recording is not valid');
      }
      if (now() >= Number(expires) * 1000) {
        throw new CallwayError('forbidden', 'recording_url_expired', 'This link to a recording has expired');
      }
      return Buffer.from(name, 'base64url').toString('utf8');
    },
  };
}

/** @returns A function that signs a claim in base64url. */
function signerWith(secretsKey: Uint8Array): (claim: string) => string {
  const signingKey = createHmac('sha256', secretsKey).update(PURPOSE).digest();
  return (claim) => createHmac('sha256', signingKey).update(claim).digest('base64url');
}

/** Compares the text: the last character of the base64url has unused bits, so its bytes have several spellings. */
function areEqual(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
