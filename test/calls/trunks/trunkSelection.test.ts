import { describe, expect, test } from 'vitest';
import type { PhoneNumberStore } from '../../../src/calls/numbers/phoneNumberStore.ts';
import { type Trunk, trunkInput } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../../src/calls/trunks/trunkHealth.ts';
import { candidateTrunks, reachableFirst, selectTrunks } from '../../../src/calls/trunks/trunkSelection.ts';
import type { TrunkStore } from '../../../src/calls/trunks/trunkStore.ts';
import { unused } from '../../support/unused.ts';

const trunk = (id: string, priority = 0): Trunk => ({
  ...trunkInput.parse({ name: id, host: 'sip.example.com', priority }),
  id,
  projectId: 'p',
  createdAt: '',
  updatedAt: '',
});
const trunks = ['a', 'b', 'c', 'd'].map(trunk);
const ids = (some: readonly Trunk[]) => some.map(({ id }) => id);

test('Trunks without a failed health check keep their order', () => {
  expect(ids(reachableFirst(trunks, new Map()))).toEqual(['a', 'b', 'c', 'd']);
});

test('Trunks that were down at the last health check are tried last', () => {
  const health = new Map([
    ['a', { reachable: false, registered: null }],
    ['b', { reachable: true, registered: false }],
    ['c', { reachable: null, registered: null }],
  ]);
  expect(ids(reachableFirst(trunks, health))).toEqual(['c', 'd', 'a', 'b']);
});

describe('candidateTrunks', () => {
  const active = [trunk('low', 9), trunk('high', 1), trunk('same', 9)];

  test.each([
    ['are those of the number, in its order', ['same', 'low'], ['same', 'low']],
    ['are only active ones', ['gone', 'low'], ['low']],
    ['are all by priority when the number lists none', [], ['high', 'low', 'same']],
  ])('%s', (_what, trunkIds, expected) => {
    expect(ids(candidateTrunks({ trunkIds }, active))).toEqual(expected);
  });
});

describe('The trunk of a transfer', () => {
  const carrier: Trunk = {
    ...trunk('carrier'),
    ...{ username: 'user', password: 'secret', realm: 'carrier', register: true, headers: { 'X-Key': 'k' } },
    ...{ variablesToHeaders: [{ variable: 'v', header: 'X-V' }], outboundProxy: 'sip:proxy.example' },
    ...{ followRedirects: true, transfer: 'refer', codecs: ['G722'] },
  };
  const pbx: Trunk = { ...trunk('pbx', 5), host: 'pbx.example', port: 5070, fromDomain: 'office.example' };
  const select = async (to: string, trunkId?: string, outboundStatus = 'active') =>
    await selectTrunks(
      {
        phoneNumbers: unused<PhoneNumberStore>('phoneNumbers', {
          findByNumber: async () => ({ trunkIds: ['carrier'], outboundStatus }) as never,
        }),
        trunks: unused<TrunkStore>('trunks', { activeOf: async () => [carrier, pbx] }),
        health: unused<TrunkHealthStore>('health', { read: async () => new Map() }),
      },
      'p',
      '+886223456789',
      { to, trunkId },
    );

  test.each([
    ['+886912345678', undefined, ['carrier']],
    ['+886912345678', 'pbx', ['pbx']],
    ['sip:desk@pbx.example', undefined, ['pbx']],
    ['sip:desk@PBX.example:5070', undefined, ['pbx']],
    ['sip:desk@office.example', undefined, ['pbx']],
    ['sip:desk@pbx.example:5080', undefined, ['host']],
    ['sip:desk@pbx.example', 'carrier', ['host']],
    ['sip:desk@elsewhere.example', 'pbx', ['host']],
  ])('to %s, which names %s, is %j', async (to, trunkId, expected) => {
    expect(ids(await select(to, trunkId))).toEqual(expected);
  });

  test('is none where the number places no calls, whatever the target names', async () => {
    expect(await select('+886912345678', 'pbx', 'inactive')).toEqual([]);
  });

  test('is refused where the one that the target names is gone', async () => {
    await expect(select('+886912345678', 'gone')).rejects.toThrow('This project has no active trunk gone');
  });

  test.each([
    ['sip:desk@elsewhere.example', 'udp', 'sip:elsewhere.example'],
    ['sip:desk@elsewhere.example:5060;transport=tcp', 'tcp', 'sip:elsewhere.example:5060;transport=tcp'],
    ['sip:desk@[2001:db8::1];transport=tls', 'tls', 'sip:[2001:db8::1];transport=tls'],
    ['sips:elsewhere.example', 'tls', 'sips:elsewhere.example'],
  ])(
    'to %s is that host itself, by %s, and gets no secret of the carrier',
    async (to, transport, nextHop) => {
      const [host] = await select(to);
      expect(host).toMatchObject({
        transport,
        outboundProxy: nextHop,
        codecs: ['G722'],
        fromDomain: carrier.host,
      });
      expect(host).toMatchObject({ username: null, password: null, realm: null, register: false });
      expect(host).toMatchObject({ headers: {}, variablesToHeaders: [], followRedirects: false });
      // By REFER the carrier would be asked to replace a call that it knows nothing of.
      expect(host).toMatchObject({ transfer: 'second_leg' });
    },
  );
});
