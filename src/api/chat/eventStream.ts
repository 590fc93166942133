import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

import type { Clock } from '../../base/clock.ts';

/** Shorter than the idle time after which common proxies close a connection. */
export const COMMENT_INTERVAL_MILLISECONDS = 15_000;
/** A client that takes nothing for so long is given up: its session must be free for others. */
export const STALLED_CLIENT_MILLISECONDS = 60_000;

const COMMENT = ': keep-alive\n\n';
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  // nginx and its kin would gather the whole answer first.
  'x-accel-buffering': 'no',
};

/** Server-sent events on their way to one client. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
export interface EventStream {
  /** Sends whole events at once. @returns Where the client is slow, when it has room again, or is gone. */
  write(events: string): Promise<void> | undefined;
  /** Sends the last events, and closes. */
  end(events: string): void;
}

/** Takes an answer over from Fastify, with all headers that were set on it, and begins a stream. */
export function openEventStream(reply: FastifyReply, clock: Clock): EventStream {
  const { raw } = reply;
  reply.hijack();
  raw.writeHead(200, { ...reply.getHeaders(), ...HEADERS } as Record<string, string>);
  let timer = clock.setTimer(comment, COMMENT_INTERVAL_MILLISECONDS);
  function comment() {
    if (!raw.writableNeedDrain) raw.write(COMMENT);
    timer = clock.setTimer(comment, COMMENT_INTERVAL_MILLISECONDS);
  }
  raw.once('close', () => timer.cancel());
  return {
    write(events) {
      if (raw.destroyed || raw.write(events)) return undefined;
      return roomAgain(raw, clock);
    },
    end(events) {
      timer.cancel();
      if (!raw.destroyed) raw.end(events);
    },
  };
}

/** Resolves once there is room, or nobody left to write to. */
function roomAgain(raw: ServerResponse, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const stalled = clock.setTimer(() => raw.destroy(), STALLED_CLIENT_MILLISECONDS);
    const settle = () => {
      stalled.cancel();
      raw.off('drain', settle);
      raw.off('close', settle);
      resolve();
    };
    raw.once('drain', settle);
    raw.once('close', settle);
  });
}
