/** The longest text that is examined: more adds time and no certainty. */
const MAX_CHARACTERS = 2_000;

/** @returns The language of a text in ISO 639-1; null where it cannot be told. */
export async function languageOf(text: string): Promise<string | null> {
  // Loaded when it is first used: few tests ask for a language.
  const { detect } = await import('tinyld');
  return detect(text.slice(0, MAX_CHARACTERS)) || null;
}
