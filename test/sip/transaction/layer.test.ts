import { expect, test } from 'vitest';
import type { SipRequest } from '../../../sip/message/message.ts';
import { parseText } from '../../../sip/message/parse.ts';
import { makeResponse } from '../../../sip/message/response.ts';
import { createCounters } from '../../../sip/stats.ts';
import { TransactionLayer } from '../../../sip/transaction/layer.ts';
import { DEFAULT_SIP_TIMES } from '../../../sip/transaction/machine.ts';
import type { ServerTransaction } from '../../../sip/transaction/server.ts';
import type { Flow } from '../../../sip/transport/types.ts';
import { simulatedClock } from '../support/simulatedClock.ts';

/** A transaction layer whose requests and responses are kept. */
function scene() {
  const begun: ServerTransaction[] = [];
  const acks: SipRequest[] = [];
  const sent: string[] = [];
  const flow: Flow = {
    remote: { transport: 'udp', address: '127.0.0.1', port: 5070 },
    local: { transport: 'udp', address: '127.0.0.1', port: 5060 },
    reliable: false,
    send: (text) => void sent.push(text.split('\r\n')[0] ?? ''),
  };
  const layer = new TransactionLayer({
    clock: simulatedClock(),
    ids: { uuid: () => 'uuid', token: () => 'token' },
    times: DEFAULT_SIP_TIMES,
    counters: createCounters(),
    transport: {
      advertised: () => ({ host: '127.0.0.1', port: 5060 }),
      flowTo: () => flow,
      isPortUnreachable: async () => false,
    },
    maxTransactions: 100,
    mayBegin: () => true,
    user: {
      onRequest: (transaction) => void begun.push(transaction),
      onAck: (ack) => void acks.push(ack),
      onStrayResponse: () => undefined,
    },
  });
  const receive = (method: string, via: string, callId = 'one') => {
    const message = parseText(
      [
        `${method} sip:us@127.0.0.1 SIP/2.0`,
        `Via: SIP/2.0/UDP ${via}`,
        'Max-Forwards: 70',
        'From: <sip:caller@127.0.0.1>;tag=theirs',
        'To: <sip:us@127.0.0.1>',
        `Call-ID: ${callId}`,
        `CSeq: 1 ${method}`,
        '\r\n',
      ].join('\r\n'),
    );
    layer.receive({ message, lengthBytes: 0, flow });
  };
  return { layer, begun, acks, sent, receive };
}

const BRANCH = 'branch=z9hG4bKsame';

test.each([
  ['the same branch and sent-by is a retransmission', `pbx.example:5070;${BRANCH}`, 1],
  ['another host starts a transaction', `other.example:5070;${BRANCH}`, 2],
  ['another port starts a transaction', `pbx.example:5071;${BRANCH}`, 2],
  ['no port starts a transaction', `pbx.example;${BRANCH}`, 2],
  ['another branch starts a transaction', 'pbx.example:5070;branch=z9hG4bKother', 2],
])('A second request with %s', (_what, via, transactions) => {
  const { begun, receive } = scene();
  receive('OPTIONS', `pbx.example:5070;${BRANCH}`);
  receive('OPTIONS', via);
  expect(begun).toHaveLength(transactions);
});

test('Two elements with the same branch get their own responses, and so do their ACKs', () => {
  const { acks, begun, layer, receive, sent } = scene();
  receive('INVITE', `one.example;${BRANCH}`);
  receive('INVITE', `two.example;${BRANCH}`);
  const [first, second] = begun;
  if (!first || !second) throw new Error('each INVITE starts a transaction');
  first.respond(makeResponse(first.request, 486, { toTag: 'a' }));
  second.respond(makeResponse(second.request, 200, { toTag: 'b' }));
  expect(sent).toEqual(['SIP/2.0 486 Busy Here', 'SIP/2.0 200 OK']);
  receive('ACK', `one.example;${BRANCH}`);
  expect(acks).toHaveLength(0);
  receive('ACK', `two.example;${BRANCH}`);
  expect(acks).toHaveLength(1);
  layer.close();
});

test('A CANCEL finds the INVITE of its own sender', () => {
  const { begun, layer, receive } = scene();
  receive('INVITE', `one.example;${BRANCH}`);
  receive('INVITE', `two.example;${BRANCH}`);
  receive('CANCEL', `two.example;${BRANCH}`);
  const cancel = begun[2]?.request;
  expect(cancel && layer.inviteOf(cancel)).toBe(begun[1]);
});

test('Without a branch of RFC 3261 a request is matched by its other fields', () => {
  const { begun, receive } = scene();
  receive('OPTIONS', 'pbx.example:5070');
  receive('OPTIONS', 'pbx.example:5070');
  receive('OPTIONS', 'pbx.example:5070', 'two');
  receive('OPTIONS', 'pbx.example:5071');
  expect(begun).toHaveLength(3);
});
