import { describe, expect, test } from 'vitest';

import { isDestinationAllowed } from '../../../src/calls/limits/destinations.ts';

const rules = (allowedPrefixes: string[], blockedPrefixes: string[] = []) => ({
  allowedPrefixes,
  blockedPrefixes,
});

describe('isDestinationAllowed for a number', () => {
  test.each([
    ['allows everything without rules', rules([]), '+886912345678', true],
    ['allows what no prefix blocks', rules([], ['+886']), '+14155550123', true],
    ['refuses what a prefix blocks', rules([], ['+886']), '+886912345678', false],
    ['allows what a prefix allows', rules(['+886']), '+886912345678', true],
    ['refuses what no prefix allows', rules(['+886']), '+14155550123', false],
    ['allows a longer prefix within a blocked one', rules(['+8869'], ['+886']), '+886912345678', true],
    ['refuses the rest of the blocked prefix', rules(['+8869'], ['+886']), '+886223456789', false],
    ['refuses a longer prefix within an allowed one', rules(['+886'], ['+8862031']), '+886203112345', false],
    ['refuses a prefix that is both allowed and blocked', rules(['+886'], ['+886']), '+886912345678', false],
    ['refuses everything when + is blocked', rules([], ['+']), '+886912345678', false],
    ['allows the rest when + is allowed', rules(['+'], ['+1900']), '+14155550123', true],
  ])('%s', (_what, given, to, expected) => {
    expect(isDestinationAllowed(given, to)).toBe(expected);
  });
});

describe('isDestinationAllowed for a SIP URI with', () => {
  const noPremium = rules([], ['+1900']);
  const home = rules(['+886']);

  test.each([
    ['a premium number, without rules', rules([]), 'sip:+19005550123@carrier.example', true],
    ['a blocked number', noPremium, 'sip:+19005550123@carrier.example', false],
    ['a blocked number without its plus', noPremium, 'sip:19005550123@carrier.example', false],
    ['a blocked number with an international prefix', noPremium, 'sip:0019005550123@carrier.example', false],
    ['a blocked number in percent escapes', noPremium, 'sip:%2B1%39005550123@carrier.example', false],
    ['a blocked number with parameters', noPremium, 'sip:+19005550123;npdi;a=@b:c@carrier.example', false],
    ['a blocked number with a password', noPremium, 'SIPS:+19005550123:secret@carrier.example', false],
    ['a blocked number with separators', noPremium, 'sip:+1-900-555-0123@carrier.example', false],
    ['an unreadable number behind an access code', noPremium, 'sip:011886912345678@carrier.example', false],
    ['a number behind an invalid escape', noPremium, 'sip:%zz+19005550123@carrier.example', false],
    ['another number', noPremium, 'sip:+14155550123@carrier.example', true],
    ['a name', noPremium, 'sip:alice@pbx.example', true],
    ['an extension', noPremium, 'sip:1001@pbx.example', true],
    ['no user part', noPremium, 'sip:pbx.example', true],
    ['an allowed number', home, 'sip:0912345678@carrier.example', true],
    ['a name when only numbers are allowed', home, 'sip:alice@pbx.example', false],
    ['an extension when only numbers are allowed', home, 'sip:1001@pbx.example', false],
    ['no user part when only numbers are allowed', home, 'sip:pbx.example', false],
  ])('%s', (_what, given, to, expected) => {
    expect(isDestinationAllowed(given, to)).toBe(expected);
  });
});
