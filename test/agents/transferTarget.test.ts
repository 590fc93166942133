import { expect, test } from 'vitest';

import { isTransferTargetAllowed, readTransferTarget } from '../../src/agents/transferTarget.ts';

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
  expect(isTransferTargetAllowed(targets, to)).toBe(expected);
});
