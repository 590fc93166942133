import { invalid } from '../../base/errors.js';
/** Names of the suites that we speak. @see RFC 4568 section 6.2 */
export const SRTP_SUITES = {
  AES_CM_128_HMAC_SHA1_80: { rtpTagBytes: 10 },
  AES_CM_128_HMAC_SHA1_32: { rtpTagBytes: 4 },
};
export const MASTER_KEY_BYTES = 16;
export const MASTER_SALT_BYTES = 14;
/** tag, suite, key parameters, session parameters. */
const LINE = /^(\d{1,9})\s+(\S+)\s+(\S+)(?:\s+(.*))?$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const LIFETIME = /^(?:2\^\d{1,2}|\d+)$/;
const KEY_IDENTIFIER = /^(\d+):(\d{1,3})$/;
const MAX_KEY_IDENTIFIER_BYTES = 128;
/** A number in JavaScript holds no longer value exactly; nobody sends more than four bytes. */
const MAX_USABLE_IDENTIFIER_BYTES = 6;
/**
 * Reads the value of an `a=crypto` line, that is, what stands behind `a=crypto:`.
 *
 * @returns Undefined for a line that is well-formed but not for us: another suite, several keys, or a session
 *   parameter, all of which change how packets must be made; the next line of the offer may do.
 * @throws {CallwayError} `crypto_attribute_invalid` when the line breaks the grammar; the message names no key.
 * @see RFC 4568 sections 4, 6.1 and 9.2
 */
export function parseCryptoAttribute(value) {
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
/** @returns What stands behind `a=crypto:`; it holds the key, so it belongs in SDP and nowhere else. */
export function formatCryptoAttribute({ tag, suite, masterKey, keyIdentifier }) {
  const keySalt = Buffer.concat([masterKey.key, masterKey.salt]).toString('base64');
  const identifier =
    keyIdentifier === undefined ? '' : `|${keyIdentifier.value}:${keyIdentifier.lengthBytes}`;
  return `${tag} ${suite} inline:${keySalt}${identifier}`;
}
function isSuite(name) {
  return Object.hasOwn(SRTP_SUITES, name);
}
/** A parameter that begins with `-` may be ignored; a window size hint (WSH) is only a hint. */
function mustUnderstand(sessionParameters) {
  return sessionParameters
    .split(/\s+/)
    .some((parameter) => parameter !== '' && !parameter.startsWith('-') && !parameter.startsWith('WSH='));
}
function parseMasterKey(keySalt) {
  const bytes = BASE64.test(keySalt) ? Buffer.from(keySalt, 'base64') : Buffer.alloc(0);
  if (bytes.length !== MASTER_KEY_BYTES + MASTER_SALT_BYTES) {
    throw malformed(`its key and salt are not ${MASTER_KEY_BYTES + MASTER_SALT_BYTES} bytes in base64`);
  }
  return { key: bytes.subarray(0, MASTER_KEY_BYTES), salt: bytes.subarray(MASTER_KEY_BYTES) };
}
/** Lifetime and identifier are both optional; a lifetime is longer than any call lives, and so not kept. */
function parseKeyIdentifier(parts) {
  const identifiers = LIFETIME.test(parts[0] ?? '') ? parts.slice(1) : parts;
  const [identifier] = identifiers;
  if (identifier === undefined) return undefined;
  const match = KEY_IDENTIFIER.exec(identifier);
  if (match === null || identifiers.length > 1)
    throw malformed('what follows its key is no lifetime or identifier');
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
function malformed(why) {
  return invalid('crypto_attribute_invalid', `the SDP crypto attribute cannot be used: ${why}`);
}
