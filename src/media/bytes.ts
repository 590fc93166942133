/** Big-endian numbers in byte arrays. The caller checks the length; a byte past the end reads as 0. */

export function readUint8(bytes: Uint8Array, offset: number): number {
  return bytes[offset] ?? 0;
}

export function readUint16(bytes: Uint8Array, offset: number): number {
  return (readUint8(bytes, offset) << 8) | readUint8(bytes, offset + 1);
}

export function readUint24(bytes: Uint8Array, offset: number): number {
  return (readUint8(bytes, offset) << 16) | readUint16(bytes, offset + 1);
}

/** @returns A number, 0..2^32-1. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  return ((readUint16(bytes, offset) << 16) | readUint16(bytes, offset + 2)) >>> 0;
}

/** Writes the low 16 bits of `value`. */
export function writeUint16(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >> 8;
  out[offset + 1] = value;
}

/** Writes the low 24 bits of `value`; a negative one as two's complement. */
export function writeUint24(out: Uint8Array, offset: number, value: number): void {
  out[offset] = value >> 16;
  writeUint16(out, offset + 1, value);
}

/** Writes the low 32 bits of `value`. */
export function writeUint32(out: Uint8Array, offset: number, value: number): void {
  writeUint16(out, offset, value >>> 16);
  writeUint16(out, offset + 2, value);
}
