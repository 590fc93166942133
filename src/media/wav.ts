import { invalid } from '../base/errors.ts';

/** The format of 16-bit interleaved PCM. */
export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
}

/** The samples are a view of the file where its bytes are aligned, else a copy. */
export interface WavFile extends WavFormat {
  readonly samples: Int16Array;
}

export const WAV_HEADER_BYTES = 44;
/** Offsets of the two lengths that grow with the file: 32 bits each, little-endian. */
export const WAV_RIFF_LENGTH_AT = 4;
export const WAV_DATA_LENGTH_AT = 40;
/** The lengths have 32 bits, and the first counts 36 bytes more than the data. */
export const WAV_MAX_DATA_BYTES = 0xffff_ffff - (WAV_HEADER_BYTES - 8);

const PCM = 1;
const EXTENSIBLE = 0xfffe;
const BYTES_PER_SAMPLE = 2;
const CHUNK_HEADER_BYTES = 8;
const FORMAT_BYTES = 16;
/** The most chunks before the data; programs write a handful. */
const MAX_CHUNKS = 1000;

/**
 * The header of a file with this much data.
 *
 * @throws {RangeError} When the data is not a whole number of samples of all channels, or too long for 32 bits.
 */
export function wavHeader({ sampleRateHz, channels }: WavFormat, dataLengthBytes: number): Uint8Array {
  const blockBytes = channels * BYTES_PER_SAMPLE;
  if (
    !(dataLengthBytes >= 0 && dataLengthBytes <= WAV_MAX_DATA_BYTES && dataLengthBytes % blockBytes === 0)
  ) {
    throw new RangeError(`${dataLengthBytes} bytes of audio do not fit a WAV file of ${channels} channels`);
  }
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(dataLengthBytes + WAV_HEADER_BYTES - 8, WAV_RIFF_LENGTH_AT);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(FORMAT_BYTES, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * blockBytes, 28);
  header.writeUInt16LE(blockBytes, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataLengthBytes, WAV_DATA_LENGTH_AT);
  return header;
}

/** Interleaves two channels, left first. @returns Samples written. @throws {RangeError} On unequal lengths. */
export function interleaveStereo(left: Int16Array, right: Int16Array, out: Int16Array): number {
  if (left.length !== right.length || out.length < 2 * left.length) {
    throw new RangeError(`channels of ${left.length} and ${right.length} samples do not fill ${out.length}`);
  }
  for (let n = 0; n < left.length; n++) {
    out[2 * n] = left[n] ?? 0;
    out[2 * n + 1] = right[n] ?? 0;
  }
  return 2 * left.length;
}

/** Extracts one channel of interleaved samples. @param channel - 0 is left. */
export function pickChannel({ samples, channels }: WavFile, channel: number): Int16Array {
  const length = Math.floor(samples.length / channels);
  return Int16Array.from({ length }, (_, n) => samples[n * channels + channel] ?? 0);
}

/**
 * Reads a file, with chunks in any order; unknown ones are ignored. Data shorter than announced is accepted, as in a file
 * whose writer was killed.
 *
 * @throws {CallwayError} `wav_invalid` unless it is a WAV file with 16-bit PCM in one or two channels.
 */
export function parseWav(bytes: Uint8Array): WavFile {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WAVE') {
    throw invalid('wav_invalid', 'the file is not a WAV file');
  }
  let format: WavFormat | undefined;
  for (let at = 12, chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEADER_BYTES <= file.length; chunk++) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const contents = file.subarray(at + CHUNK_HEADER_BYTES, at + CHUNK_HEADER_BYTES + length);
    if (name === 'fmt ') format = parseFormat(contents);
    if (name === 'data') {
      if (format === undefined)
        throw invalid('wav_invalid', 'the WAV file has its data chunk before its format chunk');
      return { ...format, samples: toSamples(contents, format.channels) };
    }
    at += CHUNK_HEADER_BYTES + length + (length % 2);
  }
  throw invalid('wav_invalid', `the WAV file has no data chunk among its first ${MAX_CHUNKS}`);
}

function parseFormat(contents: Buffer): WavFormat {
  if (contents.length < FORMAT_BYTES)
    throw invalid('wav_invalid', 'the WAV file has a truncated format chunk');
  const coding = contents.readUInt16LE(0);
  const channels = contents.readUInt16LE(2);
  const bits = contents.readUInt16LE(14);
  // The extensible form has its encoding in the first bytes of a GUID.
  const isExtendedPcm = coding === EXTENSIBLE && contents.length >= 26 && contents.readUInt16LE(24) === PCM;
  const isPcm = coding === PCM || isExtendedPcm;
  if (!isPcm || bits !== 8 * BYTES_PER_SAMPLE || (channels !== 1 && channels !== 2)) {
    throw invalid(
      'wav_invalid',
      `the WAV file has coding ${coding}, ${bits} bits, ${channels} channels; 16-bit PCM in one or two is needed`,
    );
  }
  return { sampleRateHz: contents.readUInt32LE(4), channels };
}

function toSamples(contents: Buffer, channels: number): Int16Array {
  const blockBytes = channels * BYTES_PER_SAMPLE;
  const lengthBytes = contents.length - (contents.length % blockBytes);
  const isAligned = contents.byteOffset % BYTES_PER_SAMPLE === 0;
  const source = isAligned ? contents : Uint8Array.from(contents);
  return new Int16Array(source.buffer, source.byteOffset, lengthBytes / BYTES_PER_SAMPLE);
}
