import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The command for Debian and Ubuntu. */
export const INSTALL_COMMAND = 'sudo apt-get install -y pocketsphinx pocketsphinx-en-us';

const MODEL_FOLDERS = ['/usr/share/pocketsphinx/model', '/usr/local/share/pocketsphinx/model'] as const;

/** 10 ms each. The audio is one utterance, so that its pauses must not end it. */
const MAX_PAUSE_FRAMES = '300';

/** The installed program, whose arguments and output differ between releases. */
export interface PocketsphinxInstallation {
  readonly program: string;
  readonly acousticModel: string;
  readonly languageModel: string;
  readonly dictionary: string;
  /**
   * @param languageModel - Arguments that select the language model or grammar and its dictionary.
   * @returns Arguments for raw 16 kHz audio from standard input.
   */
  arguments(languageModel: readonly string[]): string[];
  /**
   * @param stdout - The output of a process that exited without an error.
   * @returns The words of each stretch of speech that it found between pauses.
   */
  parseWords(stdout: string): string[];
}

/**
 * @param searchPath - The folders, as in `PATH`.
 * @returns Undefined when the program or its models are missing.
 */
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

/** Prints one line per utterance that it finds. */
function releaseBefore5(acousticModel: string) {
  return {
    arguments: (languageModel: readonly string[]) => [
      ...['-infile', '/dev/stdin', '-vad_postspeech', MAX_PAUSE_FRAMES],
      ...['-hmm', acousticModel, ...languageModel],
    ],
    parseWords: (stdout: string) => stdout.split('\n').map((line) => line.trim()),
  };
}

/** Prints one JSON document, whose `t` is the text. */
function release5(acousticModel: string) {
  return {
    arguments: (languageModel: readonly string[]) => ['-hmm', acousticModel, ...languageModel, 'single', '-'],
    parseWords: (stdout: string) =>
      [...stdout.matchAll(/^\{.*"t":"([^"]*)"/gm)].map(([, text = '']) => text.trim()),
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
