import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { voiced } from '../../test/media/support/signals.ts';

/** Published latencies, after the caller's last sound, and of the first token and the first sample. */
export const LATENCIES = { eagerEndMs: 160, endMs: 260, firstTokenMs: 250, firstSampleMs: 120 } as const;
/** What no gateway can save where the answer begins at the eager end. */
export const VENDORS_MS = LATENCIES.eagerEndMs + LATENCIES.firstTokenMs + LATENCIES.firstSampleMs;

const HEARD = 'I would like to know a little more about that.';
const ANSWER = 'This is the answer that was written for you, and it is long enough to be interrupted by you.';
/** The delays of these vendors are known. */
const NO_TIMES = JSON.stringify({ transcriptions: {}, answers: {}, speeches: {} });
const EVENTS_PATH = '/events';
const INTERIM_EVERY_MS = 250;
/** As the phones judge it, so that both mean the same last sound. */
const LOUD = 652;
const SYNTHESIS_RATE_HZ = 24_000;
const WORD_MS = 280;
const TOKEN_EVERY_MS = 20;

/** What reached the vendors, in ms since the Unix epoch: the caller's last sound, a request, the first word to speak. */
export interface VendorEvent {
  readonly type: 'last_sound' | 'request' | 'first_word';
  readonly atMs: number;
}

/** Reads what has reached the vendors since their start. */
export async function readVendorEvents(url: string): Promise<readonly VendorEvent[]> {
  return (await (await fetch(url + EVENTS_PATH)).json()) as VendorEvent[];
}

/** One server for chat, `stt.callway.v1` and `tts.callway.v1`, each with its scripted latency. */
export async function startSpeechVendors(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const events: VendorEvent[] = [];
  const note = (type: VendorEvent['type'], atMs = performance.now()) =>
    void events.push({ type, atMs: performance.timeOrigin + atMs });
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') {
      response.end(request.url === EVENTS_PATH ? JSON.stringify(events) : NO_TIMES);
      return;
    }
    request.once('end', () => {
      note('request');
      setTimeout(() => writeAnswer(response), LATENCIES.firstTokenMs);
    });
  });
  const sockets = new WebSocketServer({ server, handleProtocols: ([first]) => first ?? false });
  sockets.on('connection', (socket) => {
    if (socket.protocol.startsWith('stt')) recognize(socket, (atMs) => note('last_sound', atMs));
    else synthesize(socket, () => note('first_word'));
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
function writeAnswer(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream');
  const words = ANSWER.split(' ').map((word) => `${word} `);
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
function recognize(socket: WebSocket, onLastSound: (atMs: number) => void): void {
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
      tell({ type: 'partial', text: HEARD.split(' ').slice(0, interims).join(' ') });
    }
    clearTimeout(eager);
    clearTimeout(end);
    eager = setTimeout(() => {
      onLastSound(nowMs);
      tell({ type: 'final', text: HEARD });
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
function synthesize(socket: WebSocket, onFirstWord: () => void): void {
  const sound = voiced(SYNTHESIS_RATE_HZ, (WORD_MS * SYNTHESIS_RATE_HZ) / 1000);
  const samples = Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength);
  const cancelled = new Set<string>();
  const startedMs = new Map<string, number>();
  socket.on('message', (data: RawData) => {
    const { type, id, text } = JSON.parse(String(data)) as { type: string; id: string; text?: string };
    if (type === 'cancel') cancelled.add(id);
    if (type !== 'text' && type !== 'flush') return;
    if (!startedMs.has(id)) onFirstWord();
    const firstMs = startedMs.get(id) ?? performance.now() + LATENCIES.firstSampleMs;
    startedMs.set(id, firstMs);
    const speak = () => {
      if (cancelled.has(id)) return;
      for (const _word of text?.match(/\S+/g) ?? []) socket.send(samples);
      if (type === 'flush') socket.send(JSON.stringify({ type: 'done', id }));
    };
    setTimeout(speak, Math.max(0, firstMs - performance.now()));
  });
}
