import { describe, expect, test } from 'vitest';

import type { Call } from '../../src/calls/call.ts';
import { attemptEnd, isFailing, retryAfterMinutes, withOutcome } from '../../src/campaigns/attempt.ts';
import type { ContactOutcome } from '../../src/campaigns/contact.ts';

describe('The end of a call', () => {
  test.each<[Call['status'], Call['endReason'], Call['answeringMachine'], string]>([
    ['completed', 'caller_hangup', 'human', 'answered'],
    ['completed', 'agent_hangup', 'unknown', 'answered'],
    ['completed', 'api_hangup', null, 'answered'],
    ['completed', 'caller_hangup', 'machine', 'machine'],
    ['completed', 'agent_hangup', 'screening', 'screening'],
    ['busy', null, null, 'busy'],
    ['no_answer', null, null, 'no_answer'],
    ['failed', 'declined', null, 'declined'],
    ['failed', 'invalid_number', null, 'invalid_number'],
    ['failed', 'unreachable', null, 'failed'],
    ['failed', 'trunk_error', null, 'failed'],
    ['failed', 'rejected', null, 'failed'],
    // Its node has died: the call may have gone out.
    ['failed', 'node_lost', 'human', 'failed'],
    ['canceled', 'api_hangup', null, 'canceled'],
    ['canceled', 'do_not_call', null, 'do_not_call'],
    ['canceled', 'outside_calling_hours', null, 'put_back'],
    ['canceled', 'campaign_stopped', null, 'put_back'],
  ])('%s (%s, answered by %s) is %s for its contact', (status, endReason, answeringMachine, outcome) => {
    expect(attemptEnd({ status, endReason, answeringMachine } as Call)).toEqual({ outcome });
  });
});

describe('A contact', () => {
  const retry = {
    maxAttempts: 3,
    rules: [
      { outcomes: ['busy' as const], afterMinutes: 15 },
      { outcomes: ['no_answer' as const, 'busy' as const], afterMinutes: 120 },
      { outcomes: ['failed' as const], afterMinutes: 0 },
    ],
  };
  test.each<[ContactOutcome, number, number | undefined]>([
    ['busy', 1, 15],
    ['no_answer', 2, 120],
    ['failed', 1, 0],
    ['busy', 3, undefined],
    ['machine', 1, undefined],
    ['answered', 1, undefined],
    ['declined', 1, undefined],
    ['invalid_number', 1, undefined],
    ['canceled', 1, undefined],
  ])('that was %s in attempt %i is called again after %s minutes', (outcome, attempts, minutes) => {
    expect(retryAfterMinutes(retry, outcome, attempts)).toBe(minutes);
  });
});

describe('A campaign pauses itself', () => {
  const pauseWhen = { failedPercent: 80, ofLast: 50 };
  test.each([
    ['not before ten attempts', 'fffffffff', pauseWhen, false],
    ['when all of ten have failed', 'ffffffffff', pauseWhen, true],
    ['when 8 of 10 have failed', 'ffff.ffff.', pauseWhen, true],
    ['not when 7 of 10 have failed', 'fff..ffff.', pauseWhen, false],
    ['by the last ones alone', `${'.'.repeat(60)}${'f'.repeat(40)}${'.'.repeat(10)}`, pauseWhen, true],
    ['by fewer than ten, once there were ten', '.......fff', { failedPercent: 100, ofLast: 3 }, true],
    ['never without a rule', 'f'.repeat(100), null, false],
  ])('%s', (_, recent, rule, isPaused) => {
    expect(isFailing(recent, rule)).toBe(isPaused);
  });

  test('and only failed counts', () => {
    const outcomes: ContactOutcome[] = [
      'failed',
      'busy',
      'no_answer',
      'declined',
      'invalid_number',
      'canceled',
    ];
    expect(outcomes.reduce((recent, one) => withOutcome(recent, one, pauseWhen), '')).toBe('f.....');
    expect(withOutcome('f'.repeat(50), 'busy', pauseWhen)).toBe(`${'f'.repeat(49)}.`);
  });
});
