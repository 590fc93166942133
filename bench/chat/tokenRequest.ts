/**
 * What a measurement wants from the upstream, written in the user's message so that it passes through the measured server:
 * a number of tokens, one per interval.
 */
export interface TokenRequest {
  readonly tokens: number;
  readonly gapMs: number;
}

const FORM = /^Say (\d+) tokens, one every (\d+) ms\.$/;

export function tokenRequestText({ tokens, gapMs }: TokenRequest): string {
  return `Say ${tokens} tokens, one every ${gapMs} ms.`;
}

/** @returns Undefined for any other text. */
export function parseTokenRequest(text: string): TokenRequest | undefined {
  const [, tokens, gapMs] = FORM.exec(text) ?? [];
  return tokens === undefined ? undefined : { tokens: Number(tokens), gapMs: Number(gapMs) };
}

/** A token of these answers, of usual length; marks tokens in a stream. */
export const TOKEN = 'word ';
export const TOKEN_ON_THE_WIRE = '"content":"word ';
