import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

export interface SocketPair {
  /** The connecting side. */
  readonly client: WebSocket;
  readonly server: WebSocket;
  readonly url: string;
  close(): Promise<void>;
}

/** Two ends of one real WebSocket over loopback. */
export async function openSocketPair(): Promise<SocketPair> {
  const listener = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(listener, 'listening');
  const url = `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const client = new WebSocket(url, { perMessageDeflate: false });
  const [[server]] = (await Promise.all([once(listener, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    unknown,
  ];
  return {
    client,
    server,
    url,
    async close() {
      client.terminate();
      server.terminate();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** Records the messages of a socket, text parsed, and waits for messages. */
export function record(socket: WebSocket) {
  const messages: (Record<string, unknown> | Buffer)[] = [];
  const waiting: (() => void)[] = [];
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    messages.push(
      isBinary ? Buffer.from(data) : (JSON.parse(data.toString('utf8')) as Record<string, unknown>),
    );
    for (const check of waiting.splice(0)) check();
  });
  const until = async <Found>(find: () => Found | undefined): Promise<Found> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return {
    messages,
    /** The first text message with this event. */
    text: (event: string) =>
      until(() =>
        messages.find(
          (message): message is Record<string, unknown> =>
            !Buffer.isBuffer(message) && message.event === event,
        ),
      ),
    count: (count: number) => until(() => (messages.length >= count ? messages : undefined)),
    binary: () => until(() => messages.find(Buffer.isBuffer)),
  };
}
