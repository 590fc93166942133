import { describe, expect, test } from 'vitest';

import { isDestinationAllowed } from '../../../src/calls/limits/destinations.ts';

const rules = (allowedPrefixes: string[], blockedPrefixes: string[] = []) => ({
  allowedPrefixes,
  blockedPrefixes,
});

describe('whether a project may call a number', () => {
  test.each([
    ['everything without rules', rules([]), '+886912345678', true],
    ['what no prefix blocks', rules([], ['+886']), '+14155550123', true],
    ['what a prefix blocks', rules([], ['+886']), '+886912345678', false],
    ['what a prefix allows', rules(['+886']), '+886912345678', true],
    ['nothing else where some are allowed', rules(['+886']), '+14155550123', false],
    ['a part of what is blocked', rules(['+8869'], ['+886']), '+886912345678', true],
    ['not the rest of it', rules(['+8869'], ['+886']), '+886223456789', false],
    ['not a blocked part of what is allowed', rules(['+886'], ['+8862031']), '+886203112345', false],
    ['not what both name alike', rules(['+886'], ['+886']), '+886912345678', false],
    ['nothing where all is blocked', rules([], ['+']), '+886912345678', false],
    ['all but what is blocked where all is allowed', rules(['+'], ['+1900']), '+14155550123', true],
  ])('%s', (_what, given, to, expected) => {
    expect(isDestinationAllowed(given, to)).toBe(expected);
  });
});

describe('whether a project may transfer to a SIP URI', () => {
  const noPremium = rules([], ['+1900']);
  const home = rules(['+886']);

  test.each([
    ['anything without rules', rules([]), 'sip:+19005550123@carrier.example', true],
    ['a blocked number', noPremium, 'sip:+19005550123@carrier.example', false],
    ['a blocked number without its plus', noPremium, 'sip:19005550123@carrier.example', false],
    ['a blocked number as it is dialled abroad', noPremium, 'sip:0019005550123@carrier.example', false],
    ['a blocked number in escapes', noPremium, 'sip:%2B1%39005550123@carrier.example', false],
    ['a blocked number with parameters', noPremium, 'sip:+19005550123;npdi;a=@b:c@carrier.example', false],
    ['a blocked number with a password', noPremium, 'SIPS:+19005550123:secret@carrier.example', false],
    ['a blocked number with separators', noPremium, 'sip:+1-900-555-0123@carrier.example', false],
    [
      'a number behind an access code that nobody can read',
      noPremium,
      'sip:011886912345678@carrier.example',
      false,
    ],
    ['a number in a broken escape', noPremium, 'sip:%zz+19005550123@carrier.example', false],
    ['another number', noPremium, 'sip:+14155550123@carrier.example', true],
    ['a name', noPremium, 'sip:alice@pbx.example', true],
    ['an extension', noPremium, 'sip:1001@pbx.example', true],
    ['a host alone', noPremium, 'sip:pbx.example', true],
    ['an allowed number', home, 'sip:0912345678@carrier.example', true],
    ['a name where only numbers are allowed', home, 'sip:alice@pbx.example', false],
    ['an extension where only numbers are allowed', home, 'sip:1001@pbx.example', false],
    ['a host alone where only numbers are allowed', home, 'sip:pbx.example', false],
  ])('%s', (_what, given, to, expected) => {
    expect(isDestinationAllowed(given, to)).toBe(expected);
  });
});
