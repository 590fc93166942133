import type { Worker } from 'node:worker_threads';
import { startThread } from '../../base/thread.ts';
import { ModelError } from '../ports/modelError.ts';
import type { TextToSpeech } from '../ports/textToSpeech.ts';
import type { FliteAnswer, FliteRequest } from './fliteMessages.ts';

export const FLITE_RATE_HZ = 16_000;
/** The voice that recognisers understand best; `slt` is the other one at this rate. */
export const DEFAULT_FLITE_VOICE = 'rms';
/** A sentence takes 40 to 240 ms of one core: two threads serve some twenty calls that talk at once. */
const DEFAULT_THREADS = 2;
/** Longer texts are spoken in parts, so that the first words need not wait for the last. */
const LONGEST_PART_CHARACTERS = 220;

export interface FliteOptions {
  /** `rms` or `slt`. */
  readonly voice?: string;
  /** Most threads; each is started when it is first needed. */
  readonly threads?: number;
}

interface Job {
  readonly request: FliteRequest;
  readonly resolve: (samples: Int16Array) => void;
  readonly reject: (error: Error) => void;
}

/** Flite as WebAssembly in threads of its own: English, without any network, recognisable as a machine. */
export function createFlite(options: FliteOptions = {}): TextToSpeech {
  const pool = createPool(options.threads ?? DEFAULT_THREADS);
  const defaultVoice = options.voice ?? DEFAULT_FLITE_VOICE;
  return {
    name: 'flite',
    sampleRateHz: FLITE_RATE_HZ,
    isCacheable: true,
    async *synthesize({ text, voice = defaultVoice }, signal) {
      let isFirst = true;
      for (const part of partsOf(text)) {
        signal.throwIfAborted();
        const samples = await pool.run(part, voice, signal).catch((error: unknown) => {
          signal.throwIfAborted();
          const options = { beforeFirstToken: isFirst, cause: error };
          throw new ModelError('model_unavailable', 'The offline speech synthesis failed', options);
        });
        isFirst = false;
        if (samples.length > 0) yield samples;
      }
    },
    close: () => pool.close(),
  };
}

/** At the ends of sentences, or clauses, where a part would be too long. */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (const piece of text.trim().split(/(?<=[.!?;:,])\s+/)) {
    const last = parts.at(-1);
    const joined = last === undefined ? piece : `${last} ${piece}`;
    if (last !== undefined && joined.length <= LONGEST_PART_CHARACTERS) parts[parts.length - 1] = joined;
    else parts.push(piece);
  }
  return parts.filter((part) => /[\p{L}\p{N}]/u.test(part));
}

function createPool(size: number) {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const waiting: Job[] = [];
  const running = new Map<Worker, Job>();
  let nextId = 1;
  let closing: Promise<void> | undefined;

  const next = () => {
    while (waiting.length > 0 && (idle.length > 0 || all.size < size)) {
      const job = waiting.shift();
      const worker = idle.pop() ?? start();
      if (!job) return;
      running.set(worker, job);
      worker.ref();
      worker.postMessage(job.request);
    }
  };
  const start = (): Worker => {
    const worker = startThread(new URL('./fliteWorker.ts', import.meta.url));
    all.add(worker);
    worker.on('message', (answer: FliteAnswer) => {
      const job = running.get(worker);
      running.delete(worker);
      idle.push(worker);
      worker.unref();
      if ('samples' in answer) job?.resolve(answer.samples);
      else job?.reject(new Error(answer.error));
      next();
    });
    const lose = (error: Error) => {
      all.delete(worker);
      const index = idle.indexOf(worker);
      if (index >= 0) idle.splice(index, 1);
      running.get(worker)?.reject(error);
      running.delete(worker);
      if (!closing) next();
    };
    worker.on('error', lose);
    worker.on('exit', (code) => lose(new Error(`the speech thread ended with code ${code}`)));
    return worker;
  };

  return {
    run(text: string, voice: string, signal: AbortSignal): Promise<Int16Array> {
      if (closing) return Promise.reject(new Error('the speech synthesis is closed'));
      return new Promise<Int16Array>((resolve, reject) => {
        const job: Job = {
          request: { id: nextId++, text, voice },
          resolve(samples) {
            signal.removeEventListener('abort', leave);
            resolve(samples);
          },
          reject(error) {
            signal.removeEventListener('abort', leave);
            reject(error);
          },
        };
        const leave = () => {
          const index = waiting.indexOf(job);
          if (index >= 0) waiting.splice(index, 1);
          // One that is being spoken runs to its end, and nobody listens.
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(job);
        next();
      });
    },
    close(): Promise<void> {
      closing ??= (async () => {
        for (const job of waiting.splice(0)) job.reject(new Error('the speech synthesis was closed'));
        await Promise.all([...all].map((worker) => worker.terminate()));
      })();
      return closing;
    },
  };
}
