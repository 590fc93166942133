import type { Worker } from 'node:worker_threads';

import { startThread } from '../../base/thread.ts';
import { type Embedder, LOCAL_EMBEDDING_MODEL } from '../ports/embedder.ts';
import { ModelError } from '../ports/modelError.ts';
import type { EmbedAnswer, EmbedQuestion } from './embedderMessages.ts';

/** Keeps the thread's answers short: a question that waits behind a batch waits half a second at most. */
const BATCH_SIZE = 4;

interface Waiting {
  resolve(vectors: Float32Array[]): void;
  reject(error: Error): void;
}

export interface LocalEmbedder extends Embedder {
  /** Ends the thread; what still waits fails. Idempotent. */
  close(): Promise<void>;
}

/**
 * The sentence encoder that ships with the service: 512 dimensions, for English. It runs in a thread of its own, so
 * that nothing waits for it but who asked; the thread and the model are loaded for the first question.
 */
export function createLocalEmbedder(): LocalEmbedder {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let nextId = 1;
  let closed = false;

  const start = (): Worker => {
    const started = startThread(new URL('./embedderThread.ts', import.meta.url));
    // It must not keep a process alive that has nothing else to do.
    started.unref();
    started.on('message', (answer: EmbedAnswer) => settle(waiting, answer));
    started.once('error', (error) => drop(started, error.message));
    started.once('exit', () => drop(started, 'its thread has ended'));
    return started;
  };
  const drop = (ended: Worker, reason: string) => {
    if (worker !== ended) return;
    worker = undefined;
    for (const one of waiting.values()) one.reject(unavailable(reason));
    waiting.clear();
  };
  const ask = (texts: readonly string[]): Promise<Float32Array[]> => {
    if (closed) return Promise.reject(unavailable('the service is stopping'));
    worker ??= start();
    const question: EmbedQuestion = { id: nextId, texts };
    nextId += 1;
    const answered = new Promise<Float32Array[]>((resolve, reject) => {
      waiting.set(question.id, { resolve, reject });
    });
    worker.postMessage(question);
    return answered;
  };

  return {
    model: LOCAL_EMBEDDING_MODEL,
    batchSize: BATCH_SIZE,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += BATCH_SIZE) {
        signal.throwIfAborted();
        vectors.push(...(await ask(texts.slice(from, from + BATCH_SIZE))));
      }
      return vectors;
    },
    async close() {
      closed = true;
      await worker?.terminate();
    },
  };
}

function settle(waiting: Map<number, Waiting>, answer: EmbedAnswer): void {
  const one = waiting.get(answer.id);
  waiting.delete(answer.id);
  if ('error' in answer) one?.reject(unavailable(answer.error));
  else one?.resolve(answer.vectors);
}

function unavailable(reason: string): ModelError {
  return new ModelError('model_unavailable', `The local encoder failed: ${reason}`, {
    beforeFirstToken: true,
  });
}
