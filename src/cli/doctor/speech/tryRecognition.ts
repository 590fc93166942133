import { sleep } from '../../../base/async/sleep.ts';
import type { Clock } from '../../../base/values/clock.ts';
import { FRAME_MS } from '../../../media/codecs/codec.ts';
import { ModelError } from '../../../models/ports/modelError.ts';
import { isStreaming, type Recognizer } from '../../../models/ports/recognizer.ts';
import type { SpeechToText } from '../../../models/ports/speechToText.ts';
import type { RecognitionEvent, StreamingSpeechToText } from '../../../models/ports/streamingSpeechToText.ts';

/** A caller does not wait longer for words that are final. */
const LAST_WORDS_TIMEOUT_MS = 10_000;
/** The caller's silence before a vendor is asked for the end of the utterance. */
const ASKED_AFTER_MS = 300;

const FOREVER = new AbortController().signal;

/** The speech that a recognizer is tried with. */
export interface SpokenSample {
  readonly text: string;
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

export interface RecognitionTrial {
  readonly heard: string;
  /** The time from the first sample to the first words; undefined when an utterance is recognized at a time. */
  readonly firstWordsMs?: number;
  /** The time from the last sample to the final words. */
  readonly finalWordsMs: number;
}

/** Speaks to a recognizer at the pace of speech. @throws {ModelError} */
export function tryRecognition(
  recognizer: Recognizer,
  sample: SpokenSample,
  clock: Clock,
): Promise<RecognitionTrial> {
  return isStreaming(recognizer)
    ? tryStream(recognizer, sample, clock)
    : tryUtterance(recognizer, sample, clock);
}

async function tryUtterance(
  recognizer: SpeechToText,
  { text, samples, sampleRateHz }: SpokenSample,
  clock: Clock,
): Promise<RecognitionTrial> {
  const expectedAnswers = [text.toLowerCase().replace(/[^a-z ]/g, '')];
  const stream = recognizer.openStream({ sampleRateHz, language: 'en', expectedAnswers });
  try {
    stream.push(samples);
    const endedMs = clock.monotonicMs();
    const { text: heard } = await stream.finalize(AbortSignal.timeout(LAST_WORDS_TIMEOUT_MS));
    return { heard, finalWordsMs: clock.monotonicMs() - endedMs };
  } finally {
    stream.close();
  }
}

async function tryStream(
  recognizer: StreamingSpeechToText,
  { samples, sampleRateHz }: SpokenSample,
  clock: Clock,
): Promise<RecognitionTrial> {
  const startedMs = clock.monotonicMs();
  const seen: Seen = {};
  const connection = recognizer.connect({ sampleRateHz, language: 'en' }, (event) =>
    note(seen, event, clock.monotonicMs()),
  );
  const frameLength = (sampleRateHz * FRAME_MS) / 1000;
  const speak = async (frame: Int16Array) => {
    connection.push(frame);
    await sleep(clock, FRAME_MS, FOREVER);
    if (seen.error) throw seen.error;
  };
  try {
    for (let at = 0; at < samples.length; at += frameLength)
      await speak(samples.subarray(at, at + frameLength));
    const endedMs = clock.monotonicMs();
    const silence = new Int16Array(frameLength);
    let isAsked = false;
    while (!seen.final && clock.monotonicMs() - endedMs < LAST_WORDS_TIMEOUT_MS) {
      await speak(silence);
      if (isAsked || clock.monotonicMs() - endedMs < ASKED_AFTER_MS) continue;
      isAsked = true;
      if (!recognizer.detectsTurns) connection.finalize();
    }
    const { final, firstWordsAtMs } = seen;
    if (!final) throw new ModelError('model_unavailable', `${recognizer.name} has told no final words`);
    return {
      heard: final.heard,
      firstWordsMs: (firstWordsAtMs ?? final.atMs) - startedMs,
      finalWordsMs: Math.max(0, final.atMs - endedMs),
    };
  } finally {
    connection.close();
  }
}

/** The recognizer's reports so far. */
interface Seen {
  error?: ModelError;
  firstWordsAtMs?: number;
  final?: { readonly heard: string; readonly atMs: number };
}

function note(seen: Seen, event: RecognitionEvent, atMs: number): void {
  if (event.type === 'failed') seen.error = event.error;
  if (!('transcript' in event) || event.transcript.text === '') return;
  seen.firstWordsAtMs ??= atMs;
  if (event.type === 'final') seen.final = { heard: event.transcript.text, atMs };
}
