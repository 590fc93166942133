import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { voiced } from '../../test/media/support/signals.ts';

const SPEECH_RATE_HZ = 24_000;
/** Long enough to be interrupted. */
const SPEECH_SECONDS = 2.5;
const WORDS_OF_CALLERS = 'I would like to know a little more about that, question';

/** Scripted delays. A timer of a busy machine fires late: subtracted from the gateway's part is what a model took. */
const TRANSCRIPTION_MS = 150;
const ANSWER_MS = 120;
const SPEECH_MS = 80;
/** Added by the answer's number: packets leave every 20 ms, so that a random moment waits half of that. */
const SPREAD_MS = 40;

const TIMES_PATH = '/times';

/** How long each response took, from the arrival of its request, by its number. */
export type ModelTimes = Record<'transcriptions' | 'answers' | 'speeches', Record<number, number>>;

type Respond = (kind: keyof ModelTimes, number: number, delayMs: number, body: Buffer | string) => unknown;

/**
 * An OpenAI-compatible endpoint for chat, transcription and speech, each with a delay given by the answer's number. No two
 * answers are alike, so that no speech comes from a cache.
 */
export async function startSpeakingUpstream(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const samples = voiced(SPEECH_RATE_HZ, SPEECH_SECONDS * SPEECH_RATE_HZ);
  const speech = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const took: ModelTimes = { transcriptions: {}, answers: {}, speeches: {} };
  let transcriptions = 0;
  let answers = 0;
  const server = createServer((request, response) => {
    const arrivedMs = performance.now();
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      const { url = '' } = request;
      const respond: Respond = (kind, number, delayMs, body) =>
        setTimeout(() => {
          response.end(body);
          took[kind][number] = performance.now() - arrivedMs;
        }, delayMs);
      if (url.endsWith(TIMES_PATH)) response.end(JSON.stringify(took));
      else answer(url, Buffer.concat(pieces).toString('latin1'), response, respond);
    });
  });
  const answer = (url: string, body: string, response: ServerResponse, respond: Respond) => {
    if (url.endsWith('/audio/speech')) {
      const number = numberOf(body);
      respond('speeches', number, speechMs(number), speech);
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    if (url.endsWith('/audio/transcriptions')) {
      transcriptions += 1;
      // Not a number at the end, which would count as dictated.
      const text = `${WORDS_OF_CALLERS} ${transcriptions}, please.`;
      const words = event({ type: 'transcript.text.done', text });
      respond('transcriptions', transcriptions, TRANSCRIPTION_MS, words);
      return;
    }
    answers += 1;
    const words = [...wordsOf(answers).map(event), 'data: [DONE]\n\n'].join('');
    respond('answers', answers, answerMs(answers), words);
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

export async function readModelTimes(url: string): Promise<ModelTimes> {
  const response = await fetch(url + TIMES_PATH);
  return (await response.json()) as ModelTimes;
}

/**
 * The models' part of a turn: an answer and its speech, and how late the transcript was. A transcript in time is there
 * before the end of the caller's turn is certain.
 */
export function modelMs(took: ModelTimes, heard: string, said: string): number {
  const number = numberOf(said);
  const question = Number(/question (\d+)/.exec(heard)?.[1]);
  const lateMs = Math.max(0, (took.transcriptions[question] ?? 0) - TRANSCRIPTION_MS);
  return (took.answers[number] ?? 0) + (took.speeches[number] ?? 0) + lateMs;
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
