import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import { tagOf } from '../message/fields/nameAddr.ts';
import { bracketed, unbracketed } from '../message/fields/uri.ts';
import { BRANCH_COOKIE, formatVia, parseVia, type Via } from '../message/fields/via.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import { makeResponse } from '../message/response.ts';
import { validateRequest, validateResponse } from '../message/validate.ts';
import type { ObserveRefusal } from '../refusals.ts';
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

/** The TU of server transactions. @see RFC 3261 section 6, "transaction user" */
interface TransactionUser {
  onRequest(transaction: ServerTransaction, received: ReceivedMessage): void;
  /** An ACK to a 2xx; those to other responses belong to the transaction. */
  onAck(ack: SipRequest, received: ReceivedMessage): void;
  /** A 2xx to an INVITE without a transaction. */
  onStrayResponse(response: SipResponse, received: ReceivedMessage): void;
}

export interface TransactionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly times: SipTimes;
  readonly counters: Counters;
  readonly transport: TransportLayer;
  readonly maxTransactions: number;
  /** Returns true when a new request is within the limits. Otherwise it gets a stateless 503. */
  mayBegin(request: SipRequest, flow: Flow): boolean;
  /** A request was rejected without a transaction. */
  readonly onRefused?: ObserveRefusal | undefined;
  readonly user: TransactionUser;
}

const RETRY_AFTER_SECONDS = '5';
/** @see RFC 3261 section 18.2.2 */
const DEFAULT_PORT = 5060;
const DEFAULT_TLS_PORT = 5061;
/** The length of a stateless tag, 64 bits. */
const STATELESS_TAG_LENGTH = 16;
const CALL_METHODS = new Set(['INVITE', 'CANCEL', 'BYE']);

/** The transactions, matched to received messages. @see RFC 3261 section 17 */
export class TransactionLayer {
  readonly #deps: TransactionDeps;
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #servers = new Map<string, ServerTransaction>();
  readonly #tagKey = randomBytes(32);

  constructor(deps: TransactionDeps) {
    this.#deps = deps;
  }

