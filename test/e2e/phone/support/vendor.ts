import { afterAll } from 'vitest';

import { tone } from '../../../media/support/signals.ts';
import { type LoopbackServer, serveOnLoopback } from '../../../support/loopbackServer.ts';

export type Service = 'chat' | 'speech' | 'transcription';

/** An HTTP response. */
export interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly body?: Uint8Array | string;
  /** Sent every 20 ms until the client disconnects. */
  readonly endlessly?: boolean;
}

/** How one request is answered: never, by a lost connection, and so on. */
export type Behaviour = Reply | 'hang' | 'reset';

/** An OpenAI-compatible endpoint on loopback. */
export interface Vendor {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string;
  /** As base URL of vendors whose keys are refused. */
  readonly refusingUrl: string;
}

const PATHS: Readonly<Record<string, Service>> = {
  '/v1/chat/completions': 'chat',
  '/v1/audio/speech': 'speech',
  '/v1/audio/transcriptions': 'transcription',
};
const SPEECH_RATE_HZ = 24_000;
const AGENT_HZ = 1000;
const SPOKEN_MS = 400;
const REPEAT_MS = 20;
const SPOKEN = tone(SPEECH_RATE_HZ, AGENT_HZ, (SPEECH_RATE_HZ * SPOKEN_MS) / 1000);

/** A chat model's streamed response. */
export function chatReply(text: string): Reply {
  const chunk = (delta: object, finishReason: string | null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const events = [chunk({ role: 'assistant', content: text }, null), chunk({}, 'stop')];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return { type: 'text/event-stream', body: `${body}data: [DONE]\n\n` };
}

/** Speech with a loud first and last sample, whatever its text. */
export const speechReply: Reply = {
  type: 'audio/pcm',
  body: new Uint8Array(SPOKEN.buffer),
};

export const transcriptionReply: Reply = { type: 'application/json', body: '{"text":"Yes, please."}' };

/** Runs for the tests of a file. @param conductOf - Chooses the behaviour by service and request text. */
export async function startVendor(
  conductOf: (service: Service, request: string) => Behaviour,
): Promise<Vendor> {
  const server: LoopbackServer = await serveOnLoopback(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('latin1');
    const service = PATHS[request.url ?? ''];
    // Other vendors' WebSockets come here too, with keys that are wrong.
    const other: Reply = { status: request.headers.upgrade ? 401 : 404 };
    const conduct = service ? conductOf(service, text) : other;
    if (conduct === 'hang') return;
    if (conduct === 'reset') return void response.socket?.resetAndDestroy();
    const { status = 200, type = 'application/json', body = '', endlessly = false } = conduct;
    response.writeHead(status, { 'content-type': type });
    if (!endlessly) return void response.end(body);
    const timer = setInterval(() => response.write(body), REPEAT_MS);
    response.on('close', () => clearInterval(timer));
  });
  afterAll(() => server.close());
  const refusingUrl = `http://127.0.0.1:${server.port}`;
  return { baseUrl: `${refusingUrl}/v1`, refusingUrl };
}
