import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import { createChatClient } from '../../../src/models/chat/chatClient.ts';
import { createChat } from '../../../src/vendors/anthropic/provider.ts';
import { createOpenAiEmbedder } from '../../../src/vendors/openai/embedder.ts';
import { createOpenAiEndpoint } from '../../../src/vendors/openai/endpoint.ts';
import { createOpenAiSpeechToText } from '../../../src/vendors/openai/speechToText.ts';
import { createOpenAiTextToSpeech } from '../../../src/vendors/openai/textToSpeech.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import { useCleanups } from '../../support/cleanups.ts';
import {
  HOSTILE_ANSWERS,
  HOSTILE_ERRORS,
  type HostileAnswer,
  startHostileServer,
} from '../../support/hostileAnswers.ts';
import { longestTaskMs } from '../../support/mainThreadTime.ts';
import { clientOf, forever, QUESTION } from '../../vendors/openai/support/chatRig.ts';

/** Of what is read, decompressed, and on its way between two sockets. */
const MAX_SENT_BYTES = 64 * 1024 * 1024;
const MAX_GROWN_BYTES = 100 * 1024 * 1024;
const MAX_DELAY_MS = 250;

const cleanups = useCleanups();
const deps = { clock: systemClock, timeoutMs: 10_000 };

function openAiAt(port: number) {
  const endpoint = createOpenAiEndpoint({ baseUrl: `http://127.0.0.1:${port}/v1` });
  cleanups.push(() => endpoint.close());
  return endpoint;
}

/** One request of each kind over HTTP. */
const REQUESTS: Readonly<Record<string, (port: number) => Promise<unknown>>> = {
  chat: (port) => arrayFromAsync(clientOf(openAiAt(port)).stream(QUESTION, forever)),
  'chat of Anthropic': (port) => {
    const options = { ...deps, credentials: { baseUrl: `http://127.0.0.1:${port}` } };
    const provider = createChat({
      ...options,
      makeId: () => 'id',
      onRefused: () => undefined,
      searchPath: '',
      warn: () => undefined,
    });
    cleanups.push(() => provider.close());
    return arrayFromAsync(createChatClient(provider, deps).stream(QUESTION, forever));
  },
  embeddings: (port) => createOpenAiEmbedder(openAiAt(port), 'text-embedding-3-small').embed(['a'], forever),
  transcription: (port) => {
    const endpoint = openAiAt(port);
    const stream = createOpenAiSpeechToText({ ...deps, endpoint, model: 'x' }).openStream({
      sampleRateHz: 8000,
    });
    stream.push(new Int16Array(800));
    return stream.finalize(forever);
  },
  speech: (port) => {
    const speech = createOpenAiTextToSpeech({ ...deps, endpoint: openAiAt(port), model: 'm', voice: 'v' });
    return arrayFromAsync(speech.synthesize({ text: 'Hello' }, forever));
  },
};

/** What the request fails with, while the process neither grows nor stops. */
async function failureOf(request: (port: number) => Promise<unknown>, answer: HostileAnswer) {
  const server = await startHostileServer(answer);
  cleanups.push(() => server.close());
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 5);
  let error: unknown;
  const longestMs = await longestTaskMs(async () => {
    error = await request(server.port).catch((thrown: unknown) => thrown);
  });
  clearInterval(sampling);
  expect(peak - before).toBeLessThan(MAX_GROWN_BYTES);
  expect(longestMs).toBeLessThan(MAX_DELAY_MS);
  expect(server.sentBytes()).toBeLessThan(MAX_SENT_BYTES);
  await expect.poll(() => server.open()).toBe(0);
  return error;
}

describe.each(Object.entries(REQUESTS))('A vendor of %s', (kind, request) => {
  test.each(Object.entries(HOSTILE_ERRORS))(
    'may send an endless error %s: its status counts',
    async (_, answer) => {
      expect(await failureOf(request, answer())).toMatchObject({
        code: 'model_unavailable',
        message: expect.stringContaining('500'),
      });
    },
  );

  test.each(Object.entries(HOSTILE_ANSWERS))(
    'may send an answer without the end %s',
    async (what, answer) => {
      const isAudio = kind === 'speech' && what === 'of no type';
      const expected = isAudio ? "The endpoint's speech does not end" : expect.any(String);
      expect(await failureOf(request, answer())).toMatchObject({
        code: 'model_malformed',
        message: expected,
      });
    },
  );
});
