import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answerGrammar } from './grammar.ts';
import type { PocketsphinxInstallation } from './installation.ts';

/** Lines of a pronunciation dictionary by their word: one line for each pronunciation. */
type Pronunciations = ReadonlyMap<string, readonly string[]>;

/** Chooses what the recognizer listens for. */
export interface LanguageModels {
  /** @returns Arguments that select a grammar of these phrases, or the general model where there are none. */
  argumentsFor(expectedAnswers: readonly string[]): Promise<readonly string[]>;
}

/**
 * Writes one grammar file per set of answers, and a dictionary of its words alone, with which the recognizer starts in a
 * tenth of the time that the whole dictionary takes.
 *
 * @param folder - Where the files go.
 */
export function createLanguageModels(
  { dictionary, languageModel }: PocketsphinxInstallation,
  folder: () => Promise<string>,
): LanguageModels {
  // Takes a second, which is better spent before a call than during one.
  const pronunciations = readFile(dictionary, 'utf8').then(parseDictionary);
  pronunciations.catch(() => undefined); // thrown where it is awaited
  const grammars = new Map<string, Promise<readonly string[]>>();
  const generalModel = ['-dict', dictionary, '-lm', languageModel];
  return {
    async argumentsFor(expectedAnswers) {
      if (expectedAnswers.length === 0) return generalModel;
      const known = await pronunciations;
      const grammar = answerGrammar(expectedAnswers, (word) => known.has(word));
      if (!grammar) return generalModel;
      const name = createHash('sha256').update(grammar.text).digest('hex').slice(0, 32);
      const lines = [...[...grammar.words].flatMap((word) => known.get(word) ?? []), ...grammar.sounds];
      const written =
        grammars.get(name) ?? folder().then((path) => writeGrammar(join(path, name), grammar.text, lines));
      grammars.set(name, written);
      written.catch(() => grammars.delete(name));
      return await written;
    },
  };
}

function parseDictionary(dictionary: string): Pronunciations {
  const lines = new Map<string, string[]>();
  for (const line of dictionary.split('\n')) {
    const word = line.slice(0, line.indexOf(' ')).replace(/\(\d+\)$/, '');
    const others = lines.get(word);
    if (others) others.push(line);
    else lines.set(word, [line]);
  }
  return lines;
}

async function writeGrammar(path: string, grammar: string, dictionary: readonly string[]) {
  const files = { grammar: `${path}.gram`, dictionary: `${path}.dict` };
  await writeFile(files.grammar, grammar);
  await writeFile(files.dictionary, [...dictionary, ''].join('\n'));
  return ['-dict', files.dictionary, '-jsgf', files.grammar];
}
