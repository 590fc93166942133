import { expect, test } from 'vitest';
import {
  requirePublicHosts,
  requireUsableTrunk,
  trunkInput,
  trunkPatch,
} from '../../../src/calls/trunks/trunk.ts';

const TRUNK = { name: 't', host: 'sip.carrier.example' };

test.each([
  'proxy.example',
  'proxy.example:5070',
  '192.0.2.1:65535',
  '2001:db8::1',
  '[2001:db8::1]:5070',
  'sip:proxy.example:5070;lr;transport=tcp',
  'sips:me@[2001:db8::1];lr',
  '<sip:192.0.2.1;lr>',
])('Trunk accepts the outbound proxy %s', (outboundProxy) => {
  expect(trunkInput.parse({ ...TRUNK, outboundProxy }).outboundProxy).toBe(outboundProxy);
  expect(trunkPatch.parse({ outboundProxy })).toEqual({ outboundProxy });
});

test.each(['a b', 'sip:', 'http://proxy.example', '::::', 'proxy.example:0', 'proxy.example:65536', 'a@b'])(
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

test.each(['username', 'realm'] as const)('Trunk rejects a %s that would start another header', (field) => {
  const evil = { [field]: 'x"\r\nRoute: <sip:10.0.0.1;lr>' };
  for (const { error } of [trunkInput.safeParse({ ...TRUNK, ...evil }), trunkPatch.safeParse(evil)])
    expect(error?.issues).toMatchObject([{ path: [field], message: 'must be one line' }]);
});

const PUBLIC = 'sip.example.com';
test.each<[string, string | null, string | undefined]>([
  ['127.0.0.1', null, '127.0.0.1 is a loopback address'],
  ['[::1]', null, 'loopback'],
  ['::ffff:127.0.0.1', null, 'loopback'],
  ['169.254.169.254', null, 'link'],
  ['10.0.0.1', null, 'private'],
  ['LocalHost', null, 'loopback'],
  ['127.1', null, 'loopback'],
  ['127.1.', null, 'loopback'],
  ['0x7f000001', null, 'loopback'],
  ['0X7F.1', null, 'loopback'],
  ['2130706433', null, 'loopback'],
  ['017700000001', null, 'loopback'],
  ['0', null, 'unspecified'],
  ['0xa9fea9fe', null, 'link'],
  [PUBLIC, 'sip:10.1:5070', 'private'],
  ['0x08080808', null, undefined],
  ['under_score.example', null, undefined],
  [PUBLIC, 'sip:127.0.0.1:5070;lr', 'loopback'],
  [PUBLIC, ' <sip:me@10.0.0.1;lr> ', 'private'],
  [PUBLIC, '[::1]:5070', 'loopback'],
  [PUBLIC, 'fd00::7', 'private'],
  [PUBLIC, null, undefined],
  ['198.41.0.4', 'proxy.example', undefined],
])('A tenant’s trunk at %s by way of %j is refused for: %s', (host, outboundProxy, problem) => {
  const check = () => requirePublicHosts({ host, outboundProxy });
  if (problem === undefined) check();
  else expect(check).toThrow(problem);
});

test.each<[object, string[]]>([
  [{}, []],
  [{ register: true, username: 'me', password: 'x', codecs: ['PCMU', 'PCMA'] }, []],
  [{ register: true }, ['/username']],
  [{ password: 'x' }, ['/username']],
  [{ register: true, password: 'x', codecs: ['PCMU', 'PCMU'] }, ['/username', '/username', '/codecs']],
])('Trunk %j has problems at %j', (fields, paths) => {
  const trunk = { ...trunkInput.parse(TRUNK), ...fields };
  if (paths.length === 0) requireUsableTrunk(trunk);
  else
    expect(() => requireUsableTrunk(trunk)).toThrow(
      expect.objectContaining({
        code: 'invalid_trunk',
        details: paths.map((path) => expect.objectContaining({ path })),
      }),
    );
});
