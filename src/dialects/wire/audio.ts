import type { CodecFormat } from '../../media/codecs/codec.ts';
import { pcma, pcmu } from '../../media/codecs/g711.ts';
import { l16 } from '../../media/codecs/l16.ts';
import { readPcm16, writePcm16 } from '../../media/pcm16.ts';
import { toBase64 } from './json.ts';

/** How samples are written in messages. */
export interface AudioEncoding {
  readonly bytesPerSample: number;
  /** @returns Possibly a view of the samples' own memory. */
  encode(samples: Int16Array): Uint8Array;
  /**
   * A trailing byte that is no whole sample is ignored.
   *
   * @param room - Used where it has the right length and memory is needed.
   * @returns Possibly a view of the bytes' own memory.
   */
  decode(bytes: Uint8Array, room?: Int16Array): Int16Array;
}

/** L16 as WebSocket clients expect it. */
export const littleEndian: AudioEncoding = { bytesPerSample: 2, encode: writePcm16, decode: readPcm16 };
/** L16 in network byte order, as in RTP. */
export const bigEndian: AudioEncoding = fromCodec(l16(8000), 2);
export const muLaw: AudioEncoding = fromCodec(pcmu, 1);
export const aLaw: AudioEncoding = fromCodec(pcma, 1);

/** These codecs have no state, so that one serves all streams. */
function fromCodec(format: CodecFormat, bytesPerSample: number): AudioEncoding {
  const codec = format.open();
  return {
    bytesPerSample,
    encode(samples) {
      const bytes = new Uint8Array(samples.length * bytesPerSample);
      codec.encode(samples, bytes);
      return bytes;
    },
    decode(bytes, room) {
      const length = Math.floor(bytes.length / bytesPerSample);
      const samples = room?.length === length ? room : new Int16Array(length);
      codec.decode(bytes, samples);
      return samples;
    },
  };
}

export function encodeBase64(encoding: AudioEncoding, samples: Int16Array): string {
  return toBase64(encoding.encode(samples));
}

/** @returns Undefined unless it is base64 of at least one sample. */
export function decodeBase64(encoding: AudioEncoding, text: unknown): Int16Array | undefined {
  if (typeof text !== 'string') return undefined;
  const samples = encoding.decode(Buffer.from(text, 'base64'));
  return samples.length === 0 ? undefined : samples;
}

/**
 * Decodes as {@link decodeBase64} does, for the messages of one stream, which are mostly of one length: the samples are valid until the
 * next call, since memory for fifty messages a second costs more than reading them.
 */
export function base64Reader(encoding: AudioEncoding): (text: unknown) => Int16Array | undefined {
  let memory = Buffer.alloc(0);
  let samples: Int16Array | undefined;
  return (text) => {
    if (typeof text !== 'string') return undefined;
    const mostBytes = Buffer.byteLength(text, 'base64');
    if (memory.length !== mostBytes) memory = Buffer.allocUnsafeSlow(mostBytes);
    const length = memory.write(text, 'base64');
    samples = encoding.decode(length === mostBytes ? memory : memory.subarray(0, length), samples);
    return samples.length === 0 ? undefined : samples;
  };
}
