import { expect, test } from 'vitest';
import {
  meteredChat,
  meteredEmbedder,
  meteredRecogniser,
  meteredSpeech,
} from '../../src/providers/metered.ts';
import type { ChatModel } from '../../src/providers/ports/chatModel.ts';
import type { ProviderMetrics } from '../../src/providers/ports/metrics.ts';
import { ModelError } from '../../src/providers/ports/modelError.ts';

const away = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
const REQUEST = { model: 'm', messages: [] };
const never = new AbortController().signal;
const idle: ProviderMetrics = {
  recordError: () => undefined,
  recordFirstOutput: () => undefined,
  nowMs: () => 0,
};

/** A model whose reads give these, one after the other, and then fail or wait for ever. */
function chatOf(failure: unknown): ChatModel & { left: number } {
  const model = {
    name: 'scripted',
    left: 0,
    stream: () => {
      let reads = 0;
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            reads += 1;
            if (reads === 1) return { done: false as const, value: { type: 'text' as const, text: 'Hi' } };
            if (failure === undefined) return await new Promise<never>(() => undefined);
            throw failure;
          },
          return: async () => {
            model.left += 1;
            return { done: true as const, value: undefined };
          },
        }),
      };
    },
  };
  return model;
}

test.each([
  ['a model’s own failure', away, ['model_unavailable']],
  ['what its user aborted', new Error('aborted'), []],
])('%s is counted as it passes, and passes as it was', async (_what, failure, counted) => {
  const codes: string[] = [];
  const model = meteredChat(chatOf(failure), { ...idle, recordError: (code) => codes.push(code) });
  const texts: unknown[] = [];
  const reading = async () => {
    for await (const event of model.stream(REQUEST, never)) texts.push(event);
  };
  await expect(reading()).rejects.toBe(failure);
  expect([model.name, texts, codes]).toEqual(['scripted', [{ type: 'text', text: 'Hi' }], counted]);
});

test('who leaves while a read is pending leaves at once', async () => {
  const chat = chatOf(undefined);
  const reads = meteredChat(chat, idle).stream(REQUEST, never)[Symbol.asyncIterator]();
  await reads.next();
  void reads.next();
  await reads.return?.();
  expect(chat.left).toBe(1);
});

test('recognisers, speakers and encoders are counted too', async () => {
  const codes: string[] = [];
  const note: ProviderMetrics = { ...idle, recordError: (code) => void codes.push(code) };
  const fail = () => Promise.reject(away);
  const nothing = async () => undefined;
  const heard = meteredRecogniser(
    { name: 'r', openStream: () => ({ push: () => {}, finalize: fail, close: () => {} }), close: nothing },
    note,
  );
  await expect(heard.openStream({ sampleRateHz: 8000 }).finalize(never)).rejects.toBe(away);
  const spoken = meteredSpeech(
    {
      name: 's',
      sampleRateHz: 8000,
      isCacheable: true,
      synthesize: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }),
      close: nothing,
    },
    note,
  );
  const speak = spoken.synthesize({ text: 'Hi' }, never)[Symbol.asyncIterator]();
  await expect(speak.next()).rejects.toBe(away);
  const encoder = { name: 'text-embedding-3-small', dimensions: 1536 } as const;
  const embedded = meteredEmbedder({ model: encoder, batchSize: 1, embed: fail }, note);
  await expect(embedded.embed(['Hi'], never)).rejects.toBe(away);
  expect(codes).toEqual(Array(3).fill('model_unavailable'));
});

test('the wait for the first of an answer is told, once, and not that for the rest', async () => {
  let nowMs = 0;
  const waits: number[] = [];
  const watch: ProviderMetrics = {
    ...idle,
    recordFirstOutput: (waitedMs) => waits.push(waitedMs),
    nowMs: () => nowMs,
  };
  const speech = meteredSpeech(
    {
      name: 's',
      sampleRateHz: 8000,
      isCacheable: true,
      async *synthesize() {
        for (const afterMs of [120, 5000]) {
          nowMs += afterMs;
          yield new Int16Array(1);
        }
      },
      close: async () => undefined,
    },
    watch,
  );
  let pieces = 0;
  for await (const piece of speech.synthesize({ text: 'Hi' }, never)) pieces += piece.length;
  const transcription = meteredRecogniser(
    {
      name: 'r',
      openStream: () => ({
        push: () => {},
        async finalize() {
          nowMs += 300;
          return { text: 'Hi' };
        },
        close: () => {},
      }),
      close: async () => undefined,
    },
    watch,
  ).openStream({ sampleRateHz: 8000 });
  expect(await transcription.finalize(never)).toEqual({ text: 'Hi' });
  expect([pieces, waits]).toEqual([2, [120, 300]]);
});
