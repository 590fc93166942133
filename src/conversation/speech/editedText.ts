/** A word, or a Chinese character. */
export const WORD = /\p{Script=Han}|[^\s\p{Script=Han}]+/gu;

/** Whether a word is heard at all; signs are not. */
export function isSpoken(word: string): boolean {
  return /[\p{L}\p{N}]/u.test(word);
}

/** A text that is changed step by step, and knows after each step where its original words end. */
export class EditedText {
  #text: string;
  /** Offset in the text at which each original word ends; those of a removed word are where it was. */
  readonly #wordEnds: number[];

  constructor(text: string) {
    this.#text = text;
    this.#wordEnds = [...text.matchAll(WORD)]
      .filter(([word]) => isSpoken(word))
      .map((match) => match.index + match[0].length);
  }

  get text(): string {
    return this.#text;
  }

  /**
   * Replaces each match of a global pattern.
   *
   * @param replacement - Returns the replacement of a match; undefined leaves the match as it is.
   */
  replace(pattern: RegExp, replacement: (match: RegExpExecArray) => string | undefined): this {
    const edits = [...this.#text.matchAll(pattern)].flatMap((match) => {
      const text = replacement(match);
      return text === undefined ? [] : [{ from: match.index, to: match.index + match[0].length, text }];
    });
    return this.#apply(edits);
  }

  /** Removes these ranges, which are in order. */
  remove(ranges: readonly { readonly from: number; readonly to: number }[]): this {
    return this.#apply(ranges.map(({ from, to }) => ({ from, to, text: '' })));
  }

  /** Returns, for each word of the text as it is now, the number of original words that it stands for. */
  originalWords(): number[] {
    const words = [...this.#text.matchAll(WORD)].filter(([word]) => isSpoken(word));
    const counts = words.map(() => 0);
    let index = 0;
    for (const end of this.#wordEnds) {
      while (index < words.length - 1 && end > endOf(words[index])) index++;
      if (index < words.length) counts[index] = (counts[index] ?? 0) + 1;
    }
    return counts;
  }

  #apply(edits: readonly { readonly from: number; readonly to: number; readonly text: string }[]): this {
    let edited = '';
    let done = 0;
    let word = 0;
    const moveWords = (before: number, move: (end: number) => number) => {
      for (let end = this.#wordEnds[word]; end !== undefined && end <= before; end = this.#wordEnds[word])
        this.#wordEnds[word++] = move(end);
    };
    for (const { from, to, text } of edits) {
      const shift = edited.length - done;
      moveWords(from, (end) => end + shift);
      edited += this.#text.slice(done, from) + text;
      done = to;
      const endOfEdit = edited.length;
      moveWords(to, () => endOfEdit);
    }
    const shift = edited.length - done;
    moveWords(this.#text.length, (end) => end + shift);
    this.#text = edited + this.#text.slice(done);
    return this;
  }
}

function endOf(match: RegExpExecArray | undefined): number {
  return match ? match.index + match[0].length : 0;
}
