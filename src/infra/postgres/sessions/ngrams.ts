import { setImmediate } from 'node:timers/promises';

/** Code points are below 2^21: a pair is below 2^42, with at most 13 digits. */
const PAIR = 2 ** 21;
const DIGITS = 13;
const ASCII = 128;
/** Characters processed before the function yields to the event loop: at most 10 ms. */
const SLICE = 8_192;

/**
 * The index terms of a text: its characters and pairs of adjacent characters (1-grams and 2-grams). A text with all
 * {@link searchedNgrams} of a string contains the string if it has one or two characters, and may contain it if it is
 * longer.
 *
 * Terms start with the last four digits of the project's id, so that a search does not read the terms of all
 * projects.
 *
 * Yields to the event loop after each slice.
 *
 * @param projectId - The project's UUID.
 * @returns Unique decimal numbers below 2^63, unordered.
 */
export async function ngramsOf(projectId: string, text: string): Promise<string[]> {
  const grams = new Set<number>();
  // Most pairs are repeated ASCII pairs; a table is ten times as fast as a set.
  const seen = new Uint8Array(ASCII * ASCII);
  let before = 0;
  let restAt = SLICE;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= restAt) {
      restAt += SLICE;
      await setImmediate();
    }
    const character = text.codePointAt(at) ?? 0;
    if (character >= 0x1_0000) at += 1;
    const isAscii = before < ASCII && character < ASCII;
    if (!isAscii || seen[before * ASCII + character] === 0) {
      grams.add(character).add(before * PAIR + character);
      if (isAscii) seen[before * ASCII + character] = 1;
    }
    before = character;
  }
  return Array.from(grams, (gram) => ofProject(projectId, gram));
}

/** The terms of a search string: its pairs or its only character; none for an empty string. */
export function searchedNgrams(projectId: string, text: string): string[] {
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const [first, ...others] = characters;
  if (first === undefined) return [];
  const pairs = others.map((character, index) => (characters[index] ?? 0) * PAIR + character);
  return [...new Set(pairs.length > 0 ? pairs : [first])].map((gram) => ofProject(projectId, gram));
}

function ofProject(projectId: string, gram: number): string {
  return Number.parseInt(projectId.slice(-4), 16) + String(gram).padStart(DIGITS, '0');
}
