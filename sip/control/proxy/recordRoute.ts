import type { Timer } from '../../clock.ts';
import { parseNameAddr, tagOf } from '../../message/fields/nameAddr.ts';
import { parseRoutableUri, type SipUri } from '../../message/fields/uri.ts';
import {
  cloneRequest,
  cloneResponse,
  type SipMessage,
  type SipRequest,
  type SipResponse,
} from '../../message/message.ts';
import { makeResponse } from '../../message/response.ts';
import type { ServerTransaction } from '../../transaction/server.ts';
import type { Core } from '../core.ts';
import { runInOrder } from '../dialogs/routing.ts';

/** The record-routed dialogs; their requests are forwarded without an application. */
export interface ProxiedDialogs {
  readonly dialogs: Map<string, Timer>;
  /** Cancels pending forwarded requests. */
  readonly pending: Map<ServerTransaction, () => void>;
}

/** A dialog without a BYE is forgotten after this time. */
const MAX_CALL_MS = 12 * 3_600_000;

export function createProxiedDialogs(): ProxiedDialogs {
  return { dialogs: new Map(), pending: new Map() };
}

export function closeProxiedDialogs(proxied: ProxiedDialogs): void {
  for (const timer of proxied.dialogs.values()) timer.cancel();
  proxied.dialogs.clear();
  proxied.pending.clear();
}

/** Remembers the dialog of a forwarded 2xx. */
export function addProxiedDialog(core: Core, proxied: ProxiedDialogs, response: SipResponse): void {
  const key = keyOf(response);
  proxied.dialogs.get(key)?.cancel();
  proxied.dialogs.set(
    key,
    core.clock.setTimer(() => proxied.dialogs.delete(key), MAX_CALL_MS),
  );
}

export function isProxied(proxied: ProxiedDialogs, request: SipRequest): boolean {
  return proxied.dialogs.size > 0 && proxied.dialogs.has(keyOf(request));
}

/** Forwards an ACK. */
export function forwardAck(core: Core, ack: SipRequest): void {
  const forwarded = prepareForwarding(core, ack);
  if (!forwarded) return;
  runInOrder(
    undefined,
    () => core.resolve(nextHop(forwarded)),
    ([target]) => {
      if (target) core.transactions.sendWithoutTransaction(forwarded, core.transport.flowTo(target));
    },
    () => core.counters.count('requests.unroutable'),
  );
}

/** Forwards an in-dialog request and its responses. @see RFC 3261 section 16 */
export function forwardInDialog(core: Core, proxied: ProxiedDialogs, transaction: ServerTransaction): void {
  const { request } = transaction;
  const refuse = (status: number) => {
    proxied.pending.delete(transaction);
    transaction.respond(makeResponse(request, status, { toTag: core.ids.token() }));
  };
  if (request.method === 'INVITE') transaction.respond(makeResponse(request, 100));
  const forwarded = prepareForwarding(core, request);
  if (!forwarded) {
    refuse(483);
    return;
  }
  runInOrder(
    undefined,
    () => core.resolve(nextHop(forwarded)),
    ([target]) => {
      if (!target) return refuse(404);
      const client = core.transactions.request(forwarded, core.transport.flowTo(target), {
        onResponse: (response) => {
          if (response.status === 100) return;
          transaction.respond(withoutOurVia(response));
          if (response.status < 200) return;
          proxied.pending.delete(transaction);
          if (request.method === 'BYE') forget(core, proxied, request);
        },
        onTimeout: () => refuse(408),
        onTransportError: () => refuse(503),
      });
      proxied.pending.set(transaction, () => core.transactions.cancel(client));
    },
    () => refuse(404),
  );
}

/** Removes our Via. @see RFC 3261 section 16.7 step 3 */
export function withoutOurVia(response: SipResponse): SipResponse {
  const copy = cloneResponse(response);
  copy.headers.replaceAll('via', copy.headers.list('via').slice(1));
  return copy;
}

/** Removes our Route and decrements Max-Forwards. @returns Undefined when Max-Forwards is 0 */
export function prepareForwarding(core: Core, request: SipRequest): SipRequest | undefined {
  const copy = cloneRequest(request);
  const hops = Number(copy.headers.get('max-forwards') ?? 70);
  if (hops <= 0) return undefined;
  copy.headers.set('max-forwards', String(hops - 1));
  const routes = copy.headers.addresses('route');
  while (routes[0] !== undefined && isOurs(core, routes[0])) routes.shift();
  copy.headers.replaceAll('route', routes);
  return copy;
}

function isOurs(core: Core, route: string): boolean {
  const { host, port, scheme } = parseRoutableUri(parseNameAddr(route).uri);
  return core.transport.isSelf(host, port ?? (scheme === 'sips' ? 5061 : 5060));
}

/** @throws {SipParseError} When the URI cannot be routed. */
export function nextHop(request: SipRequest): SipUri {
  const [route] = request.headers.addresses('route');
  return parseRoutableUri(route === undefined ? request.uri : parseNameAddr(route).uri);
}

function forget(core: Core, proxied: ProxiedDialogs, bye: SipRequest): void {
  const key = keyOf(bye);
  proxied.dialogs.get(key)?.cancel();
  if (proxied.dialogs.delete(key)) {
    core.announceCdr({ verb: 'cdr:stop', source: 'network', detail: 'normal-release', message: bye });
  }
}

/** Returns a dialog's key, which is equal for both directions. */
function keyOf(message: SipMessage): string {
  const tags = [tagOf(message.headers.get('from')) ?? '', tagOf(message.headers.get('to')) ?? ''].sort();
  return `${message.headers.get('call-id')} ${tags.join(' ')}`;
}
