import { expect, test } from 'vitest';
import { parseMessage } from '../../../sip/message/parse.ts';
import type { HeldNumber } from '../../../src/calls/numbers/phoneNumberStore.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import { routeInvite } from '../../../src/telephony/trunks/inboundRoute.ts';
import { trunkOf } from '../../support/telephonyRig.ts';

const [A, B, PENDING] = ['+886911111111', '+886922222222', '+886933333333'];
const trunk = (id: string, projectId: string, username: string | null = null): Trunk => ({
  ...trunkOf({ host: '192.0.2.1', username }),
  id,
  projectId,
});
const held = (projectId: string, number: string, more: Partial<HeldNumber> = {}): HeldNumber => ({
  id: number,
  projectId,
  number,
  trunkIds: [],
  outboundStatus: 'active',
  inboundEnabled: true,
  record: null,
  noiseSuppression: null,
  media: null,
  startNodeId: null,
  variables: {},
  verified: true,
  createdAt: '',
  updatedAt: '',
  ...more,
});
const invite = (user: string, to = user, ...added: readonly string[]) => {
  const extra = added.map((line) => `${line}\r\n`).join('');
  const text = `INVITE sip:${user}@192.0.2.9 SIP/2.0\r\n${extra}Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r\nFrom: <sip:x@y>;tag=1\r\nTo: <sip:${to}@192.0.2.9>\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n`;
  const message = parseMessage(Buffer.from(text));
  if (!('method' in message)) throw new Error('not a request');
  return message;
};
const numbers = [held('a', A), held('b', B, { trunkIds: ['b2'] }), held('a', PENDING, { verified: false })];

const onlyA = [trunk('a1', 'a')] as const;
const both = [trunk('a1', 'a'), trunk('b1', 'b'), trunk('b2', 'b')] as const;
const named = (username: string) => [trunk('a1', 'a', username), trunk('b2', 'b')] as const;

test.each([
  ['the holder’s trunk', both, invite(A), 'a1', A],
  ['a trunk that the number lists', both, invite(B), 'b2', B],
  ['no trunk of the holder at this source', onlyA, invite(B), 'a1', undefined],
  ['a pending claim, which takes no calls', onlyA, invite(PENDING), 'a1', PENDING],
  ['an unknown number', both, invite('+886944444444'), 'a1', undefined],
  ['an extension', both, invite('100'), 'a1', undefined],
  ['a registered name, with the number in To', named('clinic'), invite('clinic', A), 'a1', A],
  [
    'a registered name of a, with the number of b in To',
    named('clinic'),
    invite('clinic', B),
    'a1',
    undefined,
  ],
  ['a number that a registers as its name', named(B), invite(B), 'b2', B],
  [
    'a number that a registers as its name, in another spelling',
    named(B.slice(1)),
    invite(B.slice(1)),
    'b2',
    B,
  ],
  ['a name that no trunk has, with the number in To', both, invite('clinic', B), 'b2', B],
  ['a number that is not held, with another one in To', both, invite('+886944444444', A), 'a1', undefined],
  [
    'a registered name, with the number in P-Called-Party-ID',
    named('clinic'),
    invite('clinic', 'clinic', `P-Called-Party-ID: <tel:${A}>`),
    'a1',
    A,
  ],
  [
    'a name, with the number in the newest Diversion that is one',
    both,
    invite('clinic', 'clinic', 'Diversion: <sip:x@y>', `Diversion: Lin, Ada <sip:${A}@y>, <sip:${B}@y>`),
    'a1',
    A,
  ],
  [
    'a name, with the number in the newest History-Info that is one',
    both,
    invite(
      'clinic',
      'clinic',
      `History-Info: <sip:${B}@y>;index=1, <sip:${A}@y?Reason=SIP>;index=1.1`,
      'History-Info: <sip:clinic@y>;index=1.1.1',
    ),
    'a1',
    A,
  ],
  [
    'no number that was forwarded to another one',
    both,
    invite('+886944444444', '', `Diversion: <sip:${A}@y>`),
    'a1',
    undefined,
  ],
])('A call reaches %s', async (_what, candidates, message, trunkId, number) => {
  const findHolder = async (dialed: string) => numbers.find((one) => one.number === dialed);
  const deps = { numbers: { findHolder }, takesPendingClaims: false };
  const called = await routeInvite(deps, candidates, message);
  expect([called.trunk.id, called.number?.number]).toEqual([trunkId, number]);
  expect(called.number?.inboundEnabled).toBe(number && number !== PENDING);
});

test('Pending claims take calls where ownership is open', async () => {
  const findHolder = async () => numbers[2];
  const called = await routeInvite(
    { numbers: { findHolder }, takesPendingClaims: true },
    onlyA,
    invite(PENDING),
  );
  expect(called.number?.number).toBe(PENDING);
});
