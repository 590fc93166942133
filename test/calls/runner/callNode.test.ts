import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import type { CallRequest } from '../../../src/calls/nodes/callRequest.ts';
import type { NodeMessage } from '../../../src/calls/nodes/nodeBus.ts';
import { CallNode } from '../../../src/calls/runner/callNode.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import type { InboundCall, Telephony } from '../../../src/calls/telephony.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const DRAIN_MS = 10_000;
const REQUEST: CallRequest = { name: 'read_quality', argument: undefined };

/** A node that runs the call `here`, and what it does. */
function openNode(answer: () => Promise<null> = async () => null) {
  const done: unknown[] = [];
  const note =
    (what: string) =>
    (...args: unknown[]) => {
      done.push([what, ...args]);
      return true;
    };
  let receive = (_message: NodeMessage) => {};
  let arrive = (_call: InboundCall) => {};
  let taken = () => {};
  const clock = createSimulatedClock();
  const node = new CallNode({
    telephony: unused<Telephony>('telephony', {
      onInboundCall(listener) {
        arrive = listener;
      },
    }),
    bus: {
      async publish(message) {
        note('publish')(message);
        if (message.kind === 'call_response' && message.requestId === 'lost') throw new Error('away');
      },
      subscribe(listener) {
        receive = listener;
        return () => void note('unsubscribe')();
      },
    },
    runner: unused<CallRunner>('runner', {
      active: 1,
      hangUp: note('hang up'),
      perform: (callId) => (callId === 'here' ? answer() : undefined),
      drain: async (ms) => void note('drain')(ms),
    }),
    handleInbound: () =>
      new Promise((resolve) => {
        taken = resolve;
      }),
    drainMs: DRAIN_MS,
    clock,
    onError: (_error, what) => void note('error')(what),
  });
  return {
    node,
    clock,
    done,
    receive: (message: NodeMessage) => receive(message),
    arrive: () => arrive(unused<InboundCall>('call')),
    taken: () => taken(),
  };
}

const request = (more: object = {}): NodeMessage => ({
  kind: 'call_request',
  callId: 'here',
  requestId: 'r',
  request: REQUEST,
  ...more,
});
const response = (answer: object) => ['publish', { kind: 'call_response', requestId: 'r', response: answer }];
const failure = (code: string) => response({ failure: expect.objectContaining({ code }) });

test.each<[string, NodeMessage, () => Promise<null>, unknown[]]>([
  ['a hangup', { kind: 'hangup', callId: 'c' }, async () => null, [['hang up', 'c', 'api_hangup']]],
  ['changed trunks', { kind: 'trunks' }, async () => null, []],
  ['a request for its call', request(), async () => null, [response({ answer: null })]],
  ['a request for another node’s call', request({ callId: 'there' }), async () => null, []],
  [
    'a request that it refuses',
    request(),
    async () => {
      throw new CallwayError('conflict', 'gone', 'gone');
    },
    [failure('gone')],
  ],
  [
    'a request that finds a defect',
    request(),
    async () => {
      throw new CallwayError('internal', 'secret', 'secret');
    },
    [['error', 'request for a call failed'], failure('internal_error')],
  ],
  [
    'a request whose answer is lost',
    request({ requestId: 'lost' }),
    async () => null,
    [expect.anything(), ['error', 'answer to a request for a call not sent']],
  ],
])('A node that gets %s acts on it', async (_what, message, answer, expected) => {
  const { receive, done } = openNode(answer);
  receive(message);
  await new Promise(setImmediate);
  expect(done).toEqual(expected);
});

test('A node that stops waits for calls in setup, and gives running calls the rest of the time', async () => {
  const { node, clock, done, arrive, taken } = openNode();
  arrive();
  const closed = node.close();
  expect(node.close()).toBe(closed);
  await new Promise(setImmediate);
  clock.advance(4_000);
  taken();
  await closed;
  expect(done).toEqual([['drain', 6_000], ['unsubscribe'], ['drain', 0]]);
});
