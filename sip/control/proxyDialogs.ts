import type { Timer } from '../clock.ts';
import {
  cloneRequest,
  cloneResponse,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts';
import { parseNameAddr, tagOf } from '../message/nameAddr.ts';
import { makeResponse } from '../message/respond.ts';
import { parseSipOnly, type SipUri } from '../message/uri.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { Hub } from './hub.ts';
import { inOrder } from './leg.ts';

/** The dialogs whose requests pass through us without an application seeing them. */
export interface ProxyBook {
  readonly dialogs: Map<string, Timer>;
  /** Requests on their way, to be withdrawn when the sender withdraws them. */
  readonly underWay: Map<ServerTransaction, () => void>;
}

/** A proxied call whose BYE never passed is forgotten after so long. */
const MAX_CALL_MS = 12 * 3_600_000;

export function createProxyBook(): ProxyBook {
  return { dialogs: new Map(), underWay: new Map() };
}

export function closeProxyBook(book: ProxyBook): void {
  for (const timer of book.dialogs.values()) timer.cancel();
  book.dialogs.clear();
  book.underWay.clear();
}

/** Remembers a call that runs through us, by the 2xx that made it. */
export function rememberProxied(hub: Hub, book: ProxyBook, response: SipResponse): void {
  const key = keyOf(response);
  book.dialogs.get(key)?.cancel();
  book.dialogs.set(
    key,
    hub.clock.setTimer(() => book.dialogs.delete(key), MAX_CALL_MS),
  );
}

export function isProxied(book: ProxyBook, request: SipRequest): boolean {
  return book.dialogs.size > 0 && book.dialogs.has(keyOf(request));
}

/** Passes an ACK on; nobody answers those. */
export function forwardAck(hub: Hub, ack: SipRequest): void {
  const forwarded = readyToForward(hub, ack);
  if (!forwarded) return;
  inOrder(
    undefined,
    () => hub.locate(nextHop(forwarded)),
    ([target]) => {
      if (target) hub.transactions.sendOnce(forwarded, hub.transport.flowTo(target));
    },
    () => hub.counters.count('requests.unroutable'),
  );
}

/** Passes a request of a proxied dialog on, and its answers back. @see RFC 3261 section 16 */
export function forwardInDialog(hub: Hub, book: ProxyBook, transaction: ServerTransaction): void {
  const { request } = transaction;
  const refuse = (status: number) => {
    book.underWay.delete(transaction);
    transaction.respond(makeResponse(request, status, { toTag: hub.ids.token() }));
  };
  if (request.method === 'INVITE') transaction.respond(makeResponse(request, 100));
  const forwarded = readyToForward(hub, request);
  if (!forwarded) {
    refuse(483);
    return;
  }
  inOrder(
    undefined,
    () => hub.locate(nextHop(forwarded)),
    ([target]) => {
      if (!target) return refuse(404);
      const client = hub.transactions.request(forwarded, hub.transport.flowTo(target), {
        onResponse: (response) => {
          if (response.status === 100) return;
          transaction.respond(withoutOurVia(response));
          if (response.status < 200) return;
          book.underWay.delete(transaction);
          if (request.method === 'BYE') forget(hub, book, request);
        },
        onTimeout: () => refuse(408),
        onTransportError: () => refuse(503),
      });
      book.underWay.set(transaction, () => hub.transactions.cancel(client));
    },
    () => refuse(404),
  );
}

/** The answer as the hop before us must see it. */
export function withoutOurVia(response: SipResponse): SipResponse {
  const copy = cloneResponse(response);
  copy.headers.replaceAll('via', copy.headers.list('via').slice(1));
  return copy;
}

/** Takes our own Route off and counts the hop. @returns `undefined` when it has made too many */
export function readyToForward(hub: Hub, request: SipRequest): SipRequest | undefined {
  const copy = cloneRequest(request);
  const hops = Number(copy.headers.get('max-forwards') ?? 70);
  if (hops <= 0) return undefined;
  copy.headers.set('max-forwards', String(hops - 1));
  const routes = copy.headers.list('route');
  while (routes[0] !== undefined && isOurs(hub, routes[0])) routes.shift();
  copy.headers.replaceAll('route', routes);
  return copy;
}

function isOurs(hub: Hub, route: string): boolean {
  const { host, port, scheme } = parseSipOnly(parseNameAddr(route).uri);
  return hub.transport.isSelf(host, port ?? (scheme === 'sips' ? 5061 : 5060));
}

/** @throws {SipParseError} When it is a URI that we cannot route. */
export function nextHop(request: SipRequest): SipUri {
  const [route] = request.headers.list('route');
  return parseSipOnly(route === undefined ? request.uri : parseNameAddr(route).uri);
}

function forget(hub: Hub, book: ProxyBook, bye: SipRequest): void {
  const key = keyOf(bye);
  book.dialogs.get(key)?.cancel();
  if (book.dialogs.delete(key)) {
    hub.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'normal-release', message: bye });
  }
}

/** The same whichever side sends. */
function keyOf(message: SipMessage): string {
  const tags = [tagOf(message.headers.get('from')) ?? '', tagOf(message.headers.get('to')) ?? ''].sort();
  return `${message.headers.get('call-id')} ${tags.join(' ')}`;
}
