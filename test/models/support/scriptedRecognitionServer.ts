import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenOnLoopback } from '../../support/loopbackServer.ts';

/** A WebSocket server that plays a vendor's part. */
export interface ScriptedRecognitionServer {
  readonly baseUrl: string;
  /** Path, query and headers of each request. */
  readonly requests: IncomingMessage[];
  /** The text messages that it received, `null` for those that are no JSON. */
  readonly messages: unknown[];
  /** The audio messages that it received, as it received them. */
  readonly audio: (Buffer | string)[];
  readonly sockets: WebSocket[];
  /** To the last connection. */
  send(...messages: unknown[]): void;
}

export interface RecognitionScript {
  /** Whether a text message holds audio. */
  readonly isAudio?: (message: unknown) => boolean;
  /** Called when a connection is open. */
  readonly onOpen?: (socket: WebSocket) => void;
  /** Refuses the handshake with this status. */
  readonly refuseWith?: number;
  /** Never completes the handshake. */
  readonly isSlow?: boolean;
}

export async function startRecognitionServer(
  script: RecognitionScript = {},
): Promise<ScriptedRecognitionServer> {
  const server = createServer();
  const webSockets = new WebSocketServer({ noServer: true });
  const requests: IncomingMessage[] = [];
  const messages: unknown[] = [];
  const audio: (Buffer | string)[] = [];
  const sockets: WebSocket[] = [];
  const onMessage = (data: Buffer, isBinary: boolean) => {
    const text = String(data);
    const parsed = isBinary ? undefined : parse(text);
    if (isBinary) audio.push(data);
    else if (script.isAudio?.(parsed)) audio.push(text);
    else messages.push(parsed);
  };
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(request);
    if (script.isSlow) return;
    if (script.refuseWith !== undefined) {
      socket.end(`HTTP/1.1 ${script.refuseWith} Refused\r\n\r\n`);
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (opened) => {
      sockets.push(opened);
      opened.on('message', (data: Buffer, isBinary) => onMessage(data, isBinary));
      script.onOpen?.(opened);
    });
  });
  const { port, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    messages,
    audio,
    sockets,
    send(...told) {
      for (const message of told)
        sockets.at(-1)?.send(typeof message === 'string' ? message : JSON.stringify(message));
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
