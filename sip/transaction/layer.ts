import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import { tagOf } from '../message/fields/nameAddr.ts';
import { bracketed, unbracketed } from '../message/fields/uri.ts';
import { BRANCH_COOKIE, formatVia, parseVia, type Via } from '../message/fields/via.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { makeResponse } from '../message/response.ts';
import { validateRequest, validateResponse } from '../message/validate.ts';
import type { Counters } from '../stats.ts';
import type { TransportLayer } from '../transport/layer.ts';
import type { Flow, ReceivedMessage } from '../transport/types.ts';
import {
  type ClientTransaction,
  type ClientTransactionUser,
  makeCancel,
  startClientTransaction,
} from './client.ts';
import type { SipTimes } from './machine.ts';
import { type ServerTransaction, startServerTransaction } from './server.ts';

/** The layer above: whoever answers requests. */
export interface TransactionUser {
  onRequest(transaction: ServerTransaction, received: ReceivedMessage): void;
  /** An ACK for a 2xx; those for other answers never come here. */
  onAck(ack: SipRequest, received: ReceivedMessage): void;
  /** A 2xx to an INVITE that no transaction waits for any more. */
  onStrayResponse(response: SipResponse, received: ReceivedMessage): void;
}

export interface TransactionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly times: SipTimes;
  readonly counters: Counters;
  readonly transport: Pick<TransportLayer, 'advertised' | 'flowTo' | 'isRefused'>;
  readonly maxTransactions: number;
  /** Whether a new request may begin now; one that may not is answered 503 and forgotten. */
  mayBegin(request: SipRequest, flow: Flow): boolean;
  readonly user: TransactionUser;
}

export interface TransactionLayer {
  /** Takes every message that the transports deliver. */
  receive(received: ReceivedMessage): void;
  /** Puts our Via on the request and sends it. */
  request(request: SipRequest, flow: Flow, user: ClientTransactionUser): ClientTransaction;
  /** Sends CANCEL for a pending INVITE; its own answer is nobody's business. */
  cancel(invite: ClientTransaction, headers?: Iterable<readonly [string, string]>): ClientTransaction;
  /** Puts our Via on a request that has no transaction (ACK for a 2xx) and sends it. */
  sendWithoutTransaction(request: SipRequest, flow: Flow, onError?: (error: Error) => void): string;
  /** The INVITE that a CANCEL means. */
  inviteOf(cancel: SipRequest): ServerTransaction | undefined;
  readonly size: { client: number; server: number };
  /** Requests of ours that begin or end a call and have no final answer yet. */
  readonly openCalls: number;
  close(): void;
}

/** What a crowded server tells callers, so that they do not come back at once. */
const RETRY_AFTER_SECONDS = '5';
/** @see RFC 3261 section 18.2.2 */
const DEFAULT_PORT = 5060;
const DEFAULT_TLS_PORT = 5061;
const OF_CALLS = new Set(['INVITE', 'CANCEL', 'BYE']);

export function createTransactionLayer(deps: TransactionDeps): TransactionLayer {
  const { counters, transport, user } = deps;
  const clients = new Map<string, ClientTransaction>();
  const servers = new Map<string, ServerTransaction>();

  const addVia = (request: SipRequest, flow: Flow): string => {
    const branch = `${BRANCH_COOKIE}${deps.ids.token()}`;
    const { host, port } = transport.advertised(flow);
    const name = flow.remote.transport.toUpperCase();
    request.headers.prepend('via', `SIP/2.0/${name} ${bracketed(host)}:${port};rport;branch=${branch}`);
    return branch;
  };
  const start = (
    key: string,
    request: SipRequest,
    flow: Flow,
    clientUser: ClientTransactionUser,
  ): ClientTransaction => {
    let over = false;
    const onTerminated = () => {
      over = true;
      clients.delete(key);
    };
    const isRefused = (to: Flow) => transport.isRefused(to.remote);
    const transaction = startClientTransaction(request, flow, clientUser, {
      ...deps,
      onTerminated,
      isRefused,
    });
    if (!over) clients.set(key, transaction);
    return transaction;
  };

  const onResponse = (response: SipResponse, received: ReceivedMessage): void => {
    const wrong = validateResponse(response);
    if (wrong !== undefined) {
      counters.count('dropped.bad_response');
      return;
    }
    const via = parseVia(response.headers.list('via')[0] ?? '');
    const method = methodOf(response);
    const transaction = clients.get(`${via.params.get('branch')} ${method}`);
    if (transaction) transaction.receive(response, received);
    else if (method === 'INVITE' && response.status >= 200 && response.status < 300) {
      user.onStrayResponse(response, received);
    } else counters.count('dropped.stray_response');
  };

  const onRequest = (request: SipRequest, received: ReceivedMessage): void => {
    const refusal = validateRequest(request);
    if (refusal) {
      counters.count('refused.malformed');
      refuseStateless(request, received.flow, refusal.status, refusal.reason, deps);
      return;
    }
    const source = noteSource(request, received.flow);
    const key = serverKey(request, source.via);
    const known = servers.get(key);
    if (request.method === 'ACK') {
      if (!known || known.acknowledged()) user.onAck(request, received);
      return;
    }
    if (known) {
      counters.count('retransmissions.in');
      known.retransmitted();
      return;
    }
    const isCrowded = clients.size + servers.size >= deps.maxTransactions;
    if (isCrowded || !deps.mayBegin(request, received.flow)) {
      counters.count(isCrowded ? 'refused.crowded' : 'refused.flood');
      refuseStateless(request, received.flow, 503, 'Service Unavailable', deps);
      return;
    }
    const flows = {
      received: received.flow,
      answer: answerFlow(source, received.flow, transport),
      fallback: fallbackFlow(source.via, received.flow, transport),
      lengthBytes: received.lengthBytes,
    };
    const transaction = startServerTransaction(request, flows, {
      ...deps,
      onTerminated: () => servers.delete(key),
    });
    servers.set(key, transaction);
    user.onRequest(transaction, received);
  };

  return {
    receive(received) {
      const { message } = received;
      if (message.kind === 'request') onRequest(message, received);
      else onResponse(message, received);
    },
    request(request, flow, clientUser) {
      const branch = addVia(request, flow);
      return start(`${branch} ${request.method}`, request, flow, clientUser);
    },
    cancel(invite, headers = []) {
      const request = makeCancel(invite.request);
      for (const [name, value] of headers) request.headers.setDefault(name, value);
      const branch = parseVia(request.headers.get('via') ?? '').params.get('branch');
      return start(`${branch} CANCEL`, request, invite.flow, silent);
    },
    sendWithoutTransaction(request, flow, onError) {
      addVia(request, flow);
      const text = formatMessage(request);
      flow.send(text, onError);
      return text;
    },
    inviteOf(cancel) {
      const via = parseVia(cancel.headers.list('via')[0] ?? '');
      return servers.get(serverKey({ ...cancel, method: 'INVITE' }, via));
    },
    get size() {
      return { client: clients.size, server: servers.size };
    },
    get openCalls() {
      const isOpen = ({ request, hasFinal }: ClientTransaction) => !hasFinal && OF_CALLS.has(request.method);
      return [...clients.values()].filter(isOpen).length;
    },
    close() {
      for (const transaction of clients.values()) transaction.stop();
      for (const transaction of servers.values()) transaction.stop();
      clients.clear();
      servers.clear();
    },
  };
}

