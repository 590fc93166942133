import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { pcmu } from '../../../../src/media/codecs/g711.ts';
import { readPcm16, writePcm16 } from '../../../../src/media/pcm16.ts';
import { record } from '../../../streams/support/socketPair.ts';

export type Dialect = 'twilio' | 'callway';

/** A user's own bot: a WebSocket server that the gateway connects to. */
export interface Bot {
  readonly url: string;
  /** The next connection. */
  nextSession(): Promise<BotSession>;
}

export interface BotSession extends StreamPeer {
  readonly socket: WebSocket;
  /** The fields of its `start` message. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect whatever the gateway sends
  readonly start: any;
  /** Close code, once closed. */
  readonly closed: Promise<number>;
}

/** What either end of a stream receives and sends. */
export interface StreamPeer {
  readonly sampleRateHz: number;
  // biome-ignore lint/suspicious/noExplicitAny: text messages of either dialect
  readonly messages: readonly any[];
  /** Resolves with the first message of this event. */
  // biome-ignore lint/suspicious/noExplicitAny: text messages of either dialect
  text(event: string): Promise<any>;
  /** All audio received so far. */
  receivedAudio(): Int16Array;
  sendAudio(samples: Int16Array): void;
  send(message: object): void;
}

/** Starts a bot. @param closeLater - Concurrent tests need one that knows its test or file. */
export async function startBot(
  dialect: Dialect,
  closeLater: (close: () => Promise<void>) => void = onTestFinished,
): Promise<Bot> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('audio.callway.v1') ? 'audio.callway.v1' : false),
  });
  await once(server, 'listening');
  closeLater(async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const connections: { socket: WebSocket; recorded: ReturnType<typeof record> }[] = [];
  // Recorded from the first moment: `start` comes with the connection.
  server.on('connection', (socket) => connections.push({ socket, recorded: record(socket) }));
  let sessionCount = 0;
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/bot`,
    async nextSession() {
      const index = sessionCount++;
      while (connections.length <= index) await once(server, 'connection');
      const connection = connections[index];
      if (!connection) throw new Error('no connection');
      const { socket, recorded } = connection;
      const { start, streamSid } = (await recorded.text('start')) as {
        start: BotSession['start'];
        streamSid: string;
      };
      const closed = once(socket, 'close').then(([code]) => code as number);
      const end = streamPeer(socket, recorded, dialect, start.mediaFormat.sampleRate, streamSid);
      return { ...end, socket, start, closed };
    },
  };
}

/** Reads and writes a stream's audio in its dialect. */
export function streamPeer(
  socket: WebSocket,
  recorded: ReturnType<typeof record>,
  dialect: Dialect,
  sampleRateHz: number,
  streamSid: string,
): StreamPeer {
  const codec = pcmu.open();
  const send = (message: object) => socket.send(JSON.stringify({ streamSid, ...message }));
  const pieces = () =>
    recorded.messages.flatMap((message) => {
      if (Buffer.isBuffer(message)) return dialect === 'callway' ? [readPcm16(message)] : [];
      if (message.event !== 'media') return [];
      const bytes = Buffer.from((message.media as { payload: string }).payload, 'base64');
      const samples = new Int16Array(bytes.length);
      codec.decode(bytes, samples);
      return [samples];
    });
  return {
    sampleRateHz,
    messages: recorded.messages,
    text: recorded.text,
    receivedAudio: () => Int16Array.from(pieces().flatMap((piece) => [...piece])),
    send,
    sendAudio(samples) {
      if (dialect === 'callway') return socket.send(writePcm16(samples));
      const bytes = new Uint8Array(samples.length);
      codec.encode(samples, bytes);
      send({ event: 'media', media: { payload: Buffer.from(bytes).toString('base64') } });
    },
  };
}
