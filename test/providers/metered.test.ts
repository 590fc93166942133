import { expect, test } from 'vitest';

import type { ChatModel } from '../../src/providers/chatModel.ts';
import {
  type ModelWatch,
  meteredChat,
  meteredEmbedder,
  meteredRecogniser,
  meteredSpeech,
} from '../../src/providers/metered.ts';
import { ModelError } from '../../src/providers/modelError.ts';

const away = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
const REQUEST = { model: 'm', messages: [] };
const never = new AbortController().signal;
const idle: ModelWatch = { onError: () => undefined, onAnswer: () => undefined, nowMs: () => 0 };

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
  const model = meteredChat(chatOf(failure), { ...idle, onError: (code) => codes.push(code) });
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
  const note: ModelWatch = { ...idle, onError: (code) => void codes.push(code) };
  const fail = () => Promise.reject(away);
  const nothing = async () => undefined;
  const heard = meteredRecogniser(
    { name: 'r', open: () => ({ push: () => {}, transcribe: fail, close: () => {} }), close: nothing },
    note,
  );
  await expect(heard.open({ sampleRateHz: 8000 }).transcribe(never)).rejects.toBe(away);
  const spoken = meteredSpeech(
    {
      name: 's',
      sampleRateHz: 8000,
      isCacheable: true,
      speak: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }),
      close: nothing,
    },
    note,
  );
  const speak = spoken.speak({ text: 'Hi' }, never)[Symbol.asyncIterator]();
  await expect(speak.next()).rejects.toBe(away);
  const encoder = { name: 'text-embedding-3-small', dimensions: 1536 } as const;
  const embedded = meteredEmbedder({ encoder, batchSize: 1, embed: fail }, note);
  await expect(embedded.embed(['Hi'], never)).rejects.toBe(away);
  expect(codes).toEqual(Array(3).fill('model_unavailable'));
});

test('the wait for the first of an answer is told, once, and not that for the rest', async () => {
  let nowMs = 0;
  const waits: number[] = [];
  const watch: ModelWatch = { ...idle, onAnswer: (waitedMs) => waits.push(waitedMs), nowMs: () => nowMs };
  const speech = meteredSpeech(
    {
      name: 's',
      sampleRateHz: 8000,
      isCacheable: true,
      async *speak() {
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
  for await (const piece of speech.speak({ text: 'Hi' }, never)) pieces += piece.length;
  const transcription = meteredRecogniser(
    {
      name: 'r',
      open: () => ({
        push: () => {},
        async transcribe() {
          nowMs += 300;
          return { text: 'Hi' };
        },
        close: () => {},
      }),
      close: async () => undefined,
    },
    watch,
  ).open({ sampleRateHz: 8000 });
  expect(await transcription.transcribe(never)).toEqual({ text: 'Hi' });
  expect([pieces, waits]).toEqual([2, [120, 300]]);
});