const silent: ClientTransactionUser = {
  onResponse: () => undefined,
  onTimeout: () => undefined,
  onTransportError: () => undefined,
};

function methodOf(response: SipResponse): string {
  return response.headers.get('cseq')?.trim().split(/\s+/)[1] ?? '';
}

/**
 * Writes where the request really came from into its topmost Via.
 *
 * @returns That Via, and the port that answers go to over UDP: where the request came from, or, when the sender
 *   did not ask for that and sits behind no NAT, the port that it names.
 * @see RFC 3261 sections 18.2.1 and 18.2.2, RFC 3581 section 4
 */
function noteSource(request: SipRequest, flow: Flow): { via: Via; answerPort: number } {
  const [top = '', ...others] = request.headers.list('via');
  const via = parseVia(top);
  const { address, port } = flow.remote;
  const host = unbracketed(via.host);
  // A name tells nothing of a NAT, but that the sender listens where it says, and may send from anywhere.
  const isBehindNat = isIP(host) > 0 && host !== address;
  const answerPort = isBehindNat || via.params.has('rport') ? port : (via.port ?? DEFAULT_PORT);
  if (host !== address || via.params.has('rport')) via.params.set('received', address);
  via.params.set('rport', String(port));
  request.headers.replaceAll('via', [formatVia(via), ...others]);
  return { via, answerPort };
}

/** Where an answer goes: over a stream, back on the connection it came by. */
function answerFlow(
  { via, answerPort }: { via: Via; answerPort: number },
  flow: Flow,
  transport: Pick<TransportLayer, 'flowTo'>,
): Flow {
  if (flow.reliable) return flow;
  const maddr = via.params.get('maddr');
  const address = maddr !== undefined && isIP(maddr) > 0 ? maddr : flow.remote.address;
  if (answerPort === flow.remote.port && address === flow.remote.address) return flow;
  return transport.flowTo({ transport: 'udp', address, port: answerPort });
}

/** Where an answer goes whose connection was closed meanwhile: to the port that the sender named. */
function fallbackFlow(via: Via, flow: Flow, transport: Pick<TransportLayer, 'flowTo'>): Flow | undefined {
  if (!flow.reliable) return undefined;
  const port = via.port ?? (flow.remote.transport === 'tls' ? DEFAULT_TLS_PORT : DEFAULT_PORT);
  return transport.flowTo({ ...flow.remote, port });
}

/**
 * Two requests with the same key are one, sent twice.
 *
 * @see RFC 3261 section 17.2.3
 */
function serverKey(request: SipRequest, via: Via): string {
  const method = request.method === 'ACK' ? 'INVITE' : request.method;
  const branch = via.params.get('branch') ?? '';
  if (branch.startsWith(BRANCH_COOKIE) && branch.length > BRANCH_COOKIE.length) {
    return `${branch} ${via.host}:${via.port ?? ''} ${method}`;
  }
  const { headers } = request;
  const sequence = headers.get('cseq')?.trim().split(/\s+/)[0];
  return `2543 ${headers.get('call-id')} ${tagOf(headers.get('from'))} ${sequence} ${via.host}:${via.port ?? ''} ${branch} ${method}`;
}

/** Answers without remembering: the same refusal comes again if the request does. */
function refuseStateless(
  request: SipRequest,
  flow: Flow,
  status: number,
  reason: string,
  deps: TransactionDeps,
): void {
  if (request.method === 'ACK' || !request.headers.has('via')) return;
  const headers: Record<string, string> = status === 503 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {};
  flow.send(formatMessage(makeResponse(request, status, { reason, toTag: deps.ids.token(), headers })));
}
