import { parentPort } from 'node:worker_threads';
import { encodeSentences } from '../../../offline/sentenceEncoder.ts';
import { serveThread } from '../../base/threads/watchedThread.ts';

export interface SentenceEncoderMethods {
  /** @returns A vector of 512 dimensions per text, in order. */
  encode(texts: readonly string[]): Promise<Float32Array[]>;
}

// The entry of the thread that encodes sentences.
if (parentPort) serveThread(parentPort, { encode: encodeSentences } satisfies SentenceEncoderMethods);
