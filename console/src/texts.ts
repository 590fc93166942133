/** Languages of the console, by how browsers name them. */
type Locale = 'en' | 'zh-TW';

/** The browser's first language that the console speaks. */
export const locale: Locale = localeOf(navigator.languages);

/** Between a name and what it has. */
export const COLON = locale === 'zh-TW' ? '：' : ': ';
/** Between things that are counted, and between reasons. */
export const SEMICOLON = locale === 'zh-TW' ? '；' : '; ';

/**
 * The texts of one page or component in the browser's language.
 *
 * @param texts - The same texts in each language; a text with values is a function.
 */
export function textsIn<T>(texts: { en: T; 'zh-TW': NoInfer<T> }): T {
  return texts[locale];
}

/** All Chinese reads Traditional here: Simplified is not offered. */
export function localeOf(languages: readonly string[]): Locale {
  const known = languages.find((language) => /^(en|zh)\b/i.test(language));
  return known !== undefined && /^zh\b/i.test(known) ? 'zh-TW' : 'en';
}
