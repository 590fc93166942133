import { describe, expect, test } from 'vitest';

import { NEW_PROJECT_CALL_LIMITS } from '../../../src/agents/accounts/callLimits.ts';
import { destinationRefusal, domainRefusal } from '../../../src/calls/limits/destinations.ts';

const rules = (allowedPrefixes: string[], blockedPrefixes: string[] = []) => ({
  allowedPrefixes,
  blockedPrefixes,
  ownCountriesOnly: false,
  blockSpecialRates: false,
});

describe('destinationRefusal for a number', () => {
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
    expect(destinationRefusal(given, to, []) === undefined).toBe(expected);
  });
});

describe('destinationRefusal for a SIP URI with', () => {
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
    expect(destinationRefusal(given, to, []) === undefined).toBe(expected);
  });
});

describe('A new project, with a number in Taiwan and one in the United States,', () => {
  const own = ['+886223456789', '+12125551234'];
  test.each([
    ['may call its own country', '+886912345678', true],
    ['may call its other country', '+14155550123', true],
    ['may call a free number of its country', '+18005551234', true],
    ['may not call another country', '+441234567890', false],
    ['may not call another country of the same calling code', '+18765551234', false],
    ['may not call a premium number', '+886204123456', false],
    ['may not call a premium number with digits behind it', '+88620412345678', false],
    ['may not call a premium number of its other country', '+19005551234', false],
    ['may not call a satellite', '+881612345678', false],
    ['may not transfer to a premium number', 'sip:+886204123456@carrier.example', false],
    ['may not transfer to a premium number in national format', 'sip:0204123456@carrier.example', false],
    ['may not transfer to a tel: URI of a premium number', 'tel:+886204123456;ext=1', false],
    ['may transfer to an extension', 'sip:1001@pbx.example', true],
  ])('%s: %s', (_what, to, expected) => {
    expect(destinationRefusal(NEW_PROJECT_CALL_LIMITS, to, own) === undefined).toBe(expected);
  });

  test.each([
    ['a prefix of four digits opens premium numbers', ['+1900'], '+19005551234', true],
    ['a shorter one does not', ['+190'], '+19005551234', false],
    ['a whole country does not', ['+886'], '+886204123456', false],
    ['allowed prefixes replace the own countries', ['+44'], '+441234567890', true],
    ['allowed prefixes leave no others', ['+44'], '+886912345678', false],
    ['shared-cost numbers stay refused', ['+49'], '+491801234567', false],
    ['all numbers but premium ones', ['+'], '+979123456789', false],
  ])('%s', (_what, allowedPrefixes, to, expected) => {
    expect(destinationRefusal({ ...NEW_PROJECT_CALL_LIMITS, allowedPrefixes }, to, own) === undefined).toBe(
      expected,
    );
  });
});

test.each([
  ['+12025550123', {}, 'ownCountriesOnly allows its own countries (DE, TW)'],
  ['+499001234567', {}, 'blockSpecialRates refuses premium-rate, shared-cost and satellite numbers'],
  ['+49301234567', { blockedPrefixes: ['+4', '+4930'] }, 'blockedPrefixes has +4930'],
  ['+49301234567', { allowedPrefixes: ['+886'] }, 'allowedPrefixes has no prefix of it'],
])('The refusal of %s names the limit', (to, change, why) => {
  const own = ['+49891234567', '+49891234568', '+886223456789'];
  expect(destinationRefusal({ ...NEW_PROJECT_CALL_LIMITS, ...change }, to, own)).toBe(why);
});

test.each([
  ['sip:desk@pbx.example.com', true],
  ['sips:desk@PBX.example.com:5091;transport=tls', true],
  ['sip:desk@pbx.example.com.', true],
  ['sip:desk@[2001:db8::1]', true],
  ['sip:desk@sub.pbx.example.com', false],
  ['sip:desk@evil-pbx.example.com', false],
  ['sip:pbx.example.com@evil.example', false],
  ['sip:desk%40pbx.example.com@evil.example', false],
  ['sip:pbx.example.com;x@evil.example', false],
  ['sip:desk@127.0.0.1', false],
  ['sip:desk@carrier.example', true],
  ['sip:desk@carrier.example:5070', true],
  ['sip:desk@carrier.example:5060', false],
  ['sip:desk@own.example', true],
  ['sip:desk@own.example:5070', false],
  ['sip:', false],
  ['+886223456789', true],
])('A transfer to %s is %s', (to, isAllowed) => {
  const limits = { allowedSipDomains: ['PBX.example.com', '[2001:db8::1]'] };
  const trunks = [{ host: 'carrier.example', port: 5070, fromDomain: 'own.example' }];
  expect(domainRefusal(limits, to, trunks) === undefined).toBe(isAllowed);
});
