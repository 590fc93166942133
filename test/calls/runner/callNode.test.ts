import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import type { CallRequest } from '../../../src/calls/nodes/callRequest.ts';
import type { NodeMessage } from '../../../src/calls/nodes/nodeBus.ts';
import { CallNode } from '../../../src/calls/runner/callNode.ts';
import type { CallRunner } from '../../../src/calls/runner/callRunner.ts';
import type { CallQueue, JobResult } from '../../../src/calls/setup/callQueue.ts';
import type { Telephony } from '../../../src/calls/telephony.ts';
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
  let take: (callId: string) => Promise<JobResult> = () => expect.unreachable();
  let dialed = (_result: JobResult) => {};
  const clock = createSimulatedClock();
  const node = new CallNode({
    queue: unused<CallQueue>('queue', {
      async process(dial, concurrency) {
        note('process')(concurrency);
        take = dial;
        return { pause: async () => void note('pause')(), close: async () => void note('close')() };
      },
    }),
    telephony: unused<Telephony>('telephony', { onInboundCall: () => undefined }),
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
    dial: () =>
      new Promise((resolve) => {
        dialed = resolve;
      }),
    handleInbound: async () => undefined,
    drainMs: DRAIN_MS,
    clock,
    onError: (_error, what) => void note('error')(what),
  });
  return {
    node,
    clock,
    done,
    receive: (message: NodeMessage) => receive(message),
    take: (id: string) => take(id),
    dialed: (result: JobResult) => dialed(result),
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

test('A node that stops takes no more jobs, waits for calls in setup, and gives running calls the rest of the time', async () => {
  const { node, clock, done, take, dialed } = openNode();
  await node.start();
  void take('c');
  const closed = node.close();
  expect(node.close()).toBe(closed);
  await new Promise(setImmediate);
  clock.advance(4_000);
  dialed({ done: true });
  await closed;
  const rest = [['drain', 6_000], ['unsubscribe'], ['close'], ['drain', 0]];
  expect(done).toEqual([['process', 32], ['pause'], ...rest]);
});
