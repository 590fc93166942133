import { createHmac, timingSafeEqual } from 'node:crypto';
import { CallwayError } from '../../base/errors.ts';

/** Links to recordings that need no key, for whoever gets a webhook. */
export interface RecordingUrls {
  /** @returns An absolute URL that opens the recording for an hour. */
  sign(key: string): string;
  /**
   * @param token - The last part of a signed URL's path.
   * @returns The recording's key.
   * @throws {CallwayError} 403 `recording_url_invalid`, or `recording_url_expired`.
   */
  verify(token: string): string;
}

export interface RecordingUrlsOptions {
  /** Of all nodes the same: the key that seals secrets; another one is derived from it. */
  readonly secretsKey: Uint8Array;
  /** Keys that came before it: what was signed under them opens until it expires. */
  readonly previousKeys?: readonly Uint8Array[] | undefined;
  /** Without a slash at its end. */
  readonly publicUrl: () => string;
  readonly now: () => number;
}

const LIFETIME_SECONDS = 3600;
const PURPOSE = 'callway-recording-urls';
/** The recording's key and the time of its end, signed. */
const TOKEN = /^([A-Za-z0-9_-]+)\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

/** The link's path before the token. */
export const RECORDINGS_PATH = '/v1/recordings/';

export function createRecordingUrls(options: RecordingUrlsOptions): RecordingUrls {
  const { secretsKey, previousKeys = [], publicUrl, now } = options;
  const signatureOf = signerWith(secretsKey);
  const signers = [signatureOf, ...previousKeys.map(signerWith)];
  return {
    sign(key) {
      const expires = Math.floor(now() / 1000) + LIFETIME_SECONDS;
      const claim = `${Buffer.from(key, 'utf8').toString('base64url')}.${expires}`;
      return `${publicUrl()}${RECORDINGS_PATH}${claim}.${signatureOf(claim).toString('base64url')}`;
    },
    verify(token) {
      const [, name = '', expires = '', signature = ''] = TOKEN.exec(token) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const isSigned = signers.some((sign) => areEqual(given, sign(`${name}.${expires}`)));
      if (!isSigned) {
        throw new CallwayError('forbidden', 'recording_url_invalid', 'This link to a recording is not valid');
      }
      if (now() >= Number(expires) * 1000) {
        throw new CallwayError('forbidden', 'recording_url_expired', 'This link to a recording has expired');
      }
      return Buffer.from(name, 'base64url').toString('utf8');
    },
  };
}

function signerWith(secretsKey: Uint8Array): (claim: string) => Buffer {
  const signingKey = createHmac('sha256', secretsKey).update(PURPOSE).digest();
  return (claim) => createHmac('sha256', signingKey).update(claim).digest();
}

function areEqual(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
