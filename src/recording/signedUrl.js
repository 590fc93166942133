import { createHmac, timingSafeEqual } from 'node:crypto';
import { CallwayError } from '../base/errors.js';

const LIFETIME_SECONDS = 3600;
const PURPOSE = 'callway-recording-urls';
/** The recording's key and the time of its end, signed. */
const TOKEN = /^([A-Za-z0-9_-]+)\.(\d{1,12})\.([A-Za-z0-9_-]{43})$/;
/** The link's path before the token. */
export const RECORDINGS_PATH = '/v1/recordings/';
export function createRecordingUrls({ secretsKey, publicUrl, now }) {
  const signingKey = createHmac('sha256', secretsKey).update(PURPOSE).digest();
  const signatureOf = (claim) => createHmac('sha256', signingKey).update(claim).digest();
  return {
    sign(key) {
      const expires = Math.floor(now() / 1000) + LIFETIME_SECONDS;
      const claim = `${Buffer.from(key, 'utf8').toString('base64url')}.${expires}`;
      return `${publicUrl()}${RECORDINGS_PATH}${claim}.${signatureOf(claim).toString('base64url')}`;
    },
    verify(token) {
      const [, name = '', expires = '', signature = ''] = TOKEN.exec(token) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const expected = signatureOf(`${name}.${expires}`);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new CallwayError('forbidden', 'recording_url_invalid', 'This link to a recording is not valid');
      }
      if (now() >= Number(expires) * 1000) {
        throw new CallwayError('forbidden', 'recording_url_expired', 'This link to a recording has expired');
      }
      return Buffer.from(name, 'base64url').toString('utf8');
    },
  };
}
