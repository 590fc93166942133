import { languageCode } from '../../base/values/languageCode.ts';
import { wordsOf } from './completeness.ts';

const list = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** The words of listeners who show that they listen, by language. */
const BACKCHANNELS: Readonly<Record<string, ReadonlySet<string>>> = {
  en: list(
    'mm mhm mm-hm mmhm mm-hmm mmhmm hm hmm uh-huh uhhuh uh huh aha ah oh ok okay okey k yeah yep yup yes ' +
      'right sure alright good great fine cool nice exactly indeed gotcha i see got it all',
  ),
  zh: list(
    '嗯 嗯嗯 恩 恩恩 喔 哦 噢 喔喔 啊 對 對對 對對對 对 对对 對啊 好 好好 好的 好喔 是 是的 是喔 是是 了解 知道 沒錯 没错 ok',
  ),
  ja: list('はい ええ うん うんうん そう そうですね なるほど ああ'),
  es: list('sí si ajá aja mmm mm ya claro vale bueno bien ok okay de acuerdo exacto'),
  fr: list("oui ouais mm mmh hum d'accord ok okay bien très ah voilà exact"),
  de: list('ja mhm hm aha okay ok genau gut stimmt klar ach so'),
};

const MAX_WORDS = 3;
/** Longer speech is more than a backchannel, whatever its transcript. */
const MAX_VOICED_MS = 1200;

/**
 * Whether an utterance only shows that the caller listens ("mm-hm"): short, and made of backchannel words alone.
 *
 * @param language - A tag such as `zh-TW`. English words count in every language, since callers mix them.
 */
export function isBackchannel(text: string, voicedMs: number, language = 'en'): boolean {
  const words = wordsOf(text);
  if (words.length === 0 || words.length > MAX_WORDS) return false;
  if (voicedMs > MAX_VOICED_MS) return false;
  const own = BACKCHANNELS[languageCode(language)];
  return words.every((word) => own?.has(word) || BACKCHANNELS.en?.has(word));
}
