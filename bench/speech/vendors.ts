import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { voiced } from '../../test/media/support/signals.ts';

/** Published latencies, after the caller's last sound, and of the first token and the first sample. */
export const LATENCIES = { eagerEndMs: 160, endMs: 260, firstTokenMs: 250, firstSampleMs: 120 } as const;

/**
 * What a recognizer's connection hears, with its number: so that each vendor knows whose turn it is. A number at its end
 * would be one that is being dictated.
 */
const heardBy = (caller: number) =>
  `This is caller ${caller}, I would like to know a little more about that.`;
const answerTo = (caller: number) =>
  `Caller ${caller}, this is the answer that was written for you, and it is long enough to be interrupted by you.`;
const CALLER = /caller (\d+)/gi;
/** The delays of these vendors are known. */
const NO_TIMES = JSON.stringify({ transcriptions: {}, answers: {}, speeches: {} });
const EVENTS_PATH = '/events';
const INTERIM_EVERY_MS = 250;
/** As the phones judge it, so that both mean the same last sound. */
const LOUD = 652;
const SYNTHESIS_RATE_HZ = 24_000;
const WORD_MS = 280;
const TOKEN_EVERY_MS = 20;

/**
 * What reached a vendor, and when it answered, in ms since the Unix epoch: the caller's last sound and its eager end, a
 * request and its first token, the first word to speak and its first sample.
 */
export interface VendorEvent {
  readonly type: 'last_sound' | 'eager_end' | 'request' | 'first_token' | 'first_word' | 'first_sample';
  /** As numbered by the recognizer; undefined before it is known. */
  caller: number | undefined;
  readonly atMs: number;
}

/** The number of the caller that a text speaks of last. */
export function callerIn(text: string): number | undefined {
  const number = [...text.matchAll(CALLER)].at(-1)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Reads what has reached the vendors since their start. */
export async function readVendorEvents(url: string): Promise<readonly VendorEvent[]> {
  return (await (await fetch(url + EVENTS_PATH)).json()) as VendorEvent[];
}

type Note = (type: VendorEvent['type'], caller: number | undefined, atMs?: number) => VendorEvent;

/** One server for chat, `stt.callway.v1` and `tts.callway.v1`, each with its scripted latency. */
export async function startSpeechVendors(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const events: VendorEvent[] = [];
  const note: Note = (type, caller, atMs = performance.now()) => {
    const event = { type, caller, atMs: performance.timeOrigin + atMs };
    events.push(event);
    return event;
  };
  const answer = (question: string, response: ServerResponse) => {
    const caller = callerIn(question);
    note('request', caller);
    setTimeout(() => {
      note('first_token', caller);
      writeAnswer(response, answerTo(caller ?? 0));
    }, LATENCIES.firstTokenMs);
  };
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      request.resume();
      response.end(request.url === EVENTS_PATH ? JSON.stringify(events) : NO_TIMES);
      return;
    }
    void text(request).then((question) => answer(question, response));
  });
  let callers = 0;
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  sockets.on('connection', (socket) => {
    if (socket.protocol.startsWith('stt')) {
      callers += 1;
      recognize(socket, callers, note);
    } else synthesize(socket, note);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A token every 20 ms. */
function writeAnswer(response: ServerResponse, answer: string): void {
  response.setHeader('content-type', 'text/event-stream');
  const words = answer.split(' ').map((word) => `${word} `);
  const write = () => {
    const content = words.shift();
    const finish = content === undefined ? 'stop' : null;
    const chunk = {
      ...{ id: 'bench', object: 'chat.completion.chunk', created: 0, model: 'bench' },
      choices: [{ index: 0, delta: content === undefined ? {} : { content }, finish_reason: finish }],
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (content !== undefined) setTimeout(write, TOKEN_EVERY_MS);
    else response.end('data: [DONE]\n\n');
  };
  write();
}

/** Hears one sentence in whatever sounds, and tells its end by the last loud sample. */
function recognize(socket: WebSocket, caller: number, note: Note): void {
  const heard = heardBy(caller);
  let startedMs: number | undefined;
  let interims = 0;
  let eager: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  const tell = (message: object) => socket.send(JSON.stringify(message));
  const onSound = () => {
    const nowMs = performance.now();
    startedMs ??= nowMs;
    if (nowMs - startedMs >= (interims + 1) * INTERIM_EVERY_MS) {
      interims += 1;
      tell({ type: 'partial', text: heard.split(' ').slice(0, interims).join(' ') });
    }
    clearTimeout(eager);
    clearTimeout(end);
    eager = setTimeout(() => {
      note('last_sound', caller, nowMs);
      note('eager_end', caller);
      tell({ type: 'final', text: heard });
      tell({ type: 'end_of_turn', eager: true });
    }, LATENCIES.eagerEndMs);
    end = setTimeout(() => {
      tell({ type: 'end_of_turn', eager: false });
      startedMs = undefined;
      interims = 0;
    }, LATENCIES.endMs);
  };
  socket.on('message', (data: RawData, isBinary) => {
    if (isBinary && isLoud(data as Buffer)) onSound();
  });
  socket.on('close', () => {
    clearTimeout(eager);
    clearTimeout(end);
  });
}

function isLoud(samples: Buffer): boolean {
  for (let at = 0; at + 1 < samples.length; at += 2)
    if (Math.abs(samples.readInt16LE(at)) > LOUD) return true;
  return false;
}

/** Speaks each word for 280 ms. */
function synthesize(socket: WebSocket, note: Note): void {
  const sound = voiced(SYNTHESIS_RATE_HZ, (WORD_MS * SYNTHESIS_RATE_HZ) / 1000);
  const samples = Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength);
  const cancelled = new Set<string>();
  const spoken = new Map<
    string,
    { words: string; readonly firstMs: number; readonly events: VendorEvent[] }
  >();
  socket.on('message', (data: RawData) => {
    const { type, id, text } = JSON.parse(String(data)) as { type: string; id: string; text?: string };
    if (type === 'cancel') cancelled.add(id);
    if (type !== 'text' && type !== 'flush') return;
    const started = spoken.get(id) ?? {
      words: '',
      firstMs: performance.now() + LATENCIES.firstSampleMs,
      events: [note('first_word', undefined)],
    };
    spoken.set(id, started);
    started.words += text ?? '';
    for (const event of started.events) event.caller = callerIn(started.words);
    const speak = () => {
      if (cancelled.has(id)) return;
      if (started.events.length === 1) started.events.push(note('first_sample', callerIn(started.words)));
      for (const _word of text?.match(/\S+/g) ?? []) socket.send(samples);
      if (type === 'flush') socket.send(JSON.stringify({ type: 'done', id }));
    };
    setTimeout(speak, Math.max(0, started.firstMs - performance.now()));
  });
}
