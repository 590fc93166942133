import { expect, test } from 'vitest';

import {
  requireFuture,
  requireMinutes,
  requireOrigin,
  tooManyWidgetSessions,
  widgetTokenInput,
} from '../../../src/agents/accounts/widgetToken.ts';

const NOON_MS = Date.UTC(2026, 10, 23, 12);
const thrownBy = (action: () => void): unknown => {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
};

test.each([
  ['https://www.example.com', true],
  ['http://localhost:5173', true],
  ['https://www.example.com/', false],
  ['https://www.example.com/page', false],
  ['www.example.com', false],
  ['https://', false],
  ['ftp://example.com', false],
  ['*', false],
  ['https://*', false],
  ['https://*.example.com', false],
  ['https://a*.example.com:8443', false],
])('The origin %s is allowed for a token: %s', (origin, isAllowed) => {
  expect(widgetTokenInput.safeParse({ allowedOrigins: [origin] }).success).toBe(isAllowed);
});

test('A token needs an origin, and has limits', () => {
  expect(widgetTokenInput.safeParse({ allowedOrigins: [] }).success).toBe(false);
  expect(widgetTokenInput.parse({ allowedOrigins: ['https://a.example'] })).toEqual({
    allowedOrigins: ['https://a.example'],
    maxMinutesPerDay: 60,
    requestsPerMinute: 60,
    maxConcurrent: 5,
    expiresAt: null,
  });
});

test.each([
  [{ maxMinutesPerDay: 0 }, true],
  [{ maxMinutesPerDay: -1 }, false],
  [{ maxMinutesPerDay: 1000 * 24 * 60 }, true],
  [{ maxMinutesPerDay: 1000 * 24 * 60 + 1 }, false],
  [{ requestsPerMinute: 0 }, false],
  [{ requestsPerMinute: 1, maxConcurrent: 1 }, true],
  [{ maxConcurrent: 0 }, false],
])('Of a token’s limits, %j is accepted: %s', (limits, isAccepted) => {
  const input = { allowedOrigins: ['https://a.example'], ...limits };
  expect(widgetTokenInput.safeParse(input).success).toBe(isAccepted);
});

test('A token ends in the future, or never', () => {
  const at = (ms: number) => thrownBy(() => requireFuture(new Date(ms).toISOString(), NOON_MS));
  expect([at(NOON_MS + 1), thrownBy(() => requireFuture(null, NOON_MS))]).toEqual([undefined, undefined]);
  expect(at(NOON_MS)).toMatchObject({ category: 'invalid', details: [{ path: '/expiresAt' }] });
});

test('A talk needs minutes, which come again at midnight UTC', () => {
  expect(thrownBy(() => requireMinutes(1, NOON_MS))).toBeUndefined();
  expect(thrownBy(() => requireMinutes(0, NOON_MS))).toMatchObject({
    code: 'widget_minutes_exhausted',
    retryAfterSeconds: 12 * 3600,
  });
  expect(thrownBy(() => requireMinutes(0, NOON_MS + 1))).toMatchObject({ retryAfterSeconds: 12 * 3600 });
});

test('A talk too many says when to try again', () => {
  expect(tooManyWidgetSessions(5)).toMatchObject({
    code: 'widget_concurrency_exceeded',
    retryAfterSeconds: 5,
  });
});

test.each([
  ['https://a.example', true],
  ['https://b.example', false],
  [undefined, false],
])('A page of the origin %s is served: %s', (origin, isServed) => {
  const refusal = thrownBy(() => requireOrigin(origin, ['https://a.example']));
  if (isServed) expect(refusal).toBeUndefined();
  else expect(refusal).toMatchObject({ category: 'forbidden', code: 'origin_not_allowed' });
});
