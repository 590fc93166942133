import { languageCode } from '../../base/values/languageCode.ts';

/** What a telephone's signs, and those of addresses, are called. */
interface SignNames {
  readonly '*': string;
  readonly '#': string;
  readonly '@': string;
  readonly _: string;
}

const NAMES: Readonly<Record<string, SignNames>> = {
  en: { '*': 'star', '#': 'pound', '@': 'at', _: 'underscore' },
  zh: { '*': '星號', '#': '井字號', '@': ' at ', _: '底線' },
  es: { '*': 'asterisco', '#': 'almohadilla', '@': 'arroba', _: 'guion bajo' },
  fr: { '*': 'étoile', '#': 'dièse', '@': 'arobase', _: 'tiret bas' },
  de: { '*': 'Stern', '#': 'Raute', '@': 'at', _: 'Unterstrich' },
  it: { '*': 'asterisco', '#': 'cancelletto', '@': 'chiocciola', _: 'trattino basso' },
  pt: { '*': 'asterisco', '#': 'cerquilha', '@': 'arroba', _: 'sublinhado' },
  nl: { '*': 'sterretje', '#': 'hekje', '@': 'apenstaartje', _: 'liggend streepje' },
  pl: { '*': 'gwiazdka', '#': 'krzyżyk', '@': 'małpa', _: 'podkreślnik' },
  ja: { '*': '米印', '#': 'シャープ', '@': 'アットマーク', _: 'アンダーバー' },
  ko: { '*': '별표', '#': '우물 정자', '@': '골뱅이', _: '밑줄' },
  hi: { '*': 'स्टार', '#': 'हैश', '@': 'ऐट', _: 'अंडरस्कोर' },
};
/** English outside of North America. */
const HASH_REGIONS = /^en-(?:gb|ie|au|nz|za|in|sg|hk)\b/i;

/**
 * The names of signs in the language of the words around them.
 *
 * @param language - BCP 47 tag of the voice.
 * @returns The name of one sign; the sign itself where it has none, since the voice may know one.
 */
export function signNames(text: string, language: string | undefined): (sign: string) => string {
  const names = NAMES[scriptLanguage(text) ?? languageCode(language) ?? 'en'];
  const isHash = HASH_REGIONS.test(language ?? '');
  return (sign) => (sign === '#' && isHash ? 'hash' : (names?.[sign as keyof SignNames] ?? sign));
}

/** The languages whose script is not that of the others; a voice of another language reads them too. */
function scriptLanguage(text: string): string | undefined {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  return /\p{Script=Han}/u.test(text) ? 'zh' : undefined;
}
