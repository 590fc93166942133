import type { Clock } from '../../base/values/clock.ts';

/** Minimum interval between searches for a growing transcript, most of which are discarded. */
const MIN_INTERVAL_MS = 1000;
/** Fewer additional characters do not change the query. */
const MIN_NEW_CHARACTERS = 8;
/** Limits the load that a caller with many pauses puts on a slow encoder. */
const MAX_PENDING = 3;

/** Starts the retrieval for an answer while the caller still speaks. */
export interface RetrievalPrefetch {
  onInterimTranscript(text: string): void;
  /** The transcript up to a pause: most likely the turn's text, so it is searched for at once. */
  onTranscript(text: string): void;
}

/** @param start - Starts a search; undefined where there is nothing to search. Never rejects. */
export function createRetrievalPrefetch(
  clock: Clock,
  start: (text: string) => Promise<void> | undefined,
): RetrievalPrefetch {
  let lastText = '';
  let startedMs = Number.NEGATIVE_INFINITY;
  let pending = 0;

  const search = (text: string) => {
    const started = start(text);
    if (!started) return;
    lastText = text;
    startedMs = clock.monotonicMs();
    pending += 1;
    void started.finally(() => {
      pending -= 1;
    });
  };
  const hasGrown = (text: string) =>
    text.length >= (text.startsWith(lastText) ? lastText.length : 0) + MIN_NEW_CHARACTERS;

  return {
    onInterimTranscript(text) {
      const isDue = pending === 0 && clock.monotonicMs() - startedMs >= MIN_INTERVAL_MS;
      if (isDue && hasGrown(text)) search(text);
    },
    onTranscript(text) {
      if (text !== '' && pending < MAX_PENDING) search(text);
    },
  };
}
