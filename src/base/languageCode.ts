/** The language of a BCP 47 tag such as `zh-TW`, in lower case and without the region: `zh`. */
export function languageCode(tag: string): string;
export function languageCode(tag: string | undefined): string | undefined;
export function languageCode(tag: string | undefined): string | undefined {
  return tag?.split('-', 1)[0]?.toLowerCase();
}
