import { expect, test } from 'vitest';
import { CallwayError } from '../../../src/base/errors.ts';
import type { CallLeg } from '../../../src/calls/telephony.ts';
import { TargetLeg, type TargetListener } from '../../../src/calls/transfer/targetLeg.ts';
import { unused } from '../../support/unused.ts';

test.each([
  ['is refused', new CallwayError('unprocessable', 'no', 'Not there'), 'Not there', 0],
  ['fails', new Error('defect'), 'it could not be called', 1],
])('A target whose dialing %s is left', async (_what, error, reason, reported) => {
  const [left, errors]: [unknown[], unknown[]] = [[], []];
  const listener = unused<TargetListener>('listener', { left: (...end) => void left.push(end) });
  const legs: AsyncIterable<CallLeg> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
  };
  await new TargetLeg(listener, (failure) => void errors.push(failure)).dial(legs);
  expect([left, errors.length]).toEqual([[[false, 'failed', reason]], reported]);
});
