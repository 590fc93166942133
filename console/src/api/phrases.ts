/** A pattern of the API's English, and its text; `$1` is what is in its brackets, `{1}` the same after `translate`. */
export type Phrase = readonly [pattern: RegExp, text: string];

/** The text of the first phrase whose pattern the message has; undefined without one. */
export function phraseIn(
  phrases: readonly Phrase[],
  message: string,
  translate: (part: string) => string = String,
): string | undefined {
  const [pattern, text] = phrases.find(([known]) => known.test(message)) ?? [];
  const parts = pattern?.exec(message);
  return text?.replaceAll(/\$(\d)|\{(\d)\}/g, (_mark, raw?: string, translated?: string) =>
    raw === undefined ? translate(parts?.[Number(translated)] ?? '') : (parts?.[Number(raw)] ?? ''),
  );
}
