import { expect, test } from 'vitest';
import {
  addToken,
  hasToken,
  isIntervalTooSmall,
  negotiateAsUas,
  negotiatedByUac,
  sessionDelays,
  withMinSe,
} from '../../../sip/dialog/sessionTimer.ts';
import { SipHeaders } from '../../../sip/message/headers.ts';
import type { SipRequest } from '../../../sip/message/message.ts';

function headers(entries: Readonly<Record<string, string>>): SipHeaders {
  const made = new SipHeaders();
  for (const [name, value] of Object.entries(entries)) made.add(name, value);
  return made;
}

const invite = (entries: Readonly<Record<string, string>>): SipRequest => ({
  kind: 'request',
  method: 'INVITE',
  uri: 'sip:us@127.0.0.1',
  headers: headers(entries),
  body: '',
});

const asked = (value: string) => invite({ supported: 'timer', 'session-expires': value });

test.each([
  {
    case: 'is no longer than the caller asked for',
    request: asked('600;refresher=uac'),
    own: '1800',
    written: '600;refresher=uac',
    agreed: { intervalSeconds: 600, weRefresh: false },
  },
  {
    case: 'may be shorter than the caller asked for',
    request: asked('1800;refresher=uac'),
    own: '600',
    written: '600;refresher=uac',
    agreed: { intervalSeconds: 600, weRefresh: false },
  },
  {
    case: 'is what the caller asked for when the application has no wish',
    request: asked('1800;refresher=uas'),
    written: '1800;refresher=uas',
    agreed: { intervalSeconds: 1800, weRefresh: true },
  },
  {
    case: 'is refreshed by the caller unless either side says otherwise',
    request: asked('1800'),
    own: '1800',
    written: '1800;refresher=uac',
    agreed: { intervalSeconds: 1800, weRefresh: false },
  },
  {
    case: 'is refreshed by us when the caller has no session timers',
    request: invite({}),
    own: '900;refresher=uac',
    written: '900;refresher=uas',
    agreed: { intervalSeconds: 900, weRefresh: true },
  },
])('The session interval of an inbound call $case', ({ request, own, written, agreed }) => {
  const answer = headers(own === undefined ? {} : { 'session-expires': own });
  expect(negotiateAsUas(request, answer)).toEqual(agreed);
  expect(answer.get('session-expires')).toBe(written);
  expect(answer.list('require')).toEqual(agreed.weRefresh ? [] : ['timer']);
});

test.each(['', 'soon', undefined])('With %j of the caller and no wish of ours there is no timer', (value) => {
  const answer = headers({});
  const request = invite({ supported: 'timer', ...(value !== undefined && { 'session-expires': value }) });
  expect(isIntervalTooSmall(request, 90)).toBe(false);
  expect(negotiateAsUas(request, answer)).toBeUndefined();
  expect(answer.get('session-expires')).toBeUndefined();
});

test.each([
  ['1800', '600;refresher=uas', { intervalSeconds: 600, weRefresh: false }],
  ['1800', '600;refresher=uac', { intervalSeconds: 600, weRefresh: true }],
  ['1800', undefined, { intervalSeconds: 1800, weRefresh: true }],
  [undefined, undefined, undefined],
  ['1800', 'soon', { intervalSeconds: 1800, weRefresh: true }],
])('An outbound call that asked for %s and was answered %s', (own, theirs, agreed) => {
  const answer = headers(theirs === undefined ? {} : { 'session-expires': theirs });
  const request = invite(own === undefined ? {} : { 'session-expires': own });
  expect(negotiatedByUac(request, answer)).toEqual(agreed);
});

test('A 422 raises the interval to its minimum, and only raises it', () => {
  const timer = { intervalSeconds: 600, weRefresh: true };
  expect(withMinSe(timer, headers({ 'min-se': '900' }))).toEqual({
    intervalSeconds: 900,
    weRefresh: true,
    minimumSeconds: 900,
  });
  for (const value of ['600', '90', 'x'])
    expect(withMinSe(timer, headers({ 'min-se': value }))).toBeUndefined();
});

test.each([
  [1800, { refreshMs: 900_000, expireMs: 1_768_000 }],
  [90, { refreshMs: 45_000, expireMs: 60_000 }],
])(
  'A session of %i s is refreshed at half its interval and expires before its end',
  (intervalSeconds, expected) => {
    expect(sessionDelays({ intervalSeconds, weRefresh: true })).toEqual(expected);
  },
);

test.each([
  ['below the minimum is too small', asked('89'), true],
  ['of the minimum is not', asked('90'), false],
  [
    'of a caller that requires timers counts too',
    invite({ require: 'timer', 'session-expires': '60' }),
    true,
  ],
  ['of a caller without timers is not negotiated', invite({ 'session-expires': '60' }), false],
  ['that is not asked for is not too small', invite({ supported: 'timer' }), false],
])('A session interval %s', (_what, request, isTooSmall) => {
  expect(isIntervalTooSmall(request, 90)).toBe(isTooSmall);
});

test('An option tag is found in any case, and added once', () => {
  const made = headers({ supported: '100rel, Timer' });
  expect([hasToken(made, 'supported', 'timer'), hasToken(made, 'require', 'timer')]).toEqual([true, false]);
  addToken(made, 'supported', 'timer');
  addToken(made, 'supported', 'replaces');
  expect(made.get('supported')).toBe('100rel, Timer, replaces');
});
