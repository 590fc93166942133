/** A text's words in lower case, without punctuation; a run of Chinese characters is one. */
export function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*/gu) ?? []
  );
}

const list = (words: string) => words.split(/\s+/).filter((word) => word !== '');

/** Nobody ends a turn on these: what they begin is still to come. */
export const unfinishedWords: ReadonlySet<string> = new Set(
  list(`
    and or but so because if when while although than as like
    the a an this these those my your his her our their
    to of in on at for with from by about into
    is are was were am be i'm it's i we they he she
    um uh er erm hmm well actually maybe
    can could would should will want need
    y o pero porque que si de del el la los las un una con para por en mi su
    et ou mais parce car que si de du le la les un une avec pour dans mon ma
    und oder aber weil dass wenn der die das ein eine mit für von zu ich
    然後 因為 所以 如果 但是 可是 那個 就是 還有 或是 或者 而且 我想 我要 跟 和 的 把 在 從
    然后 因为 但 还有 那个
  `),
);

/** The digits, as people tell them one by one. */
const DIGIT_WORDS: ReadonlySet<string> = new Set(
  list(`
    zero oh one two three four five six seven eight nine double triple
    cero uno dos tres cuatro cinco seis siete ocho nueve
    zéro un deux trois quatre cinq sept huit neuf
    null eins zwei zwo drei vier fünf sechs sieben acht neun
  `),
);

/** How many digits or single letters a word tells; 0 for any other word. */
export function digitsIn(word: string): number {
  if (/^[\d-]+$/.test(word)) return word.replaceAll('-', '').length;
  if (/^[零〇一二兩两三四五六七八九]+$/.test(word)) return word.length;
  return DIGIT_WORDS.has(word) || /^\p{Script=Latin}$/u.test(word) ? 1 : 0;
}

/** What listeners say to show that they listen, by language. */
const ACKNOWLEDGEMENTS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: new Set(
    list(`mm mhm mm-hm mmhm mm-hmm mmhmm hm hmm uh-huh uhhuh uh huh aha ah oh ok okay okey k yeah yep yup yes
      right sure alright good great fine cool nice exactly indeed gotcha i see got it all`),
  ),
  zh: new Set(
    list(
      '嗯 嗯嗯 恩 恩恩 喔 哦 噢 喔喔 啊 對 對對 對對對 对 对对 對啊 好 好好 好的 好喔 是 是的 是喔 是是 了解 知道 沒錯 没错 ok',
    ),
  ),
  ja: new Set(list('はい ええ うん うんうん そう そうですね なるほど ああ')),
  es: new Set(list('sí si ajá aja mmm mm ya claro vale bueno bien ok okay de acuerdo exacto')),
  fr: new Set(list("oui ouais mm mmh hum d'accord ok okay bien très ah voilà exact")),
  de: new Set(list('ja mhm hm aha okay ok genau gut stimmt klar ach so')),
};

const MOST_ACKNOWLEDGING_WORDS = 3;
/** Who speaks for longer says more than that they listen, whatever the recogniser made of it. */
const LONGEST_ACKNOWLEDGEMENT_MS = 1200;

/**
 * Whether all that was said shows only that somebody listens: few words, all of them of that kind, said quickly.
 *
 * @param language - A tag such as `zh-TW`. Callers mix: English counts everywhere.
 */
export function isBackchannel(text: string, voicedMs: number, language = 'en'): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > MOST_ACKNOWLEDGING_WORDS) return false;
  if (voicedMs > LONGEST_ACKNOWLEDGEMENT_MS) return false;
  const own = ACKNOWLEDGEMENTS[language.toLowerCase().split('-')[0] ?? ''];
  return words.every((word) => own?.has(word) || ACKNOWLEDGEMENTS.en?.has(word));
}
