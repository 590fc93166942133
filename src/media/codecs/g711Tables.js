/** 14 bits in, 8 out. */
export const muLawTables = buildTables(
  2,
  (sample) => {
    const isNegative = sample < 0;
    // Biased by 33 the segments' borders become powers of two; above 8158 the law clips.
    const magnitude = Math.min((isNegative ? ~sample : sample) + 33, 0x1fff);
    const segment = 26 - Math.clz32(magnitude);
    const interval = (magnitude >> (segment + 1)) & 0x0f;
    return ~((isNegative ? 0x80 : 0) | (segment << 4) | interval) & 0xff;
  },
  (code) => {
    const inverted = ~code & 0xff;
    const segment = (inverted >> 4) & 0x07;
    const magnitude = ((((inverted & 0x0f) << 1) + 33) << segment) - 33;
    return (inverted & 0x80) === 0 ? magnitude << 2 : -(magnitude << 2);
  },
);
/** 12 bits and half a bit in, 8 out; even bits are inverted on the wire. */
export const aLawTables = buildTables(
  4,
  (sample) => {
    const isNegative = sample < 0;
    const magnitude = isNegative ? ~sample : sample;
    const segment = Math.max(0, 28 - Math.clz32(magnitude));
    const interval = (segment < 2 ? magnitude : magnitude >> (segment - 1)) & 0x0f;
    return ((isNegative ? 0 : 0x80) | (segment << 4) | interval) ^ 0x55;
  },
  (code) => {
    const straight = code ^ 0x55;
    const segment = (straight >> 4) & 0x07;
    const interval = (straight & 0x0f) * 2 + 1;
    const magnitude = segment === 0 ? interval : (interval + 32) << (segment - 1);
    return (straight & 0x80) === 0 ? -(magnitude << 3) : magnitude << 3;
  },
);
function buildTables(shift, compress, expand) {
  const size = 0x10000 >> shift;
  const encode = new Uint8Array(size);
  for (let sample = -size / 2; sample < size / 2; sample++) encode[sample & (size - 1)] = compress(sample);
  return { encode, shift, decode: Int16Array.from({ length: 256 }, (_, code) => expand(code)) };
}
