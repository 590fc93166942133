import { languageCode } from '../../base/values/languageCode.ts';

/** What people say to take a call, or to refuse it. Refusals are looked for first: "no, yes I mean" is rare, "not ok" is not. */
interface Consent {
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

const WORDS: Readonly<Record<string, Consent>> = {
  en: {
    yes: [
      'yes',
      'yeah',
      'yep',
      'sure',
      'okay',
      'ok',
      'go ahead',
      'put them through',
      'no problem',
      'of course',
      'accept',
    ],
    no: ['no', 'nope', 'not now', 'not', 'cannot', 'can’t', 'busy', 'later', 'decline', 'refuse'],
  },
  zh: {
    yes: ['好', '可以', '是', '對', '接', '沒問題', '没问题', '行'],
    no: ['不', '沒空', '没空', '忙', '等一下再', '拒絕', '拒绝'],
  },
  es: {
    yes: ['sí', 'si', 'claro', 'vale', 'de acuerdo', 'adelante', 'por supuesto', 'sin problema'],
    no: ['no', 'ahora no', 'ocupado', 'ocupada', 'luego', 'más tarde'],
  },
  fr: {
    yes: ['oui', 'ouais', 'd’accord', 'bien sûr', 'ok', 'volontiers', 'allez-y', 'pas de problème'],
    no: ['non', 'pas', 'occupé', 'occupée', 'plus tard'],
  },
  de: {
    yes: ['ja', 'jawohl', 'gerne', 'klar', 'okay', 'ok', 'in ordnung', 'kein problem', 'natürlich'],
    no: ['nein', 'nee', 'nicht', 'keine zeit', 'später', 'beschäftigt'],
  },
};
/** Phrases that contain a word of the other kind. */
const CONSENT_WITH_NO: readonly string[] = [
  'no problem',
  'pas de problème',
  'kein problem',
  'sin problema',
  '沒問題',
  '没问题',
];

/** Whether a transfer target takes the call; undefined when the words say neither. */
export function consentOf(text: string, language: string | undefined): boolean | undefined {
  const { yes, no } = wordsOf(language);
  const said = text.toLowerCase().replaceAll("'", '’');
  const rest = CONSENT_WITH_NO.reduce((left, phrase) => left.replaceAll(phrase, ' yes '), said);
  if (no.some((word) => contains(rest, word))) return false;
  return [...yes, 'yes'].some((word) => contains(rest, word)) ? true : undefined;
}

/** Returns the phrases that the recognizer should expect. */
export function consentPhrases(language: string | undefined): readonly string[] {
  const { yes, no } = wordsOf(language);
  return [...yes, ...no];
}

/** English is understood beside every language. */
function wordsOf(language: string | undefined): Consent {
  const english = WORDS.en as Consent;
  const own = WORDS[languageCode(language) ?? 'en'] ?? english;
  if (own === english) return english;
  return { yes: [...own.yes, ...english.yes], no: [...own.no, ...english.no] };
}

/** Whole words, where the script has spaces. */
function contains(text: string, phrase: string): boolean {
  if (/\p{Script=Han}/u.test(phrase)) return text.includes(phrase);
  return new RegExp(`(?<![\\p{L}\\p{N}])${phrase}(?![\\p{L}\\p{N}])`, 'u').test(text);
}
