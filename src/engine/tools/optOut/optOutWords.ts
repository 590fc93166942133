import { CHINESE_RULES } from './chinese.ts';
import { ENGLISH_RULES } from './english.ts';
import { FRENCH_RULES } from './french.ts';
import { GERMAN_RULES } from './german.ts';
import { JAPANESE_RULES } from './japanese.ts';
import { isSaidIn } from './rule.ts';
import { SPANISH_RULES } from './spanish.ts';

const RULES = [
  ...ENGLISH_RULES,
  ...SPANISH_RULES,
  ...GERMAN_RULES,
  ...FRENCH_RULES,
  ...CHINESE_RULES,
  ...JAPANESE_RULES,
];

/**
 * Tells whether a person says that they want no more calls, in any of the languages. Each rule is anchored by who calls whom:
 * "stop calling me", not "stop calling him"; a wish about the time alone ("don't call me before nine") is none.
 *
 * @see 47 CFR 64.1200(a)(10): consent may be revoked "in any reasonable manner".
 */
export function saysOptOut(text: string): boolean {
  const words = plain(text);
  return RULES.some((rule) => isSaidIn(words, rule));
}

/** Lower case, plain apostrophes, and no other marks, which recognizers set as they like. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[’‘`´]/g, "'")
    .replaceAll(/[.!?¡¿…;:"“”()—–-]+/g, ' ')
    .replaceAll(/,/g, ' ')
    .replaceAll(/[。！？]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
