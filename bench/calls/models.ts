import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { voiced } from '../../test/media/support/signals.ts';

const SPEECH_RATE_HZ = 24_000;
/** Long enough to be interrupted. */
const SPEECH_SECONDS = 2.5;
const WORDS_OF_CALLERS = 'I would like to know a little more about that';

/** Scripted delays, subtracted from the gateway's part. */
const TRANSCRIPTION_MS = 150;
const ANSWER_MS = 120;
const SPEECH_MS = 80;
/** Added by the answer's number: packets leave every 20 ms, so that a random moment waits half of that. */
const SPREAD_MS = 40;

/**
 * An OpenAI-compatible endpoint for chat, transcription and speech, each with a delay given by the answer's number. No two
 * answers are alike, so that no speech comes from a cache.
 */
export async function startSpeakingUpstream(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const samples = voiced(SPEECH_RATE_HZ, SPEECH_SECONDS * SPEECH_RATE_HZ);
  const speech = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  let answers = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => answer(request, Buffer.concat(pieces).toString('latin1'), response));
  });
  const answer = ({ url = '' }: IncomingMessage, body: string, response: ServerResponse) => {
    if (url.endsWith('/audio/speech')) {
      setTimeout(() => response.end(speech), speechMs(numberOf(body)));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    if (url.endsWith('/audio/transcriptions')) {
      const words = event({ type: 'transcript.text.done', text: WORDS_OF_CALLERS });
      setTimeout(() => response.end(words), TRANSCRIPTION_MS);
      return;
    }
    answers += 1;
    const words = [...wordsOf(answers).map(event), 'data: [DONE]\n\n'].join('');
    setTimeout(() => response.end(words), answerMs(answers));
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

/** The models' delay for a spoken answer, from its request to its first sample. */
export function scriptedMs(content: string): number {
  const number = numberOf(content);
  return answerMs(number) + speechMs(number);
}

function answerMs(number: number): number {
  return ANSWER_MS + ((number * 17) % SPREAD_MS);
}

function speechMs(number: number): number {
  return SPEECH_MS + ((number * 14) % SPREAD_MS);
}

function numberOf(text: string): number {
  return Number(/the number (\d+)/.exec(text)?.[1] ?? 0);
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
