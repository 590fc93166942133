import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets before they are stored, so that a copy of the database reveals none. */
export interface Sealer {
  /** @returns ASCII text; differs each time. */
  seal(secret: string): string;
  /** @throws {Error} When no known key opens the text, or it was changed. */
  open(sealed: string): string;
  /** A keyed digest (HMAC): equal for equal texts, and reveals nothing about them. */
  digest(text: string): string;
  /** Identifies a key without revealing it. */
  readonly fingerprint: string;
  /** Whether the key with this fingerprint is known. */
  knows(fingerprint: string): boolean;
}

/**
 * AES-256-GCM with a random nonce for each secret.
 *
 * @param key - 32 bytes.
 * @param previous - Older keys, only used to open.
 * @see NIST SP 800-38D
 */
export function createSealer(key: Uint8Array, previous: readonly Uint8Array[] = []): Sealer {
  const fingerprint = fingerprintOf(key);
  const known = new Set([fingerprint, ...previous.map(fingerprintOf)]);
  const digestKey = createHmac('sha256', key).update('callway-digests').digest();
  return {
    fingerprint,
    knows: (other) => known.has(other),
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
      const candidates = [key, ...previous];
      for (const [index, candidate] of candidates.entries()) {
        try {
          return openWith(candidate, sealed);
        } catch (error) {
          // The authentication tag does not match this key.
          if (index === candidates.length - 1) throw error;
        }
      }
      throw new Error('not a sealed secret');
    },
    digest: (text) => createHmac('sha256', digestKey).update(text).digest('hex'),
  };
}

function fingerprintOf(key: Uint8Array): string {
  return createHash('sha256').update('callway-secrets-key').update(key).digest('hex').slice(0, 16);
}

function openWith(key: Uint8Array, sealed: Buffer): string {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([opened, decipher.final()]).toString('utf8');
}
