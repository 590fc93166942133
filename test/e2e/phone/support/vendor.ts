import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll } from 'vitest';

import { tone } from '../../../media/signals.ts';
import { type LoopbackServer, serveOnLoopback } from '../../../support/loopbackServer.ts';

/** What is asked for, whatever the request's form. */
export interface Asked {
  readonly request: IncomingMessage;
  /** Whole; JSON, or a form with a file. */
  readonly body: Buffer;
}

/** Answers one request, or does not. */
export type Conduct = (response: ServerResponse, asked: Asked) => unknown;

/** An OpenAI-compatible endpoint on loopback whose three services can be made to go wrong, each by itself. */
export interface Vendor {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  readonly conduct: Record<Service, Conduct>;
  /** How often each was asked since the last {@link behave}. */
  readonly asked: Record<Service, number>;
  /** All of them work again. */
  behave(): void;
}

export type Service = 'chat' | 'speech' | 'transcription';

const PATHS: Readonly<Record<string, Service>> = {
  '/v1/chat/completions': 'chat',
  '/v1/audio/speech': 'speech',
  '/v1/audio/transcriptions': 'transcription',
};
const SPEECH_RATE_HZ = 24_000;
export const AGENT_HZ = 1000;
/** Of every piece of speech, whatever its text: it begins and ends at its loudest. */
export const SPOKEN_MS = 400;
const SPOKEN = tone(SPEECH_RATE_HZ, AGENT_HZ, (SPEECH_RATE_HZ * SPOKEN_MS) / 1000);

const bytesOf = (samples: Int16Array) => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finishReason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'scripted',
  choices: [{ index: 0, delta, finish_reason: finishReason }],
});

/** Whatever it is asked, in one short sentence. */
export const speaks: Readonly<Record<Service, Conduct>> = {
  chat(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk({ role: 'assistant', content: 'That is fine.' })));
    response.end(`${event(chunk({}, 'stop'))}data: [DONE]\n\n`);
  },
  speech(response) {
    response.writeHead(200, { 'content-type': 'audio/pcm' }).end(bytesOf(SPOKEN));
  },
  transcription(response) {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Yes, please."}');
  },
};

/** Runs while the tests of a file do. */
export async function startVendor(): Promise<Vendor> {
  const conduct = { ...speaks };
  const asked = { chat: 0, speech: 0, transcription: 0 };
  const server: LoopbackServer = await serveOnLoopback(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const service = PATHS[request.url ?? ''];
    if (!service) return void response.writeHead(404).end();
    asked[service] += 1;
    await conduct[service](response, { request, body });
  });
  afterAll(() => server.close());
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    conduct,
    asked,
    behave() {
      Object.assign(conduct, speaks);
      Object.assign(asked, { chat: 0, speech: 0, transcription: 0 });
    },
  };
}
