import { expect, it } from 'vitest';

import { failureReason } from '../../src/cli/connectionFailure.ts';

const coded = (code: string, message = '') => Object.assign(new Error(message), { code });

it.each([
  { error: new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }), reason: 'connection refused' },
  {
    error: new TypeError('fetch failed', { cause: new AggregateError([coded('ECONNREFUSED')]) }),
    reason: 'connection refused',
  },
  { error: new DOMException('The operation was aborted', 'TimeoutError'), reason: 'timeout' },
  {
    error: coded('28P01', 'password authentication failed for user "a"'),
    reason: 'password authentication failed for user "a"',
  },
  { error: coded('EWEIRD'), reason: 'EWEIRD' },
  { error: 'text', reason: 'text' },
])('The failure reason of $error is "$reason"', ({ error, reason }) => {
  expect(failureReason(error)).toBe(reason);
});
