import { expect, test } from 'vitest';

import { allowedTarget, readTransferTarget, sipHost } from '../../src/agents/transferTarget.ts';

test.each([
  ['+886223456789', '+886223456789'],
  ['0223456789', '+886223456789'],
  ['sip:alice@pbx.example', 'sip:alice@pbx.example'],
  ['SIPS:Alice@PBX.example:5061', 'sips:Alice@pbx.example:5061'],
  ['sip:pbx.example', 'sip:pbx.example'],
  ['sip:a@[2001:db8::1]:5070', 'sip:a@[2001:db8::1]:5070'],
  ['sip:a@pbx.example?Replaces=x%3Bto-tag%3D1&Route=%3Csip:evil%3E', 'sip:a@pbx.example'],
  ['sip:a:secret@pbx.example', 'sip:a@pbx.example'],
  ['sip:a@pbx.example;method=BYE;maddr=10.0.0.1;transport=tcp;lr', 'sip:a@pbx.example;transport=tcp'],
  ['sip:+886223456789@c.example;user=phone', 'sip:+886223456789@c.example;user=phone'],
  ['sip:a@pbx.example>;x', undefined],
  ['sip:a b@pbx.example', undefined],
  ['sip:a@pbx.example:0', undefined],
  ['sip:a@pbx.example:65536', undefined],
  ['sip:a@pbx.example\r\nX-Evil: 1', undefined],
  ['alice', undefined],
])('A transfer to %j goes to %j', (text, expected) => {
  expect(readTransferTarget(text)).toBe(expected);
});

test.each([
  [null, 'sip:anyone@anywhere.example', true],
  [['+886223456789'], '0223456789', true],
  [['sip:desk@pbx.example'], 'sip:desk@PBX.example?Replaces=1', true],
  [['+886223456789'], 'sip:+886223456789@elsewhere.example', false],
  [['sip:desk@pbx.example'], 'sip:desk2@pbx.example', false],
  [[], '+886223456789', false],
])('With the targets %j a model may choose %s: %s', (targets, to, expected) => {
  expect(allowedTarget(targets, { to }) !== undefined).toBe(expected);
});

test.each([
  ['the trunk of its entry', undefined, { to: '0223456789', trunkId: 'a' }],
  ['that same trunk, which it names itself', 'a', { to: '0223456789', trunkId: 'a' }],
  ['no other trunk', 'b', undefined],
])('A listed target with a trunk is called over %s', (_, trunkId, expected) => {
  expect(allowedTarget([{ to: '+886223456789', trunkId: 'a' }], { to: '0223456789', trunkId })).toEqual(
    expected,
  );
});

test.each([
  ['PBX.Example.com', 'pbx.example.com'],
  ['pbx.example.com.', 'pbx.example.com'],
  ['192.0.2.1', '192.0.2.1'],
  ['[2001:DB8::1]', '2001:db8::1'],
  ['_sip.example', '_sip.example'],
  ['*.example.com', undefined],
  ['.example.com', undefined],
  ['example..com', undefined],
  ['sip:example.com', undefined],
  ['example.com:5060', undefined],
  ['user@example.com', undefined],
  ['example.com/x', undefined],
  ['-', undefined],
  ['', undefined],
])('The host of %j is %j', (text, expected) => {
  expect(sipHost(text)).toBe(expected);
});
