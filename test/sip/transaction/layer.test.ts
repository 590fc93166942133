import { expect, test } from 'vitest';
import { makeResponse } from '../../../sip/message/response.ts';
import { messageOf, type SceneOptions, transactionScene } from './support/transactionScene.ts';

/** A layer that receives requests. */
function scene(options: SceneOptions = {}) {
  const made = transactionScene(options);
  const receive = (method: string, via: string, callId?: string) =>
    made.receive(
      messageOf(`${method} sip:us@127.0.0.1 SIP/2.0`, `SIP/2.0/UDP ${via}`, `1 ${method}`, callId),
    );
  return { ...made, receive };
}

const BRANCH = 'branch=z9hG4bKsame';

test.each([
  ['the same branch and sent-by is a retransmission', `pbx.example:5070;${BRANCH}`, 1],
  ['another host starts a transaction', `other.example:5070;${BRANCH}`, 2],
  ['another port starts a transaction', `pbx.example:5071;${BRANCH}`, 2],
  ['no port starts a transaction', `pbx.example;${BRANCH}`, 2],
  ['another branch starts a transaction', 'pbx.example:5070;branch=z9hG4bKother', 2],
])('A second request with %s', (_what, via, transactions) => {
  const { begun, layer, receive } = scene();
  receive('OPTIONS', `pbx.example:5070;${BRANCH}`);
  receive('OPTIONS', via);
  expect([begun.length, layer.size.server]).toEqual([transactions, transactions]);
});

test('Two elements with the same branch get their own responses, and so do their ACKs', () => {
  const { acks, begun, layer, lines, receive } = scene();
  receive('INVITE', `one.example;${BRANCH}`);
  receive('INVITE', `two.example;${BRANCH}`);
  const [first, second] = begun;
  if (!first || !second) throw new Error('each INVITE starts a transaction');
  first.respond(makeResponse(first.request, 486, { toTag: 'a' }));
  second.respond(makeResponse(second.request, 200, { toTag: 'b' }));
  expect(lines()).toEqual(['SIP/2.0 486 Busy Here', 'SIP/2.0 200 OK']);
  receive('ACK', `one.example;${BRANCH}`);
  expect(acks).toHaveLength(0);
  receive('ACK', `two.example;${BRANCH}`);
  receive('ACK', 'two.example;branch=z9hG4bKofTheAck');
  expect(acks).toHaveLength(2);
  layer.close();
  expect(layer.size).toEqual({ client: 0, server: 0 });
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

test('A retransmission gets the last response again, and later responses are ignored after a final one', () => {
  const { begun, clock, counters, layer, lines, receive } = scene();
  receive('OPTIONS', `pbx.example;${BRANCH}`);
  const transaction = begun[0];
  transaction?.respond(makeResponse(transaction.request, 200, { toTag: 'a' }));
  transaction?.respond(makeResponse(transaction.request, 404, { toTag: 'a' }));
  receive('OPTIONS', `pbx.example;${BRANCH}`);
  expect(lines()).toEqual(['SIP/2.0 200 OK', 'SIP/2.0 200 OK']);
  expect([transaction?.status, transaction?.toTag]).toEqual([200, 'a']);
  expect(counters.read()).toEqual({ 'retransmissions.in': 1 });
  clock.advance(32_000);
  expect(layer.size.server).toBe(0);
});

test.each<[string, SceneOptions, string]>([
  ['above the most transactions', { maxTransactions: 0 }, 'refused.crowded'],
  ['above the limits of its source', { mayBegin: () => false }, 'refused.flood'],
])('A request %s gets the same 503 each time, and no transaction', (_what, options, counter) => {
  const { begun, counters, layer, receive, sent } = scene(options);
  receive('INVITE', `pbx.example;${BRANCH}`);
  receive('INVITE', `pbx.example;${BRANCH}`);
  receive('INVITE', 'pbx.example;branch=z9hG4bKother');
  receive('ACK', `pbx.example;${BRANCH}`);
  expect([begun.length, layer.size.server, sent.length]).toEqual([0, 0, 3]);
  expect(sent[0]).toMatch(/^SIP\/2\.0 503 .*^Retry-After: 5\r$/ms);
  expect(sent[1]).toBe(sent[0]);
  const tags = sent.map((text) => /^To: .*;tag=(\w+)/m.exec(text)?.[1]);
  expect(tags[2]).not.toBe(tags[0]);
  expect(counters.read()).toEqual({ [counter]: 3 });
});
