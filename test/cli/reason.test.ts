import { expect, it } from 'vitest';

import { reasonOf } from '../../src/cli/reason.ts';

const coded = (code: string, message = '') => Object.assign(new Error(message), { code });

it.each([
  { error: new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }), reason: 'connection refused' },
  {
    error: new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')]) }),
    reason: 'connection refused',
  },
  { error: new DOMException('The operation was aborted', 'TimeoutError'), reason: 'no answer in time' },
  {
    error: coded('28P01', 'password authentication failed for user "a"'),
    reason: 'password authentication failed for user "a"',
  },
  { error: coded('EWEIRD'), reason: 'EWEIRD' },
  { error: 'text', reason: 'text' },
])('$error is told as "$reason"', ({ error, reason }) => {
  expect(reasonOf(error)).toBe(reason);
});
