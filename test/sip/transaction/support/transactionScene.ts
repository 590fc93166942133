import type { SipMessage, SipRequest, SipResponse } from '../../../../sip/message/message.ts';
import { parseText } from '../../../../sip/message/parse.ts';
import { createCounters } from '../../../../sip/stats.ts';
import { TransactionLayer } from '../../../../sip/transaction/layer.ts';
import { DEFAULT_SIP_TIMES } from '../../../../sip/transaction/machine.ts';
import type { ServerTransaction } from '../../../../sip/transaction/server.ts';
import type { TransportLayer } from '../../../../sip/transport/layer.ts';
import { type Endpoint, endpointKey, type Flow } from '../../../../sip/transport/types.ts';
import { unused } from '../../../support/unused.ts';
import { simulatedClock } from '../../support/simulatedClock.ts';

export interface SceneOptions {
  readonly maxTransactions?: number;
  readonly mayBegin?: () => boolean;
  /** The transport retransmits. */
  readonly isReliable?: boolean;
  readonly isPortUnreachable?: () => Promise<boolean>;
}

/** A transaction layer on a simulated clock, over a flow that keeps what is sent. */
export function transactionScene(options: SceneOptions = {}) {
  const clock = simulatedClock();
  const counters = createCounters();
  const begun: ServerTransaction[] = [];
  const acks: SipRequest[] = [];
  const strays: SipResponse[] = [];
  const sent: string[] = [];
  /** Where each of them went: `udp:address:port`. */
  const destinations: string[] = [];
  const transport = options.isReliable ? 'tcp' : 'udp';
  let failFlow = (_error: Error): void => undefined;
  let branches = 0;
  const flowTo = (remote: Endpoint): Flow => ({
    remote,
    local: { transport, address: '127.0.0.1', port: 5060 },
    reliable: remote.transport !== 'udp',
    send(text, onError) {
      sent.push(text);
      destinations.push(endpointKey(remote));
      if (onError) failFlow = onError;
    },
  });
  const flow = flowTo({ transport, address: '127.0.0.1', port: 5070 });
  const layer = new TransactionLayer({
    clock,
    ids: { uuid: () => 'uuid', token: () => `token${++branches}` },
    times: DEFAULT_SIP_TIMES,
    counters,
    transport: unused<TransportLayer>('transport', {
      advertised: () => ({ host: '127.0.0.1', port: 5060 }),
      flowTo,
      isPortUnreachable: options.isPortUnreachable ?? (async () => false),
    }),
    maxTransactions: options.maxTransactions ?? 100,
    mayBegin: options.mayBegin ?? (() => true),
    user: {
      onRequest: (transaction) => void begun.push(transaction),
      onAck: (ack) => void acks.push(ack),
      onStrayResponse: (response) => void strays.push(response),
    },
  });
  const receive = (message: SipMessage) => layer.receive({ message, lengthBytes: 0, flow });
  const fail = (error: Error) => failFlow(error);
  /** The start lines of what was sent. */
  const lines = () => sent.map((text) => text.split('\r\n')[0]);
  return { layer, clock, counters, flow, begun, acks, strays, sent, destinations, lines, receive, fail };
}

/** A message of the peer, or of ours without a Via. */
export function messageOf(
  startLine: string,
  via: string | undefined,
  cseq: string,
  callId = 'one',
): SipMessage {
  return parseText(
    [
      startLine,
      ...(via === undefined ? [] : [`Via: ${via}`]),
      'Max-Forwards: 70',
      'From: <sip:caller@127.0.0.1>;tag=theirs',
      'To: <sip:us@127.0.0.1>',
      `Call-ID: ${callId}`,
      `CSeq: ${cseq}`,
      '\r\n',
    ].join('\r\n'),
  );
}
