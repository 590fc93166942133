import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { unavailable } from '../../base/errors.ts';
import type { App } from '../ports.ts';

/** Our own threads and nodes accept a connection at once. */
const CONNECT_TIMEOUT_MS = 5_000;
/** The time for the client to read what was sent to it and to close its half. */
const CLOSE_TIMEOUT_MS = 2_000;
const HANDSHAKE = /^(?:connection|upgrade|sec-websocket-.*)$/i;

/** The WebSockets of this server, which other threads answer. */
export interface WebSockets {
  isUpgrade(request: FastifyRequest): boolean;
  /**
   * Passes the connection of an upgrade request on. The bytes of both sides are neither read nor changed.
   *
   * @param url - `ws:` or `wss:`.
   * @throws {CallwayError} 503 `voice_unavailable` when nothing accepts connections there.
   */
  relay(request: FastifyRequest, reply: FastifyReply, url: string): Promise<void>;
}

/** Runs upgrade requests through hooks and routes, as all others. */
export function webSockets(app: App): WebSockets {
  /** The bytes that were read after the head of an upgrade request. */
  const upgrades = new WeakMap<IncomingMessage, Buffer>();
  const relayed = new Set<Socket>();
  app.server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    upgrades.set(request, head);
    const response = new ServerResponse(request);
    response.assignSocket(request.socket);
    app.routing(request, response);
  });
  app.addHook('preClose', async () => {
    for (const socket of relayed) socket.destroy();
  });
  return {
    isUpgrade: ({ raw }) => upgrades.has(raw),
    async relay({ raw }, reply, url) {
      const { socket } = raw;
      const target = await open(new URL(url));
      if (socket.destroyed) {
        target.destroy();
        return;
      }
      reply.hijack();
      reply.raw.detachSocket(socket);
      relayed.add(socket);
      socket.once('close', () => {
        relayed.delete(socket);
        target.destroy();
      });
      target.once('close', () => {
        socket.end();
        socket.setTimeout(CLOSE_TIMEOUT_MS, () => socket.destroy());
      });
      target.write(handshake(raw, new URL(url)));
      target.write(upgrades.get(raw) ?? '');
      for (const side of [socket, target]) side.setNoDelay(true).setTimeout(0);
      socket.pipe(target).pipe(socket);
    },
  };
}

async function open({ protocol, hostname, port }: URL): Promise<Socket> {
  const isSecure = protocol === 'wss:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const target = isSecure
    ? connectTls({ host, port: Number(port || 443), servername: host })
    : connect({ host, port: Number(port || 80) });
  target.setTimeout(CONNECT_TIMEOUT_MS, () => target.destroy(new Error('the connection took too long')));
  try {
    await once(target, isSecure ? 'secureConnect' : 'connect');
  } catch (error) {
    throw unavailable('voice', error);
  }
  target.on('error', () => target.destroy());
  return target;
}

/** The client's own handshake, so that its key is answered by the one who speaks with it. */
function handshake({ rawHeaders }: IncomingMessage, { pathname, host }: URL): string {
  const lines = [`GET ${pathname} HTTP/1.1`, `Host: ${host}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (HANDSHAKE.test(name)) lines.push(`${name}: ${rawHeaders[index + 1] ?? ''}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
