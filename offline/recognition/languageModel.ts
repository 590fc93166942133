import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answerGrammar } from './grammar.ts';
import type { PocketsphinxInstallation } from './installation.ts';

/** A pronunciation dictionary as it was read, since all of its lines as texts of their own take another 30 MB. */
interface Pronunciations {
  readonly text: string;
  /** The position of each word's first line. */
  readonly starts: ReadonlyMap<string, number>;
}

/** Chooses what the recognizer listens for. */
export interface LanguageModels {
  /** @returns Arguments that select a grammar of these phrases, or the general model where there are none. */
  argumentsFor(expectedAnswers: readonly string[]): Promise<readonly string[]>;
}

/**
 * Writes one grammar file per set of answers, and a dictionary of its words alone, with which the recognizer starts in a
 * tenth of the time that the whole dictionary takes.
 *
 * @param folder - The folder for the files.
 */
export function createLanguageModels(
  { dictionary, languageModel }: Pick<PocketsphinxInstallation, 'dictionary' | 'languageModel'>,
  folder: () => Promise<string>,
): LanguageModels {
  // Takes a tenth of a second, which is better spent before a call than during one.
  const pronunciations = readFile(dictionary, 'utf8').then(parseDictionary);
  pronunciations.catch(() => undefined); // thrown where it is awaited
  const grammars = new Map<string, Promise<readonly string[]>>();
  const generalModel = ['-dict', dictionary, '-lm', languageModel];
  return {
    async argumentsFor(expectedAnswers) {
      if (expectedAnswers.length === 0) return generalModel;
      const known = await pronunciations;
      const grammar = answerGrammar(expectedAnswers, (word) => known.starts.has(word));
      if (!grammar) return generalModel;
      const name = createHash('sha256').update(grammar.text).digest('hex').slice(0, 32);
      const lines = [...[...grammar.words].flatMap((word) => linesOf(known, word)), ...grammar.sounds];
      const written =
        grammars.get(name) ?? folder().then((path) => writeGrammar(join(path, name), grammar.text, lines));
      grammars.set(name, written);
      written.catch(() => grammars.delete(name));
      return await written;
    },
  };
}

function parseDictionary(text: string): Pronunciations {
  const starts = new Map<string, number>();
  for (let at = 0; at < text.length; at = endOfLine(text, at) + 1) {
    const word = text.slice(at, text.indexOf(' ', at));
    // Such as `read(2)`, below `read`.
    const isOtherPronunciation = word.endsWith(')');
    if (!isOtherPronunciation) starts.set(word, at);
  }
  return { text, starts };
}

function linesOf({ text, starts }: Pronunciations, word: string): string[] {
  const start = starts.get(word);
  if (start === undefined) return [];
  const lines: string[] = [];
  let at = start;
  do {
    const end = endOfLine(text, at);
    lines.push(text.slice(at, end));
    at = end + 1;
  } while (text.startsWith(`${word}(`, at));
  return lines;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

async function writeGrammar(path: string, grammar: string, dictionary: readonly string[]) {
  const files = { grammar: `${path}.gram`, dictionary: `${path}.dict` };
  await writeFile(files.grammar, grammar);
  await writeFile(files.dictionary, [...dictionary, ''].join('\n'));
  return ['-dict', files.dictionary, '-jsgf', files.grammar];
}
