import type { Clock } from '../../base/values/clock.ts';
import { NO_WORDS } from '../../conversation/turns/recognizedWords.ts';
import { isStreaming, type Recognizer } from '../../models/ports/recognizer.ts';
import type { RecognitionOptions, Transcript } from '../../models/ports/speechToText.ts';
import type { StreamingSpeechToText } from '../../models/ports/streamingSpeechToText.ts';

/** The words of a streaming recognizer that does not end its turn are as they are by then. */
const LAST_WORDS_TIMEOUT_MS = 3000;

const NEVER_ABORTED = new AbortController().signal;

/**
 * Transcribes an utterance that is over.
 *
 * @throws {ModelError}
 */
export async function transcribeUtterance(
  recognizer: Recognizer,
  frames: readonly Int16Array[],
  options: RecognitionOptions,
  clock: Clock,
): Promise<Transcript> {
  if (isStreaming(recognizer)) return await transcribeStreaming(recognizer, frames, options, clock);
  const stream = recognizer.openStream(options);
  try {
    for (const frame of frames) stream.push(frame);
    return await stream.finalize(NEVER_ABORTED);
  } finally {
    stream.close();
  }
}

async function transcribeStreaming(
  recognizer: StreamingSpeechToText,
  frames: readonly Int16Array[],
  { expectedAnswers: _, onInterim: _onInterim, ...options }: RecognitionOptions,
  clock: Clock,
): Promise<Transcript> {
  let heard = NO_WORDS;
  let close: () => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const connection = recognizer.connect(options, (event) => {
        if (event.type === 'failed') reject(event.error);
        if (event.type === 'interim' || event.type === 'final') heard = event.transcript;
        if (event.type === 'final' || event.type === 'end_of_turn') resolve();
      });
      const timer = clock.setTimer(resolve, LAST_WORDS_TIMEOUT_MS);
      close = () => {
        connection.close();
        timer.cancel();
      };
      for (const frame of frames) connection.push(frame);
      connection.finalize();
    });
  } finally {
    close();
  }
  return heard;
}
