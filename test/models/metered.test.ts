import { expect, test } from 'vitest';

import type { ChatModel } from '../../src/models/chatModel.ts';
import { meteredChat, meteredEmbedder, meteredRecogniser, meteredSpeech } from '../../src/models/metered.ts';
import { ModelError } from '../../src/models/modelError.ts';

const away = new ModelError('model_unavailable', 'away', { beforeFirstToken: true });
const REQUEST = { model: 'm', messages: [] };
const never = new AbortController().signal;

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
  const model = meteredChat(chatOf(failure), (code) => codes.push(code));
  const texts: unknown[] = [];
  const reading = async () => {
    for await (const event of model.stream(REQUEST, never)) texts.push(event);
  };
  await expect(reading()).rejects.toBe(failure);
  expect([model.name, texts, codes]).toEqual(['scripted', [{ type: 'text', text: 'Hi' }], counted]);
});

test('who leaves while a read is pending leaves at once', async () => {
  const chat = chatOf(undefined);
  const reads = meteredChat(chat, () => undefined)
    .stream(REQUEST, never)
    [Symbol.asyncIterator]();
  await reads.next();
  void reads.next();
  await reads.return?.();
  expect(chat.left).toBe(1);
});

test('recognisers, speakers and encoders are counted too', async () => {
  const codes: string[] = [];
  const note = (code: string) => void codes.push(code);
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
