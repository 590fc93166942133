import type { Transcript } from '../../models/ports/speechToText.ts';

export const NO_WORDS: Transcript = { text: '' };

/**
 * What recognizers write for sounds: in brackets of any script, between two signs of a kind, as Whisper's `[BLANK_AUDIO]`
 * and `♪ la la ♪`, Kaldi's `<unk>` and CMU Sphinx' `++NOISE++`, and Watson's `%HESITATION`. A transcript that broke off
 * may lack the end. Digits between stars were dialed aloud.
 */
const SOUNDS =
  /[[［【〔][^\]］】〕]*[\]］】〕]?|[(（][^)）]*[)）]?|[<＜〈][^>＞〉]*[>＞〉]?|\{[^}]*\}?|[♩♪♫♬🎵🎶][^♩♪♫♬🎵🎶]*(?:[♩♪♫♬🎵🎶]|$)|([*_~|=#])\1*[^*_~|=#\d]+\1+|\+\+[^+]+\+\+|%\p{L}+/gu;
const WORD = /[\p{L}\p{N}]/u;

/**
 * Whether a recognizer's text has a word: a letter or digit of any script outside of what stands for sounds. Words in
 * brackets are words where others stand beside them, as in `the big one (the red one)`.
 */
export function hasWords(text: string): boolean {
  return WORD.test(text.replace(SOUNDS, ' '));
}

/** The transcript, without text that has no words. Words that come late are judged when they come. */
export function withWordsOnly(transcript: Transcript): Transcript {
  const { text, late } = transcript;
  if (late) return { ...transcript, late: late.then((words) => (hasWords(words) ? words : '')) };
  return hasWords(text) ? transcript : NO_WORDS;
}
