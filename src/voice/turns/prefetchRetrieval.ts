import type { Clock } from '../../base/clock.ts';

/** Words that are still growing are searched for at most so often; most of these searches are in vain. */
const LEAST_INTERVAL_MS = 1000;
/** Fewer characters more make no other question. */
const GROWN_BY_CHARACTERS = 8;
/** Where an encoder is slow to answer, a caller who pauses often does not ask it ever more. */
const MOST_UNDER_WAY = 3;

/** Has the answer's search begun while the caller still speaks, or may go on. */
export interface PrefetchRetrieval {
  /** What the caller has said so far; the recogniser is still at it. */
  onPartial(words: string): void;
  /** All that the caller has said up to a pause: most likely the turn's words, and so never put off. */
  onWords(words: string): void;
}

/**
 * Of words that grow, one search runs at a time, one begins a second, and only for words that grew by some. Nobody
 * waits for any of it.
 *
 * @param begin - Begins a search, where there is something to search. Never rejects.
 */
export function createPrefetchRetrieval(
  clock: Clock,
  begin: (words: string) => Promise<void> | undefined,
): PrefetchRetrieval {
  let newest = '';
  let begunMs = Number.NEGATIVE_INFINITY;
  let running = 0;

  const search = (words: string) => {
    const begun = begin(words);
    if (!begun) return;
    newest = words;
    begunMs = clock.monotonicMs();
    running += 1;
    void begun.finally(() => {
      running -= 1;
    });
  };
  const hasGrown = (words: string) =>
    words.length >= (words.startsWith(newest) ? newest.length : 0) + GROWN_BY_CHARACTERS;

  return {
    onPartial(words) {
      const isFree = running === 0 && clock.monotonicMs() - begunMs >= LEAST_INTERVAL_MS;
      if (isFree && hasGrown(words)) search(words);
    },
    onWords(words) {
      if (words !== '' && running < MOST_UNDER_WAY) search(words);
    },
  };
}
