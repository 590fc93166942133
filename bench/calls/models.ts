import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { voiced } from '../../test/media/signals.ts';

const SPEECH_RATE_HZ = 24_000;
/** Long enough to be cut into. */
const SPEECH_SECONDS = 2.5;
const WORDS_OF_CALLERS = 'I would like to know a little more about that';

/**
 * An OpenAI-compatible endpoint that talks, listens and speaks without taking any time: what a turn takes over it is
 * the gateway's own. No two answers are alike, so that no speech comes from a cache.
 */
export async function startSpeakingUpstream(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const samples = voiced(SPEECH_RATE_HZ, SPEECH_SECONDS * SPEECH_RATE_HZ);
  const speech = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  let answers = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(request, response));
  });
  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    if (url.endsWith('/audio/speech')) return response.end(speech);
    response.setHeader('content-type', 'text/event-stream');
    if (url.endsWith('/audio/transcriptions')) {
      return response.end(event({ type: 'transcript.text.done', text: WORDS_OF_CALLERS }));
    }
    answers += 1;
    return response.end([...wordsOf(answers).map(event), 'data: [DONE]\n\n'].join(''));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function wordsOf(answer: number): object[] {
  const chunk = (delta: object, finishReason: string | null = null) => ({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 0,
    model: 'bench',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const words = `This is the answer with the number ${answer} of all.`.split(' ');
  return [...words.map((word) => chunk({ content: `${word} ` })), chunk({}, 'stop')];
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
