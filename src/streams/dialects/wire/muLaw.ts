import { pcmu } from '../../../media/codecs/g711.ts';
import { toBase64 } from './json.ts';

/** G.711 has no state, so that one codec serves all streams. */
const codec = pcmu.open();

/** @returns Base64. */
export function encodeMuLaw(samples: Int16Array): string {
  const bytes = new Uint8Array(samples.length);
  codec.encode(samples, bytes);
  return toBase64(bytes);
}

/** @returns Undefined unless it is base64 of at least one sample. */
export function decodeMuLaw(base64: unknown): Int16Array | undefined {
  if (typeof base64 !== 'string') return undefined;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0) return undefined;
  const samples = new Int16Array(bytes.length);
  codec.decode(bytes, samples);
  return samples;
}
