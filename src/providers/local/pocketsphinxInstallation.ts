import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

const MODEL_FOLDERS = ['/usr/share/pocketsphinx/model', '/usr/local/share/pocketsphinx/model'] as const;

/** Of 10 ms: what was given is one utterance, with whatever pauses there are in it. */
const LONGEST_PAUSE_FRAMES = '300';

/** How to call the recogniser that is on this machine. */
export interface PocketsphinxInstallation {
  readonly program: string;
  /** Acoustic model, language model and dictionary of English. */
  readonly acousticModel: string;
  readonly languageModel: string;
  readonly dictionary: string;
  /**
   * For audio of 16 kHz, raw, from standard input.
   *
   * @param language - What may be said, and the dictionary of its words.
   */
  arguments(language: readonly string[]): string[];
  /** The words in what it printed. */
  words(output: string): string;
}

/** @returns Undefined where program or models are missing. */
export async function findPocketsphinx(searchPath: string): Promise<PocketsphinxInstallation | undefined> {
  for (const folder of MODEL_FOLDERS) {
    const acousticModel = await firstReadable([join(folder, 'en-us/en-us')]);
    const languageModel = await firstReadable([join(folder, 'en-us/en-us.lm.bin')]);
    const dictionary = await firstReadable([join(folder, 'en-us/cmudict-en-us.dict')]);
    if (!acousticModel || !languageModel || !dictionary) continue;
    const models = { acousticModel, languageModel, dictionary };
    const inPath = (name: string) =>
      firstReadable(searchPath.split(delimiter).map((path) => join(path, name)));
    const older = await inPath('pocketsphinx_continuous');
    if (older) return { ...models, ...releaseBefore5(acousticModel), program: older };
    const newer = await inPath('pocketsphinx');
    if (newer) return { ...models, ...release5(acousticModel), program: newer };
  }
  return undefined;
}

/** Prints each utterance that it finds on a line of its own. */
function releaseBefore5(acousticModel: string) {
  return {
    arguments: (language: readonly string[]) => [
      ...['-infile', '/dev/stdin', '-vad_postspeech', LONGEST_PAUSE_FRAMES],
      ...['-hmm', acousticModel, ...language],
    ],
    words: (output: string) => output.split(/\s+/).join(' ').trim(),
  };
}

/** Prints a JSON document for the one utterance, whose `t` is the text. */
function release5(acousticModel: string) {
  return {
    arguments: (language: readonly string[]) => ['-hmm', acousticModel, ...language, 'single', '-'],
    words: (output: string) =>
      [...output.matchAll(/^\{.*"t":"([^"]*)"/gm)]
        .map(([, text]) => text ?? '')
        .join(' ')
        .trim(),
  };
}

async function firstReadable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isReadable = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (isReadable) return path;
  }
  return undefined;
}
