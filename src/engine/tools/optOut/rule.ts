/** A way to say that the person wants no more calls. */
export interface OptOutRule {
  /** It has the flag `g`. */
  readonly wish: RegExp;
  readonly unless: Limits;
}

/** What stands before or after a wish that means something else: "stop calling me before nine". */
interface Limits {
  readonly before: RegExp;
  readonly after: RegExp;
}

/** Matches nothing. */
export const NONE: Limits = { before: /(?!)/, after: /(?!)/ };

export function rule(wish: RegExp, unless = NONE): OptOutRule {
  return { wish, unless };
}

/** @param words - In lower case, with no punctuation but apostrophes. */
export function isSaidIn(words: string, { wish, unless }: OptOutRule): boolean {
  return [...words.matchAll(wish)].some((match) => {
    const end = match.index + match[0].length;
    return !unless.before.test(words.slice(0, match.index)) && !unless.after.test(words.slice(end));
  });
}
