import type { Clock } from '../clock.ts';
import { parseCSeq } from '../message/fields/sequence.ts';
import { SipHeaders } from '../message/headers.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import type { Flow, ReceivedMessage } from '../transport/types.ts';
import { inviteClient, inviteClientStart } from './inviteClient.ts';
import type { SipTimes } from './machine.ts';
import { nonInviteClient, nonInviteClientStart } from './nonInviteClient.ts';
import { createRunner, type EffectHandlers } from './runner.ts';

/** Who asked for a request to be sent. */
export interface ClientTransactionUser {
  /** Each 1xx, the final response once, and for INVITE each further 2xx. */
  onResponse(response: SipResponse, received: ReceivedMessage): void;
  /** No final response ever came (Timers B and F). */
  onTimeout(): void;
  onTransportError(error: Error): void;
  onTerminated?(): void;
}

export interface ClientTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** The request as it went out. */
  readonly text: string;
  readonly hasProvisional: boolean;
  readonly hasFinal: boolean;
  receive(response: SipResponse, received: ReceivedMessage): void;
  stop(): void;
}

/** At the third sending, three times T1 after the first, a silent UDP peer is asked whether it is there at all. */
const ASK_AT_SEND = 3;

/** Sends the request at once; the caller has put the Via on it. */
export function startClientTransaction(
  request: SipRequest,
  flow: Flow,
  user: ClientTransactionUser,
  deps: { clock: Clock; times: SipTimes; onTerminated(): void; isRefused?(flow: Flow): Promise<boolean> },
): ClientTransaction {
  const text = formatMessage(request);
  const way = { reliable: flow.reliable, times: deps.times };
  let latest: { response: SipResponse; received: ReceivedMessage } | undefined;
  let error = new Error('the transport failed');
  let hasProvisional = false;
  let sends = 0;
  let hasFinal = false;

  const onError = (cause: Error): void => {
    error = cause;
    runner.handle({ type: 'transport_error' });
  };
  const askIfRefused = async (): Promise<void> => {
    if (!(await deps.isRefused?.(flow)) || hasProvisional || hasFinal) return;
    onError(new Error('nobody listens on that port'));
  };
  const handlers: EffectHandlers = {
    send() {
      flow.send(text, onError);
      sends += 1;
      if (sends === ASK_AT_SEND && !flow.reliable) askIfRefused();
    },
    ack() {
      if (latest) flow.send(formatMessage(makeAck(request, latest.response)));
    },
    deliver() {
      if (!latest) return;
      if (latest.response.status >= 200) hasFinal = true;
      else hasProvisional = true;
      user.onResponse(latest.response, latest.received);
    },
    timed_out: () => user.onTimeout(),
    transport_failed: () => user.onTransportError(error),
    terminated() {
      latest = undefined;
      deps.onTerminated();
      user.onTerminated?.();
    },
  };
  const runner =
    request.method === 'INVITE'
      ? createRunner(inviteClient, inviteClientStart, way, deps.clock, handlers)
      : createRunner(nonInviteClient, nonInviteClientStart, way, deps.clock, handlers);
  runner.handle({ type: 'start' });

  return {
    request,
    flow,
    text,
    get hasProvisional() {
      return hasProvisional;
    },
    get hasFinal() {
      return hasFinal;
    },
    receive(response, received) {
      latest = { response, received };
      runner.handle({ type: 'response', status: response.status });
    },
    stop: () => runner.stop(),
  };
}

/**
 * The ACK that belongs to a final response other than 2xx: same hop, same branch.
 *
 * @see RFC 3261 section 17.1.1.3
 */
export function makeAck(invite: SipRequest, response: SipResponse): SipRequest {
  const ack = sameHopRequest(invite, 'ACK');
  ack.headers.set('to', response.headers.get('to') ?? invite.headers.get('to') ?? '');
  return ack;
}

/** The CANCEL of a request that is still pending. @see RFC 3261 section 9.1 */
export function makeCancel(invite: SipRequest): SipRequest {
  return sameHopRequest(invite, 'CANCEL');
}

function sameHopRequest(invite: SipRequest, method: string): SipRequest {
  const headers = new SipHeaders();
  headers.add('via', invite.headers.list('via')[0] ?? '');
  for (const route of invite.headers.all('route')) headers.add('route', route);
  headers.add('max-forwards', '70');
  for (const name of ['from', 'to', 'call-id']) headers.add(name, invite.headers.get(name) ?? '');
  const { sequence } = parseCSeq(invite.headers.get('cseq') ?? '');
  headers.add('cseq', `${sequence} ${method}`);
  return { kind: 'request', method, uri: invite.uri, headers, body: '' };
}
