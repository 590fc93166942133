import { createCipheriv } from 'node:crypto';
import { MASTER_SALT_BYTES, type SrtpMasterKey } from './cryptoAttribute.ts';

/** Purposes of session keys. @see RFC 3711 section 4.3.2 */
const LABEL = {
  rtpEncryption: 0,
  rtpAuthentication: 1,
  rtpSalt: 2,
  rtcpEncryption: 3,
  rtcpAuthentication: 4,
  rtcpSalt: 5,
} as const;

const ENCRYPTION_KEY_BYTES = 16;
const AUTHENTICATION_KEY_BYTES = 20;
/** Offset of the label in the salt, above a 48-bit index that is always 0 here. */
const LABEL_AT = 7;

export interface SessionKeys {
  readonly encryption: Uint8Array;
  readonly authentication: Uint8Array;
  readonly salt: Uint8Array;
}

/**
 * Derives the session keys of SRTP and SRTCP from the master key, once: a key derivation rate, which SDES can ask for in a
 * session parameter, is not supported.
 *
 * @see RFC 3711 section 4.3
 */
export function deriveSessionKeys(masterKey: SrtpMasterKey): {
  readonly rtp: SessionKeys;
  readonly rtcp: SessionKeys;
} {
  return {
    rtp: {
      encryption: derive(masterKey, LABEL.rtpEncryption, ENCRYPTION_KEY_BYTES),
      authentication: derive(masterKey, LABEL.rtpAuthentication, AUTHENTICATION_KEY_BYTES),
      salt: derive(masterKey, LABEL.rtpSalt, MASTER_SALT_BYTES),
    },
    rtcp: {
      encryption: derive(masterKey, LABEL.rtcpEncryption, ENCRYPTION_KEY_BYTES),
      authentication: derive(masterKey, LABEL.rtcpAuthentication, AUTHENTICATION_KEY_BYTES),
      salt: derive(masterKey, LABEL.rtcpSalt, MASTER_SALT_BYTES),
    },
  };
}

function derive({ key, salt }: SrtpMasterKey, label: number, lengthBytes: number): Uint8Array {
  const counter = new Uint8Array(16);
  counter.set(salt);
  counter[LABEL_AT] = (counter[LABEL_AT] ?? 0) ^ label;
  return createCipheriv('aes-128-ctr', key, counter).update(new Uint8Array(lengthBytes));
}
