/** Code points are below 2^21: a pair of them is one number below 2^42, of 13 digits at most. */
const PAIR = 2 ** 21;
const DIGITS = 13;
const ASCII = 128;

/**
 * Which characters, and which pairs of neighbours, a text holds: its grams, as the index has them. A text holds a string
 * of one or two characters exactly where it has all of that string's {@link searchedGrams}; a longer string, only there.
 *
 * Grams are a project's own, but for chance: they begin with its id's last four digits, so that the index need not look
 * at everybody's sessions.
 *
 * @param projectId - A UUID.
 * @returns Decimal numbers below 2^63, each once, in no order.
 */
export function gramsOf(projectId: string, text: string): string[] {
  const grams = new Set<number>();
  // Nearly all pairs are ASCII and were there before, which a table tells ten times as fast as a set.
  const seen = new Uint8Array(ASCII * ASCII);
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
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

/** The grams that a text must have to hold this string: its pairs, or its one character; none for an empty string. */
export function searchedGrams(projectId: string, text: string): string[] {
  const characters = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  const [first, ...others] = characters;
  if (first === undefined) return [];
  const pairs = others.map((character, index) => (characters[index] ?? 0) * PAIR + character);
  return [...new Set(pairs.length > 0 ? pairs : [first])].map((gram) => ofProject(projectId, gram));
}

function ofProject(projectId: string, gram: number): string {
  return Number.parseInt(projectId.slice(-4), 16) + String(gram).padStart(DIGITS, '0');
}
