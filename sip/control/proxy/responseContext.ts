import type { Timer } from '../../clock.ts';
import { parseNameAddr } from '../../message/fields/nameAddr.ts';
import { parseRoutableUri } from '../../message/fields/uri.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../../message/message.ts';
import { makeResponse } from '../../message/response.ts';
import type { ClientTransaction } from '../../transaction/client.ts';
import type { Target } from '../../transport/resolver.ts';
import type { ReceivedMessage } from '../../transport/types.ts';
import { overlayHeaders, ownUri } from '../applicationMessage.ts';
import { type Core, type IncomingRequest, messageMeta } from '../core.ts';
import { runInOrder } from '../dialogs/routing.ts';
import type { Command } from '../protocol/connection.ts';
import { formatOk, formatProxyResponse, generatedMeta } from '../protocol/messages.ts';
import { removeIncomingRequest } from '../uas/receive.ts';
import {
  addProxiedDialog,
  nextHop,
  type ProxiedDialogs,
  prepareForwarding,
  withoutOurVia,
} from './recordRoute.ts';

export interface ProxyOptions {
  readonly recordRoute: boolean;
  readonly followRedirects: boolean;
  readonly simultaneous: boolean;
  /** Timeout for the first response of a target; `undefined`: that of the transaction. */
  readonly provisionalMs: number | undefined;
  readonly finalMs: number | undefined;
  readonly destinations: readonly string[];
}

/** A target of the forwarded request. */
interface Branch {
  client: ClientTransaction | undefined;
  provisional: Timer | undefined;
  final: Timer | undefined;
  over: boolean;
}

/** Headers that a proxy must not change. */
const KEPT = new Set(['from', 'to', 'call-id', 'cseq', 'contact', 'max-forwards']);
/** The most branches, which limits targets and redirects. */
export const MAX_BRANCHES = 20;

/**
 * The response context of a forwarded request: tries its targets, in turn or in parallel, until one accepts.
 *
 * @see RFC 3261 section 16
 */
export class ResponseContext {
  readonly #core: Core;
  readonly #proxied: ProxiedDialogs;
  readonly #command: Command;
  readonly #incoming: IncomingRequest;
  readonly #options: ProxyOptions;
  readonly #additions: SipRequest;
  readonly #queue: string[];
  readonly #branches: Branch[] = [];
  readonly #finals: SipResponse[] = [];
  #closed = false;
  #accepted = false;
  #ended = false;

  constructor(
    deps: { core: Core; proxied: ProxiedDialogs; command: Command },
    task: { incoming: IncomingRequest; options: ProxyOptions; additions: SipRequest },
  ) {
    this.#core = deps.core;
    this.#proxied = deps.proxied;
    this.#command = deps.command;
    this.#incoming = task.incoming;
    this.#options = task.options;
    this.#additions = task.additions;
    this.#queue = [...task.options.destinations];
  }

