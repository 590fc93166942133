import { concatenated } from '../../src/media/pcm16.ts';
import { synthesizeSpeech } from '../../test/support/synthesizedSpeech.ts';
import { espeak, levelled, RATE_HZ } from '../turns/voices.ts';
import type { Language } from './greetings.ts';
import type { AnsweredCall } from './set.ts';

/** Of espeak-ng. */
const VOICES: Readonly<Record<Language, string>> = {
  en: 'en-us',
  zh: 'cmn',
  es: 'es',
  de: 'de',
  fr: 'fr-fr',
  ja: 'ja',
};
const BEEP_AMPLITUDE = 8000;

const spoken = new Map<string, Int16Array>();

/** Speaks English by flite, and other languages by espeak-ng. The same each time. */
export async function speak(
  { language, voice, pace }: Pick<AnsweredCall, 'language' | 'voice' | 'pace'>,
  text: string,
): Promise<Int16Array> {
  const key = JSON.stringify([language, voice, pace, text]);
  const known = spoken.get(key);
  if (known) return known;
  const samples =
    language === 'en'
      ? levelled(await synthesizeSpeech(text, RATE_HZ, voice))
      : espeak(VOICES[language], pace, text);
  const copy = concatenated([samples]);
  spoken.set(key, copy);
  return copy;
}

export function beepOf({ hz, ms }: { readonly hz: number; readonly ms: number }): Int16Array {
  return Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, n) =>
    Math.round(BEEP_AMPLITUDE * Math.sin((2 * Math.PI * hz * n) / RATE_HZ)),
  );
}
