import type { Clock } from '../base/values/clock.ts';
import { callway } from '../dialects/callway.ts';
import type { ClientDialect } from '../dialects/dialect.ts';
import type { StreamClient } from '../media/agentStream/streamClient.ts';
import { SUPERVISOR_CHANNELS, type SupervisorGate } from '../media/supervision/supervisorStream.ts';
import { SocketStreamClient } from './connectStream.ts';
import { makeTicket, STREAM_PATH, TICKET_LIFETIME_MS } from './streamTickets.ts';
import { listenForStreams, type StreamListener } from './transport/streamListener.ts';
import type { StreamSocket } from './transport/streamSocket.ts';

export interface SupervisorGateDeps {
  /** The address to listen on, at a free port. */
  readonly host: string;
  readonly clock: Clock;
}

/** What a ticket stands for. */
interface Place {
  readonly dialect: 'callway';
  readonly accept: (socket: StreamSocket) => void;
}

/** Our own dialect, with both sides of the call, and closed without waiting for the supervisor. */
const DIALECT: ClientDialect = {
  ...callway,
  openClient(connection, request) {
    const client = callway.openClient(connection, { ...request, channels: SUPERVISOR_CHANNELS });
    return { ...client, agentClosesAfterStop: false };
  },
};

/**
 * Accepts supervisors' WebSockets in a media thread. It listens from the first supervisor on. Tickets live in this
 * thread's memory: the public ticket leads here.
 */
export function createSupervisorGate({ host, clock }: SupervisorGateDeps): SupervisorGate {
  const waiting = new Map<string, Place>();
  let listening: Promise<StreamListener> | undefined;
  const open = () =>
    listenForStreams<Place>(host, {
      redeem: async (ticket) => take(waiting, ticket),
      serve: async ({ accept }, socket) => accept(socket),
      // Tickets in memory can always be read.
      onError: () => undefined,
    });
  const listen = () => {
    listening ??= open().catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  };
  return {
    async admit(request, handler) {
      const { port } = await listen();
      const ticket = makeTicket();
      const connected = new Promise<StreamClient | undefined>((resolve) => {
        const expire = () => {
          timer.cancel();
          waiting.delete(ticket);
          resolve(undefined);
        };
        const timer = clock.setTimer(expire, TICKET_LIFETIME_MS);
        if (request.signal.aborted) return expire();
        request.signal.addEventListener('abort', expire, { once: true });
        const accept = (socket: StreamSocket) => {
          timer.cancel();
          request.signal.removeEventListener('abort', expire);
          resolve(new SocketStreamClient(socket, DIALECT, request, handler, { clock }));
        };
        waiting.set(ticket, { dialect: 'callway', accept });
      });
      return { port, path: `${STREAM_PATH}/${ticket}`, connected };
    },
    async close() {
      await (await listening?.catch(() => undefined))?.close();
    },
  };
}

function take(waiting: Map<string, Place>, ticket: string): Place | undefined {
  const place = waiting.get(ticket);
  waiting.delete(ticket);
  return place;
}
