import type { TimedWord } from '../../models/ports/streamingSpeechToText.ts';

/** The times of characters. */
export interface Alignment {
  readonly chars: readonly string[];
  readonly charStartTimesMs: readonly number[];
  readonly charDurationsMs: readonly number[];
}

const HAN = /^\p{Script=Han}$/u;

/** Makes words of timed characters, whose messages may split a word. A Chinese character is a word. */
export class AlignedWords {
  #word: TimedWord | undefined;

  /** @param offsetMs - Added to all times. @returns The words that are complete. */
  add({ chars, charStartTimesMs, charDurationsMs }: Alignment, offsetMs: number): TimedWord[] {
    const words: TimedWord[] = [];
    for (const [index, char] of chars.entries()) {
      const startMs = offsetMs + (charStartTimesMs[index] ?? 0);
      const endMs = startMs + (charDurationsMs[index] ?? 0);
      const isHan = HAN.test(char);
      if (isHan || char.trim() === '') words.push(...this.finish());
      if (isHan) words.push({ word: char, startMs, endMs });
      else if (char.trim() !== '')
        this.#word = {
          word: (this.#word?.word ?? '') + char,
          startMs: this.#word?.startMs ?? startMs,
          endMs,
        };
    }
    return words;
  }

  /** @returns The word that no space follows. */
  finish(): TimedWord[] {
    const word = this.#word;
    this.#word = undefined;
    return word ? [word] : [];
  }
}
