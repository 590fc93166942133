import type { Clock } from '../clock.ts';
import { tagOf } from '../message/fields/nameAddr.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import type { Flow } from '../transport/types.ts';
import { inviteServer, inviteServerStart } from './inviteServer.ts';
import type { SipTimes } from './machine.ts';
import { nonInviteServer, nonInviteServerStart } from './nonInviteServer.ts';
import { createRunner, type EffectHandlers } from './runner.ts';

/** A server transaction. @see RFC 3261 section 17.2 */
export interface ServerTransaction {
  readonly request: SipRequest;
  /** The flow of the request. */
  readonly flow: Flow;
  readonly lengthBytes: number;
  /** The latest status sent; 0 before any. */
  readonly status: number;
  /** The To tag of the latest response; `undefined` before any. */
  readonly toTag: string | undefined;
  /** Sends a response. Ignored after a final one, except retransmissions of a 2xx to INVITE. */
  respond(response: SipResponse): void;
  /** Called when the final non-2xx was not acknowledged or could not be sent. */
  onFailure: (() => void) | undefined;
  onTerminated: (() => void) | undefined;
  retransmitted(): void;
  /** Handles an ACK. @returns True when it is for a 2xx, and thus for the dialog. */
  acknowledged(): boolean;
  stop(): void;
}

export function startServerTransaction(
  request: SipRequest,
  flows: { received: Flow; answer: Flow; fallback: Flow | undefined; lengthBytes: number },
  deps: { clock: Clock; times: SipTimes; onTerminated(): void },
): ServerTransaction {
  const context = { reliable: flows.answer.reliable, times: deps.times };
  let text = '';
  let status = 0;
  let toTag: string | undefined;
  let ackIsForDialog = false;
  const handlers: EffectHandlers = {
    send() {
      if (text === '') return;
      const failed = () => runner.handle({ type: 'transport_error' });
      const { answer, fallback } = flows;
      answer.send(text, fallback ? () => fallback.send(text, failed) : failed);
    },
    ack: () => undefined,
    deliver() {
      ackIsForDialog = true;
    },
    timed_out: () => transaction.onFailure?.(),
    transport_failed: () => transaction.onFailure?.(),
    terminated() {
      deps.onTerminated();
      transaction.onTerminated?.();
    },
  };
  const isInvite = request.method === 'INVITE';
  const invite = isInvite
    ? createRunner(inviteServer, inviteServerStart, context, deps.clock, handlers)
    : undefined;
  const runner = invite ?? createRunner(nonInviteServer, nonInviteServerStart, context, deps.clock, handlers);

  const transaction: ServerTransaction = {
    request,
    flow: flows.received,
    lengthBytes: flows.lengthBytes,
    onFailure: undefined,
    onTerminated: undefined,
    get status() {
      return status;
    },
    get toTag() {
      return toTag;
    },
    respond(response) {
      if (status >= 300 || (status >= 200 && (!isInvite || response.status !== status))) return;
      text = formatMessage(response);
      status = response.status;
      toTag = tagOf(response.headers.get('to'));
      runner.handle({ type: 'respond', status });
    },
    retransmitted: () => runner.handle({ type: 'request' }),
    acknowledged() {
      ackIsForDialog = false;
      invite?.handle({ type: 'ack' });
      return ackIsForDialog;
    },
    stop: () => runner.stop(),
  };
  return transaction;
}
