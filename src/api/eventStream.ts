import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

import type { Clock } from '../base/values/clock.ts';

/** Shorter than the idle time after which common proxies close a connection. */
export const KEEP_ALIVE_INTERVAL_MS = 15_000;
/** A client that reads nothing for this long is disconnected, so that its session becomes free. */
export const STALLED_CLIENT_TIMEOUT_MS = 60_000;

const KEEP_ALIVE_COMMENT = ': keep-alive\n\n';
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // Turns off response buffering in nginx.
  'x-accel-buffering': 'no',
};

/** Server-sent events to one client. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface EventStream {
  /** Sends complete events. @returns For a slow client, resolves when it can take more or has disconnected. */
  write(events: string): Promise<void> | undefined;
  /** Sends complete events to a client that is not waited for. */
  send(events: string): void;
  /** Sent, and not taken by the client yet. */
  readonly bufferedBytes: number;
  /** Resolves when the client has taken all, or has disconnected. */
  drained(): Promise<void>;
  /** Sends the last events and ends the response; a client that does not take them is disconnected. Idempotent. */
  end(events: string): void;
}

/** Starts a stream with all headers set on the reply so far. Fastify no longer manages the response. */
export function openEventStream(reply: FastifyReply, clock: Clock): EventStream {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>);
  let timer = clock.setTimer(keepAlive, KEEP_ALIVE_INTERVAL_MS);
  function keepAlive() {
    if (!raw.writableNeedDrain) raw.write(KEEP_ALIVE_COMMENT);
    timer = clock.setTimer(keepAlive, KEEP_ALIVE_INTERVAL_MS);
  }
  raw.once('close', () => timer.cancel());
  return {
    write(events) {
      if (raw.destroyed || raw.write(events)) return undefined;
      return drained(raw, clock);
    },
    send(events) {
      if (!raw.destroyed) raw.write(events);
    },
    get bufferedBytes() {
      return raw.writableLength;
    },
    async drained() {
      if (!raw.destroyed && raw.writableNeedDrain) await drained(raw, clock);
    },
    end(events) {
      timer.cancel();
      if (raw.destroyed || raw.writableEnded) return;
      const giveUp = clock.setTimer(() => raw.destroy(), STALLED_CLIENT_TIMEOUT_MS);
      raw.once('close', () => giveUp.cancel());
      raw.end(events);
    },
  };
}

function drained(raw: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timeout = clock.setTimer(() => raw.destroy(), STALLED_CLIENT_TIMEOUT_MS);
    const settle = () => {
      timeout.cancel();
      raw.off('drain', settle);
      raw.off('close', settle);
      resolve();
    };
    raw.once('drain', settle);
    raw.once('close', settle);
  });
}
