/** The process of the carriers: opens streams, and sends what callers say until it is told to hang up. */
import { randomUUID } from 'node:crypto';

import { isSampleRate } from '../../src/media/resample/resampler.ts';
import { carrierDialectNames, findCarrierDialect } from '../../src/streams/check/carrierDialects.ts';
import { connectToBot } from '../../src/streams/check/sockets.ts';
import { type DialectName, findDialect } from '../../src/streams/dialects/index.ts';
import { type StreamSocket, sendMessage } from '../../src/streams/transport/streamSocket.ts';

export interface Carriers {
  readonly dialect: DialectName;
  readonly sampleRateHz: number;
  readonly port: number;
  readonly streams: number;
}

/** Where the carrier, and not we, chooses it. */
export const carrierRates: Readonly<Partial<Record<DialectName, number>>> = {
  vonage: 16_000,
  'openai-realtime': 24_000,
};
const FRAME_MS = 20;

let sockets: StreamSocket[] = [];
let timer: NodeJS.Timeout | undefined;

process.on('message', async (order: Carriers | 'hang up') => {
  if (order === 'hang up') hangUp();
  else await call(order);
  process.send?.('done');
});

async function call({ dialect, sampleRateHz, port, streams }: Carriers): Promise<void> {
  const { isTcp } = findDialect(dialect);
  const url = isTcp ? `tcp://127.0.0.1:${port}` : `ws://127.0.0.1:${port}/${dialect}`;
  const calls: (() => void)[] = [];
  for (let n = 0; n < streams; n++) {
    const socket = await connectToBot(url, findDialect(dialect), {});
    socket.on('error', () => undefined);
    socket.on('message', () => undefined);
    sockets.push(socket);
    calls.push(speaker(dialect, sampleRateHz, socket));
  }
  const startedMs = performance.now();
  let frames = 0;
  timer = setInterval(() => {
    for (; frames * FRAME_MS < performance.now() - startedMs; frames++) for (const speak of calls) speak();
  }, FRAME_MS);
}

/** @returns Sends the next 20 ms. */
function speaker(dialect: DialectName, sampleRateHz: number, socket: StreamSocket): () => void {
  const noise = new Int16Array(sampleRateHz / 50).map(() => (Math.random() - 0.5) * 200);
  const name = carrierDialectNames.find((carrier) => carrier === dialect);
  if (name === undefined || !isSampleRate(sampleRateHz)) {
    const audio = Buffer.from(noise.buffer).toString('base64');
    const message = JSON.stringify({ type: 'input_audio_buffer.append', audio });
    sendMessage(socket, JSON.stringify({ type: 'session.update', session: {} }));
    return () => sendMessage(socket, message);
  }
  const connection = {
    send: (message: string | Uint8Array) => sendMessage(socket, message),
    close: () => socket.close(),
  };
  const id = randomUUID();
  const target = { url: '', dialect, streamId: id, callId: id, customParameters: {}, canReconnect: false };
  const client = findCarrierDialect(name).openClient(connection, { target, sampleRateHz });
  let position = 0;
  return () => {
    client.audio(noise, position);
    position += noise.length;
  };
}

function hangUp(): void {
  clearInterval(timer);
  for (const socket of sockets) socket.terminate();
  sockets = [];
}
