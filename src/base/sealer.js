import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/**
 * AES-256-GCM with a random nonce for each secret.
 *
 * @param key - 32 bytes.
 * @see NIST SP 800-38D
 */
export function createSealer(key) {
  const digestKey = createHmac('sha256', key).update('callway-digests').digest();
  return {
    fingerprint: createHash('sha256').update('callway-secrets-key').update(key).digest('hex').slice(0, 16),
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(secret, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `${VERSION}.${sealed.toString('base64url')}`;
    },
    open(text) {
      const [version, body] = text.split('.');
      const sealed = Buffer.from(body ?? '', 'base64url');
      if (version !== VERSION || sealed.length < NONCE_BYTES + TAG_BYTES)
        throw new Error('not a sealed secret');
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('hex'),
  };
}
