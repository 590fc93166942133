import { readUint8 } from '../bytes.ts';
import type { MasterKeyIdentifier } from './cryptoAttribute.ts';

/** @returns Bytes written: none when no identifier was agreed. @see RFC 3711 section 3.1 (MKI) */
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

/** Whether the packet names our key; always, when no identifier was agreed. */
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
