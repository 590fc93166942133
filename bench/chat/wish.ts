/**
 * What a measurement wants of the upstream, said in the user's message so that it reaches the upstream through whatever
 * is measured: so many tokens, one each so many milliseconds.
 */
export interface Wish {
  readonly tokens: number;
  readonly gapMs: number;
}

const FORM = /^Say (\d+) tokens, one every (\d+) ms\.$/;

export function wishText({ tokens, gapMs }: Wish): string {
  return `Say ${tokens} tokens, one every ${gapMs} ms.`;
}

/** @returns Undefined for any other text. */
export function parseWish(text: string): Wish | undefined {
  const [, tokens, gapMs] = FORM.exec(text) ?? [];
  return tokens === undefined ? undefined : { tokens: Number(tokens), gapMs: Number(gapMs) };
}

/** A token of the wished answers, as long as those of usual text; how a reader knows it in a stream. */
export const TOKEN = 'word ';
export const TOKEN_ON_THE_WIRE = '"content":"word ';