  /** Forwards to the next target, or to all; ends when none is left or pending. */
  next(): void {
    while (this.#queue.length > 0 && this.#branches.length < MAX_BRANCHES) {
      if (!this.#options.simultaneous && this.#branches.some(({ over }) => !over)) return;
      this.#open(this.#queue.shift() ?? '');
    }
    if (this.#branches.every(({ over }) => over)) this.#end();
  }

  /** Cancels all pending branches. */
  cancel(): void {
    this.#closed = true;
    this.#queue.length = 0;
    for (const branch of this.#branches) if (!branch.over) this.#withdraw(branch);
  }

  #open(destination: string): void {
    const branch: Branch = { client: undefined, provisional: undefined, final: undefined, over: false };
    this.#branches.push(branch);
    runInOrder(
      undefined,
      () => this.#core.resolve(nextHop(this.#forwardable(destination))),
      ([target]) => {
        if (this.#closed) this.#fail(branch, 487);
        else if (target) this.#send(branch, target, destination);
        else this.#fail(branch, 404);
      },
      () => this.#fail(branch, 404),
    );
  }

  #send(branch: Branch, target: Target, destination: string): void {
    const request = this.#forwardable(destination);
    const flow = this.#core.transport.flowTo(target);
    overlayHeaders(request.headers, this.#additions.headers, KEPT);
    if (this.#options.recordRoute)
      request.headers.prepend('record-route', `<${ownUri(this.#core, flow)};lr>`);
    branch.client = this.#core.transactions.request(request, flow, {
      onResponse: (response, received) => {
        if (response.status < 200) this.#onProvisional(branch, response);
        else this.#settle(branch, response, received);
      },
      onTimeout: () => this.#fail(branch, 408),
      onTransportError: () => this.#fail(branch, 503),
    });
    const timer = (ms: number | undefined) =>
      ms === undefined ? undefined : this.#core.clock.setTimer(() => this.#timeOut(branch), ms);
    branch.provisional = timer(this.#options.provisionalMs);
    branch.final = timer(this.#options.finalMs);
  }

  #forwardable(destination: string): SipRequest {
    const { request } = this.#incoming.transaction;
    const forwarded = prepareForwarding(this.#core, request) ?? request;
    forwarded.uri = destination;
    return forwarded;
  }

  #onProvisional(branch: Branch, response: SipResponse): void {
    branch.provisional?.cancel();
    const { client } = branch;
    // CANCEL must wait for a provisional response.
    if (client && (this.#closed || branch.over)) this.#core.transactions.cancel(client);
    else if (response.status > 100) this.#incoming.transaction.respond(withoutOurVia(response));
  }

  #timeOut(branch: Branch): void {
    const { client } = branch;
    if (client?.hasProvisional && client.request.method === 'INVITE') this.#core.transactions.cancel(client);
    this.#fail(branch, 408);
  }

  #withdraw(branch: Branch): void {
    branch.provisional?.cancel();
    branch.final?.cancel();
    const { client } = branch;
    if (!client || client.hasFinal || client.request.method !== 'INVITE') return;
    if (client.hasProvisional) this.#core.transactions.cancel(client);
    else this.#fail(branch, 487);
  }

  /** Settles a branch with a generated response. */
  #fail(branch: Branch, status: number): void {
    this.#settle(branch, madeUp(this.#incoming.transaction.request, status), undefined);
  }

  #settle(branch: Branch, response: SipResponse, received: ReceivedMessage | undefined): void {
    if (branch.over) {
      if (response.status < 300) this.#accept(response);
      return;
    }
    branch.over = true;
    branch.provisional?.cancel();
    branch.final?.cancel();
    this.#report(response, received);
    this.#finals.push(response);
    if (response.status < 300) this.#accept(response);
    else if (isRedirect(response) && this.#options.followRedirects && !this.#closed) {
      this.#queue.push(...redirects(response));
    }
    if (response.status < 300 || response.status >= 600) this.cancel();
    this.next();
  }

  /** Forwards a 2xx, retransmissions included. */
  #accept(response: SipResponse): void {
    const { transaction } = this.#incoming;
    transaction.respond(withoutOurVia(response));
    if (this.#accepted) return;
    this.#accepted = true;
    if (this.#options.recordRoute) addProxiedDialog(this.#core, this.#proxied, response);
    if (transaction.request.method !== 'INVITE') return;
    this.#core.announceCdr({ verb: 'cdr:start', source: 'network', detail: 'proxy-uas', message: response });
  }

  #report(response: SipResponse, received: ReceivedMessage | undefined): void {
    const meta = received
      ? messageMeta(this.#core, received.flow.remote, received.lengthBytes)
      : generatedMeta(this.#core.clock.now());
    this.#command.reply(
      formatProxyResponse(this.#core.ids.uuid(), this.#command.id, meta, formatMessage(response)),
    );
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { transaction } = this.#incoming;
    if (!this.#accepted) {
      transaction.respond(withoutOurVia(bestResponse(this.#finals) ?? madeUp(transaction.request, 408)));
    }
    removeIncomingRequest(this.#core, this.#incoming);
    this.#command.reply(formatOk(this.#core.ids.uuid(), this.#command.id, 'done'));
  }
}

/** The response to forward. @see RFC 3261 section 16.7 step 6 */
function bestResponse(responses: readonly SipResponse[]): SipResponse | undefined {
  const rank = ({ status }: SipResponse): number => {
    if (status >= 600) return 0;
    if (status === 401 || status === 407) return 1;
    return status === 503 || status === 408 ? 900 + status / 100 : status;
  };
  return [...responses].sort((a, b) => rank(a) - rank(b))[0];
}

function isRedirect({ status }: SipResponse): boolean {
  return status >= 300 && status < 400;
}

/** A generated response, with a top Via as a received one has. */
function madeUp(request: SipRequest, status: number): SipResponse {
  const response = makeResponse(request, status);
  response.headers.prepend('via', 'SIP/2.0/UDP localhost');
  return response;
}

function redirects(response: SipResponse): string[] {
  const targets: string[] = [];
  for (const contact of response.headers.list('contact')) {
    try {
      const { uri } = parseNameAddr(contact);
      parseRoutableUri(uri);
      targets.push(uri);
    } catch {
      // A malformed or non-SIP Contact is skipped.
    }
  }
  return targets;
}
