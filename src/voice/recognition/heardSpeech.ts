import { isSpeech, type Utterance } from '../../conversation/turnDetection/speechActivity.ts';
import type { HeardSpeech } from '../../engine/history/historyStore.ts';

/**
 * What became of an utterance: its words were recognized, or it has none; `late` is one whose transcript failed or did
 * not come in time, `dropped` what was too short to be speech, or was not to be transcribed.
 */
export type UtteranceResult = 'with_words' | 'without_words' | 'dropped' | 'late';

const COUNTS = {
  with_words: 'withWords',
  without_words: 'withoutWords',
  dropped: 'dropped',
  late: 'late',
} as const satisfies Readonly<Record<UtteranceResult, keyof HeardSpeech>>;

/** Counts what a session has heard of its caller. */
export class HeardTally {
  readonly #onUtterance: ((result: UtteranceResult) => void) | undefined;
  #voicedMs = 0;
  readonly #counts = { withWords: 0, withoutWords: 0, dropped: 0, late: 0 };

  /** @param onUtterance - Called for each utterance once its result is known. */
  constructor(onUtterance?: (result: UtteranceResult) => void) {
    this.#onUtterance = onUtterance;
  }

  get heard(): HeardSpeech {
    const { withWords, withoutWords, dropped, late } = this.#counts;
    const utterances = withWords + withoutWords + dropped + late;
    return { voicedSeconds: Math.round(this.#voicedMs / 10) / 100, utterances, ...this.#counts };
  }

  /**
   * An utterance was closed.
   *
   * @param text - The utterance's transcript; undefined where there is none.
   * @param wasRequested - Whether its transcript was requested.
   */
  add(utterance: Utterance, text: string | undefined, wasRequested: boolean): void {
    const result = resultOf(utterance, text, wasRequested);
    this.#voicedMs += utterance.voicedMs;
    this.#counts[COUNTS[result]] += 1;
    this.#onUtterance?.(result);
  }
}

function resultOf(utterance: Utterance, text: string | undefined, wasRequested: boolean): UtteranceResult {
  if (text !== undefined && text !== '') return 'with_words';
  if (!isSpeech(utterance)) return 'dropped';
  if (text === '') return 'without_words';
  return wasRequested ? 'late' : 'dropped';
}
