import type { Clock } from '../clock.ts';
import { parseCSeq } from '../message/fields/sequence.ts';
import { SipHeaders } from '../message/headers.ts';
import { formatMessage, type SipRequest, type SipResponse } from '../message/message.ts';
import type { Flow, ReceivedMessage } from '../transport/types.ts';
import { inviteClient, inviteClientStart } from './inviteClient.ts';
import type { SipTimes } from './machine.ts';
import { nonInviteClient, nonInviteClientStart } from './nonInviteClient.ts';
import { createRunner, type EffectHandlers } from './runner.ts';

/** The TU of a client transaction. @see RFC 3261 section 6, "transaction user" */
export interface ClientTransactionUser {
  /** Called for each 1xx, once for the final response, and for each further 2xx to INVITE. */
  onResponse(response: SipResponse, received: ReceivedMessage): void;
  /** Called when Timer B or F fired. */
  onTimeout(): void;
  onTransportError(error: Error): void;
  onTerminated?(): void;
}

export interface ClientTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** The request as sent on the wire. */
  readonly text: string;
  readonly hasProvisional: boolean;
  readonly hasFinal: boolean;
  receive(response: SipResponse, received: ReceivedMessage): void;
  stop(): void;
}

/** The transmission, 3·T1 after the first, at which the port of a silent UDP peer is probed. */
const PROBE_AT_SEND = 3;

/** Sends the request, which has its Via, and runs its transaction. */
export function startClientTransaction(
  request: SipRequest,
  flow: Flow,
  user: ClientTransactionUser,
  deps: {
    clock: Clock;
    times: SipTimes;
    onTerminated(): void;
    isPortUnreachable?(flow: Flow): Promise<boolean>;
  },
): ClientTransaction {
  const text = formatMessage(request);
  const context = { reliable: flow.reliable, times: deps.times };
  let latest: { response: SipResponse; received: ReceivedMessage } | undefined;
  let error = new Error('the transport failed');
  let hasProvisional = false;
  let sends = 0;
  let hasFinal = false;

  const onError = (cause: Error): void => {
    error = cause;
    runner.handle({ type: 'transport_error' });
  };
  const probePort = async (): Promise<void> => {
    if (!(await deps.isPortUnreachable?.(flow)) || hasProvisional || hasFinal) return;
    onError(new Error('the UDP port is closed'));
  };
  const handlers: EffectHandlers = {
    send() {
      flow.send(text, onError);
      sends += 1;
      if (sends === PROBE_AT_SEND && !flow.reliable) probePort();
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
      ? createRunner(inviteClient, inviteClientStart, context, deps.clock, handlers)
      : createRunner(nonInviteClient, nonInviteClientStart, context, deps.clock, handlers);
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
 * The ACK to a final response other than 2xx: same hop, same branch.
 *
 * @see RFC 3261 section 17.1.1.3
 */
function makeAck(invite: SipRequest, response: SipResponse): SipRequest {
  const ack = sameHopRequest(invite, 'ACK');
  ack.headers.set('to', response.headers.get('to') ?? invite.headers.get('to') ?? '');
  return ack;
}

/** The CANCEL of a pending request. @see RFC 3261 section 9.1 */
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
