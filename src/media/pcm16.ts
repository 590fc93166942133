const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * Reads 16-bit little-endian samples.
 *
 * @returns A view of the bytes' own memory where alignment allows, else a copy. An odd byte at the end is ignored.
 */
export function readPcm16(bytes: Uint8Array): Int16Array {
  if (IS_LITTLE_ENDIAN && bytes.byteOffset % Int16Array.BYTES_PER_ELEMENT === 0) {
    return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1);
  }
  const samples = new Int16Array(bytes.byteLength >> 1);
  const copy = new Uint8Array(samples.buffer);
  copy.set(bytes.subarray(0, copy.length));
  if (!IS_LITTLE_ENDIAN) swap(copy);
  return samples;
}

/** @returns A view of the samples' own memory on a little-endian machine, else a copy. */
export function writePcm16(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  if (IS_LITTLE_ENDIAN) return bytes;
  const copy = bytes.slice();
  swap(copy);
  return copy;
}

export function concatenated(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Adds samples to as many others, or takes them out with a gain of -1; what is out of range is clipped. */
export function mixInto(samples: Int16Array, added: Int16Array, gain: 1 | -1 = 1): void {
  for (let n = 0; n < samples.length; n++) {
    const sum = (samples[n] ?? 0) + gain * (added[n] ?? 0);
    samples[n] = Math.max(-32_768, Math.min(32_767, sum));
  }
}

function swap(bytes: Uint8Array): void {
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).swap16();
}
