/** A BCP 47 tag, or what is like one. */
const TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** The language of a BCP 47 tag such as `zh-TW`, in lower case and without the region: `zh`. */
export function languageCode(tag: string): string;
export function languageCode(tag: string | undefined): string | undefined;
export function languageCode(tag: string | undefined): string | undefined {
  return tag?.split('-', 1)[0]?.toLowerCase();
}

/** Returns a language's name, such as `German (Austria)` for `de-AT`; undefined when the text is no BCP 47 tag. */
export function languageName(tag: string): string | undefined {
  if (!TAG.test(tag)) return undefined;
  try {
    return new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' }).of(tag);
  } catch {
    return undefined;
  }
}

/** The tag that is for a language: the same, else one without a region, else one of another region. */
export function matchLanguage<Tag extends string>(language: string, tags: readonly Tag[]): Tag | undefined {
  const [wanted, code] = [language.toLowerCase(), languageCode(language)];
  return (
    tags.find((tag) => tag.toLowerCase() === wanted) ??
    tags.find((tag) => tag.toLowerCase() === code) ??
    tags.find((tag) => languageCode(tag) === code)
  );
}