  get size(): { client: number; server: number } {
    return { client: this.#clients.size, server: this.#servers.size };
  }

  /** Our requests that start or end a call and have no final response. */
  get openCalls(): number {
    const isOpen = ({ request, hasFinal }: ClientTransaction) =>
      !hasFinal && CALL_METHODS.has(request.method);
    return [...this.#clients.values()].filter(isOpen).length;
  }

  /** Handles each message of the transports. */
  receive(received: ReceivedMessage): void {
    const { message } = received;
    if (message.kind === 'request') this.#onRequest(message, received);
    else this.#onResponse(message, received);
  }

  /** Adds our Via to the request and sends it. */
  request(request: SipRequest, flow: Flow, user: ClientTransactionUser): ClientTransaction {
    const branch = this.#addVia(request, flow);
    return this.#start(`${branch} ${request.method}`, request, flow, user);
  }

  /** Sends CANCEL for a pending INVITE; its response is ignored. */
  cancel(invite: ClientTransaction, headers: Iterable<readonly [string, string]> = []): ClientTransaction {
    const request = makeCancel(invite.request);
    for (const [name, value] of headers) request.headers.setDefault(name, value);
    const branch = parseVia(request.headers.get('via') ?? '').params.get('branch');
    return this.#start(`${branch} CANCEL`, request, invite.flow, ignoring);
  }

  /** Adds our Via to a request without a transaction (ACK to a 2xx) and sends it. */
  sendWithoutTransaction(request: SipRequest, flow: Flow, onError?: (error: Error) => void): string {
    this.#addVia(request, flow);
    const text = formatMessage(request);
    flow.send(text, onError);
    return text;
  }

  /** Returns the INVITE of a CANCEL. */
  inviteOf(cancel: SipRequest): ServerTransaction | undefined {
    const via = parseVia(cancel.headers.list('via')[0] ?? '');
    return this.#servers.get(serverKey({ ...cancel, method: 'INVITE' }, via));
  }

  close(): void {
    for (const transaction of this.#clients.values()) transaction.stop();
    for (const transaction of this.#servers.values()) transaction.stop();
    this.#clients.clear();
    this.#servers.clear();
  }

  #addVia(request: SipRequest, flow: Flow): string {
    const branch = `${BRANCH_COOKIE}${this.#deps.ids.token()}`;
    const { host, port } = this.#deps.transport.advertised(flow);
    const name = flow.remote.transport.toUpperCase();
    request.headers.prepend('via', `SIP/2.0/${name} ${bracketed(host)}:${port};rport;branch=${branch}`);
    return branch;
  }

  #start(key: string, request: SipRequest, flow: Flow, user: ClientTransactionUser): ClientTransaction {
    let isTerminated = false;
    const onTerminated = () => {
      isTerminated = true;
      this.#clients.delete(key);
    };
    const isPortUnreachable = (to: Flow) => this.#deps.transport.isPortUnreachable(to.remote);
    const deps = { ...this.#deps, onTerminated, isPortUnreachable };
    const transaction = startClientTransaction(request, flow, user, deps);
    if (!isTerminated) this.#clients.set(key, transaction);
    return transaction;
  }

  /** @see RFC 3261 section 17.1.3 */
  #onResponse(response: SipResponse, received: ReceivedMessage): void {
    const { counters, user } = this.#deps;
    if (validateResponse(response) !== undefined) {
      counters.count('dropped.bad_response');
      return;
    }
    const via = parseVia(response.headers.list('via')[0] ?? '');
    const method = methodOf(response);
    const transaction = this.#clients.get(`${via.params.get('branch')} ${method}`);
    if (transaction) transaction.receive(response, received);
    else if (method === 'INVITE' && response.status >= 200 && response.status < 300) {
      user.onStrayResponse(response, received);
    } else counters.count('dropped.stray_response');
  }

  #onRequest(request: SipRequest, received: ReceivedMessage): void {
    const { counters, user } = this.#deps;
    const rejection = validateRequest(request);
    if (rejection) {
      counters.count('refused.malformed');
      this.#rejectStateless(request, received.flow, rejection.status, rejection.reason);
      return;
    }
    const source = recordSource(request, received.flow);
    const key = serverKey(request, source.via);
    const known = this.#servers.get(key);
    if (request.method === 'ACK') {
      if (!known || known.acknowledged()) user.onAck(request, received);
    } else if (known) {
      counters.count('retransmissions.in');
      known.retransmitted();
    } else if (this.#hasCapacity(request, received.flow)) {
      const transaction = this.#startServer(key, request, source, received);
      user.onRequest(transaction, received);
    } else this.#rejectStateless(request, received.flow, 503, 'Service Unavailable');
  }

  #hasCapacity(request: SipRequest, flow: Flow): boolean {
    const { counters, maxTransactions } = this.#deps;
    const isCrowded = this.#clients.size + this.#servers.size >= maxTransactions;
    if (!isCrowded && this.#deps.mayBegin(request, flow)) return true;
    counters.count(isCrowded ? 'refused.crowded' : 'refused.flood');
    return false;
  }

  #startServer(
    key: string,
    request: SipRequest,
    source: RequestSource,
    { flow, lengthBytes }: ReceivedMessage,
  ): ServerTransaction {
    const { transport } = this.#deps;
    const flows = {
      received: flow,
      answer: responseFlow(source, flow, transport),
      fallback: fallbackFlow(source.via, flow, transport),
      lengthBytes,
    };
    const onTerminated = () => void this.#servers.delete(key);
    const transaction = startServerTransaction(request, flows, { ...this.#deps, onTerminated });
    this.#servers.set(key, transaction);
    return transaction;
  }

  /** The same for each retransmission, and unguessable. @see RFC 3261 section 8.2.7 */
  #statelessTag({ headers }: SipRequest): string {
    const hmac = createHmac('sha256', this.#tagKey);
    for (const name of ['via', 'from', 'call-id', 'cseq']) hmac.update(`${headers.get(name) ?? ''}\n`);
    return hmac.digest('hex').slice(0, STATELESS_TAG_LENGTH);
  }

  /** Responds without a transaction; a retransmission of the request gets the same response. */
  #rejectStateless(request: SipRequest, flow: Flow, status: number, reason: string): void {
    if (request.method === 'ACK' || !request.headers.has('via')) return;
    const headers: Record<string, string> = status === 503 ? { 'Retry-After': RETRY_AFTER_SECONDS } : {};
    const toTag = this.#statelessTag(request);
    flow.send(formatMessage(makeResponse(request, status, { reason, toTag, headers })));
    this.#deps.onRefused?.(request, status, flow);
  }
}

const ignoring: ClientTransactionUser = {
  onResponse: () => undefined,
  onTimeout: () => undefined,
  onTransportError: () => undefined,
};

function methodOf(response: SipResponse): string {
  return response.headers.get('cseq')?.trim().split(/\s+/)[1] ?? '';
}

/** The top Via of a request, and the port for responses over UDP. */
interface RequestSource {
  readonly via: Via;
  readonly responsePort: number;
}

/**
 * Adds the source address to the top Via of a request.
 *
 * @returns The source with the port for responses: the source port, or without `rport` and NAT that of the Via.
 * @see RFC 3261 sections 18.2.1 and 18.2.2, RFC 3581 section 4
 */
function recordSource(request: SipRequest, flow: Flow): RequestSource {
  const [top = '', ...others] = request.headers.list('via');
  const via = parseVia(top);
  const { address, port } = flow.remote;
  const host = unbracketed(via.host);
  // A host name in Via does not indicate a NAT: the sender listens there and may send from another address.
  const isBehindNat = isIP(host) > 0 && host !== address;
  const responsePort = isBehindNat || via.params.has('rport') ? port : (via.port ?? DEFAULT_PORT);
  if (host !== address || via.params.has('rport')) via.params.set('received', address);
  via.params.set('rport', String(port));
  request.headers.replaceAll('via', [formatVia(via), ...others]);
  return { via, responsePort };
}

/** The flow for responses; over a stream, the connection of the request. */
function responseFlow({ via, responsePort }: RequestSource, flow: Flow, transport: TransportLayer): Flow {
  if (flow.reliable) return flow;
  const maddr = via.params.get('maddr');
  const address = maddr !== undefined && isIP(maddr) > 0 ? maddr : flow.remote.address;
  if (responsePort === flow.remote.port && address === flow.remote.address) return flow;
  return transport.flowTo({ transport: 'udp', address, port: responsePort });
}

/** The flow for responses after the connection of the request was closed: to the port of the Via. */
function fallbackFlow(via: Via, flow: Flow, transport: TransportLayer): Flow | undefined {
  if (!flow.reliable) return undefined;
  const port = via.port ?? (flow.remote.transport === 'tls' ? DEFAULT_TLS_PORT : DEFAULT_PORT);
  return transport.flowTo({ ...flow.remote, port });
}

/**
 * The key of a server transaction, equal for retransmissions and for the ACK to a non-2xx.
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
