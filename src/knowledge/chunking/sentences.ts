import { sentenceSpans } from './segments.ts';

/** A heading or an exclamation goes with the sentence that follows it. */
const MIN_CHARACTERS = 24;
/** Longer chunks have longer parts, not more. */
const MAX_SENTENCES = 32;

/**
 * The sentences of a chunk, to be embedded each by itself; short ones are joined.
 *
 * @returns Empty where the chunk is one sentence.
 */
export function sentencesOf(content: string): string[] {
  const minLength = Math.max(MIN_CHARACTERS, Math.ceil(content.length / MAX_SENTENCES));
  const limits = { maxLength: content.length, maxPartLength: content.length };
  const parts: { start: number; end: number }[] = [];
  for (const span of sentenceSpans(content, limits)) {
    const last = parts.at(-1);
    if (last && last.end - last.start < minLength) last.end = span.end;
    else parts.push({ ...span });
  }
  const [last, beforeLast] = [parts.at(-1), parts.at(-2)];
  if (last && beforeLast && last.end - last.start < minLength) {
    beforeLast.end = last.end;
    parts.pop();
  }
  return parts.length > 1 ? parts.map(({ start, end }) => content.slice(start, end)) : [];
}
