import { expect, test } from 'vitest';
import type { TestCall } from '../../../src/calls/setup/testCall.ts';
import { TestCalls } from '../../../src/telephony/trunks/testCalls.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

const CALL: TestCall = {
  projectId: 'project',
  callId: 'call',
  sessionId: 'session',
  direction: 'inbound',
  codec: 'G722',
  variables: {},
  test: { releaseId: 'release', toolMocks: [], allowRealTools: false },
  draft: false,
};

function expecting() {
  const clock = createSimulatedClock();
  let secrets = 0;
  const calls = new TestCalls({
    address: '127.0.0.1',
    sipPort: 5060,
    clock,
    makeSecret: () => `secret-${++secrets}`,
  });
  return { clock, calls, expected: calls.expect(CALL) };
}

test('A test call is admitted by its user part, once', () => {
  const { calls, expected } = expecting();

  expect(expected).toMatchObject({ user: 'secret-1', host: '127.0.0.1', port: 5060 });
  expect(calls.take('secret-2', '127.0.0.1')).toBeUndefined();
  expect(calls.take('secret-1', '::ffff:127.0.0.1')).toMatchObject({
    trunk: { projectId: 'project', codecs: ['G722'] },
    number: undefined,
    test: { call: CALL, mediaAddress: '127.0.0.1' },
  });
  expect(calls.take('secret-1', '127.0.0.1')).toBeUndefined();
});

test.each(['192.0.2.1', '10.0.0.1', '::ffff:192.0.2.1', 'fe80::1', 'localhost', ''])(
  'A test call from %j is not admitted, and does not use its user part up',
  (source) => {
    const { calls } = expecting();

    expect(calls.take('secret-1', source)).toBeUndefined();
    expect(calls.take('secret-1', '::1')).toBeDefined();
  },
);

test('A test call that is canceled, or does not come in time, is not admitted', async () => {
  const canceled = expecting();
  canceled.expected.cancel();
  const late = expecting();
  await late.clock.advance(10_000);

  expect(canceled.calls.take('secret-1', '127.0.0.1')).toBeUndefined();
  expect(late.calls.take('secret-1', '127.0.0.1')).toBeUndefined();
});
