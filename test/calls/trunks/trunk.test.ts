import { expect, test } from 'vitest';
import { trunkInput, trunkPatch } from '../../../src/calls/trunks/trunk.ts';

const TRUNK = { name: 't', host: 'sip.carrier.example' };

test.each([
  'proxy.example',
  'proxy.example:5070',
  '192.0.2.1:5070',
  '2001:db8::1',
  '[2001:db8::1]:5070',
  'sip:proxy.example:5070;lr;transport=tcp',
  'sips:me@[2001:db8::1];lr',
  '<sip:192.0.2.1;lr>',
])('Trunk accepts the outbound proxy %s', (outboundProxy) => {
  expect(trunkInput.parse({ ...TRUNK, outboundProxy }).outboundProxy).toBe(outboundProxy);
  expect(trunkPatch.parse({ outboundProxy })).toEqual({ outboundProxy });
});

test.each(['a b', 'sip:', 'http://proxy.example', '::::', 'proxy.example:0', 'proxy.example:70000', 'a@b'])(
  'Trunk rejects the outbound proxy %j',
  (outboundProxy) => {
    const { error } = trunkInput.safeParse({ ...TRUNK, outboundProxy });
    expect(error?.issues).toMatchObject([
      { path: ['outboundProxy'], message: 'must be a sip: URI or host[:port]' },
    ]);
    expect(trunkPatch.safeParse({ outboundProxy }).success).toBe(false);
  },
);

test.each(['::::', '[::1', '1:2', 'a b', 'sip:x'])('Trunk rejects the host %j with one message', (host) => {
  expect(trunkInput.safeParse({ ...TRUNK, host }).error?.issues).toHaveLength(1);
  expect(trunkPatch.safeParse({ host }).success).toBe(false);
});
