import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { concatenated } from '../../../src/media/pcm16.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { encodeWav } from '../../support/wavFile.ts';

const RATE_HZ = 16_000;
const PAUSE_BEFORE_S = 4.5;
const PAUSE_AFTER_S = 6;

/** A microphone of Chromium, at which a voice says the same again and again. */
export interface Microphone {
  /** Of Chromium. */
  readonly args: readonly string[];
  /** Removes its file. */
  remove(): void;
}

export async function makeMicrophone(words: string): Promise<Microphone> {
  const folder = makeTempDir();
  const file = join(folder.path, 'microphone.wav');
  const pause = (seconds: number) => new Int16Array(RATE_HZ * seconds);
  const said = await synthesizeSpeech(words, RATE_HZ);
  const samples = concatenated([pause(PAUSE_BEFORE_S), said, pause(PAUSE_AFTER_S)]);
  writeFileSync(file, encodeWav(samples, RATE_HZ));
  return {
    args: [
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}`,
    ],
    remove: folder.remove,
  };
}
