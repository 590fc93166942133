import { invalid } from '../../base/errors.ts';
import { readUint8 } from '../bytes.ts';

/** The supported suites. @see RFC 4568 section 6.2 */
export const SRTP_SUITES = {
  AES_CM_128_HMAC_SHA1_80: { rtpTagBytes: 10 },
  AES_CM_128_HMAC_SHA1_32: { rtpTagBytes: 4 },
} as const;

export type SrtpSuite = keyof typeof SRTP_SUITES;

export const MASTER_KEY_BYTES = 16;
export const MASTER_SALT_BYTES = 14;

/** The secret of one direction. It must never be logged. */
export interface SrtpMasterKey {
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
}

/** Identifies a packet's key; in every packet once negotiated. */
export interface MasterKeyIdentifier {
  readonly value: number;
  readonly lengthBytes: number;
}

/** A usable `a=crypto` line. */
export interface CryptoAttribute {
  readonly tag: number;
  readonly suite: SrtpSuite;
  readonly masterKey: SrtpMasterKey;
  readonly keyIdentifier?: MasterKeyIdentifier;
}

/** tag, suite, key parameters, session parameters. */
const LINE = /^(\d{1,9})\s+(\S+)\s+(\S+)(?:\s+(.*))?$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const LIFETIME = /^(?:2\^\d{1,2}|\d+)$/;
const KEY_IDENTIFIER = /^(\d+):(\d{1,3})$/;
const MAX_KEY_IDENTIFIER_BYTES = 128;
/** The exact integers of JavaScript; four bytes are usual. */
const MAX_USABLE_IDENTIFIER_BYTES = 6;

/**
 * Parses the value of an `a=crypto` line, after `a=crypto:`.
 *
 * @returns Undefined for a valid line that is not supported: another suite, several keys, or a session parameter. The
 *   caller then tries the offer's next line.
 * @throws {CallwayError} `crypto_attribute_invalid` when the line breaks the grammar; the message has no key.
 * @see RFC 4568 sections 4, 6.1 and 9.2
 */
export function parseCryptoAttribute(value: string): CryptoAttribute | undefined {
  const match = LINE.exec(value.trim());
  if (match === null) throw malformed('it is not "tag suite key-parameters"');
  const [, tag = '', suite = '', keyParameters = '', sessionParameters = ''] = match;
  if (!isSuite(suite) || keyParameters.includes(';') || mustUnderstand(sessionParameters)) return undefined;
  if (!keyParameters.toLowerCase().startsWith('inline:')) throw malformed('its key method is not "inline"');
  const [keySalt = '', ...rest] = keyParameters.slice('inline:'.length).split('|');
  const keyIdentifier = parseKeyIdentifier(rest);
  const base = { tag: Number(tag), suite, masterKey: parseMasterKey(keySalt) };
  return keyIdentifier === undefined ? base : { ...base, keyIdentifier };
}

/** @returns The value after `a=crypto:`. It has the key, and so is for SDP only. */
export function formatCryptoAttribute({ tag, suite, masterKey, keyIdentifier }: CryptoAttribute): string {
  const keySalt = Buffer.concat([masterKey.key, masterKey.salt]).toString('base64');
  const identifier =
    keyIdentifier === undefined ? '' : `|${keyIdentifier.value}:${keyIdentifier.lengthBytes}`;
  return `${tag} ${suite} inline:${keySalt}${identifier}`;
}

/** @returns Bytes written: none without a negotiated identifier. @see RFC 3711 section 3.1 (MKI) */
export function writeKeyIdentifier(
  identifier: MasterKeyIdentifier | undefined,
  out: Uint8Array,
  offset: number,
): number {
  if (identifier === undefined) return 0;
  for (let i = 0, rest = identifier.value; i < identifier.lengthBytes; i++, rest = Math.floor(rest / 256)) {
    out[offset + identifier.lengthBytes - 1 - i] = rest % 256;
  }
  return identifier.lengthBytes;
}

/** Returns true when the packet names our key. Without a negotiated identifier, every packet does. */
export function hasKeyIdentifier(
  identifier: MasterKeyIdentifier | undefined,
  bytes: Uint8Array,
  offset: number,
): boolean {
  if (identifier === undefined) return true;
  let value = 0;
  for (let i = 0; i < identifier.lengthBytes; i++) value = value * 256 + readUint8(bytes, offset + i);
  return value === identifier.value;
}

function isSuite(name: string): name is SrtpSuite {
  return Object.hasOwn(SRTP_SUITES, name);
}

/** A parameter that starts with `-` may be ignored, and so may a window size hint (WSH). */
function mustUnderstand(sessionParameters: string): boolean {
  return sessionParameters
    .split(/\s+/)
    .some((parameter) => parameter !== '' && !parameter.startsWith('-') && !parameter.startsWith('WSH='));
}

function parseMasterKey(keySalt: string): SrtpMasterKey {
  const bytes = BASE64.test(keySalt) ? Buffer.from(keySalt, 'base64') : Buffer.alloc(0);
  if (bytes.length !== MASTER_KEY_BYTES + MASTER_SALT_BYTES) {
    throw malformed(`its key and salt are not ${MASTER_KEY_BYTES + MASTER_SALT_BYTES} bytes in base64`);
  }
  return { key: bytes.subarray(0, MASTER_KEY_BYTES), salt: bytes.subarray(MASTER_KEY_BYTES) };
}

/** Lifetime and identifier are optional. A lifetime outlasts any call and is ignored. */
function parseKeyIdentifier(parts: readonly string[]): MasterKeyIdentifier | undefined {
  const identifiers = LIFETIME.test(parts[0] ?? '') ? parts.slice(1) : parts;
  const [identifier] = identifiers;
  if (identifier === undefined) return undefined;
  const match = KEY_IDENTIFIER.exec(identifier);
  if (match === null || identifiers.length > 1)
    throw malformed('its key is followed by neither a lifetime nor an identifier');
  const value = Number(match[1]);
  const lengthBytes = Number(match[2]);
  if (lengthBytes < 1 || lengthBytes > MAX_KEY_IDENTIFIER_BYTES) {
    throw malformed(`its key identifier has a length of ${lengthBytes} bytes; 1 to 128 are allowed`);
  }
  if (lengthBytes > MAX_USABLE_IDENTIFIER_BYTES || value >= 2 ** (8 * lengthBytes)) {
    throw malformed('its key identifier does not fit its length, or is longer than 6 bytes');
  }
  return { value, lengthBytes };
}

function malformed(why: string): Error {
  return invalid('crypto_attribute_invalid', `the SDP crypto attribute cannot be used: ${why}`);
}
