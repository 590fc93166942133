import { describe, expect, test } from 'vitest';
import { callResultOf, type HangupIntent, mayTryNextTrunk } from '../../../src/calls/runner/callResult.ts';
import type { LegEnd, LegOutcome } from '../../../src/calls/telephony.ts';

const end = (outcome: LegOutcome, code?: number): LegEnd => ({
  outcome,
  sip: code === undefined ? null : { code, reason: 'x' },
  q850Cause: null,
});

describe('callResultOf', () => {
  test.each<[LegOutcome, HangupIntent | null, string, string | null]>([
    ['busy', null, 'busy', null],
    ['no_answer', null, 'no_answer', null],
    ['declined', null, 'failed', 'declined'],
    ['unreachable', null, 'failed', 'unreachable'],
    ['invalid_number', null, 'failed', 'invalid_number'],
    ['rejected', null, 'failed', 'rejected'],
    ['trunk_error', null, 'failed', 'trunk_error'],
    ['canceled', 'api_hangup', 'canceled', 'api_hangup'],
    ['busy', 'api_hangup', 'canceled', 'api_hangup'],
    ['remote_hangup', null, 'canceled', 'caller_hangup'],
    ['lost', 'node_lost', 'failed', 'node_lost'],
  ])('an unanswered leg %s with intent %s is %s, %s', (outcome, intent, status, endReason) => {
    expect(callResultOf(end(outcome), false, intent)).toMatchObject({ status, endReason });
  });

  test.each<[LegOutcome, HangupIntent | null, string, string]>([
    ['remote_hangup', null, 'completed', 'caller_hangup'],
    ['local_hangup', 'agent_hangup', 'completed', 'agent_hangup'],
    ['local_hangup', 'api_hangup', 'completed', 'api_hangup'],
    ['local_hangup', 'max_duration', 'completed', 'max_duration'],
    ['local_hangup', 'media_timeout', 'completed', 'media_timeout'],
    ['remote_hangup', 'transferred', 'completed', 'transferred'],
    ['local_hangup', 'node_lost', 'failed', 'node_lost'],
    ['lost', null, 'failed', 'trunk_error'],
  ])('an answered leg %s with intent %s is %s, %s', (outcome, intent, status, endReason) => {
    expect(callResultOf(end(outcome, 200), true, intent)).toEqual({
      status,
      endReason,
      sip: { code: 200, reason: 'x' },
      q850Cause: null,
    });
  });
});

test.each<[LegOutcome, number | undefined, boolean]>([
  ['trunk_error', 500, true],
  ['trunk_error', 503, true],
  ['trunk_error', undefined, true],
  ['unreachable', undefined, true],
  ['rejected', 408, true],
  // The phone rang until the ring timeout.
  ['no_answer', 408, false],
  ['no_answer', 480, false],
  ['busy', 486, false],
  ['busy', 600, false],
  ['declined', 603, false],
  ['declined', 607, false],
  ['declined', 608, false],
  ['invalid_number', 404, false],
  ['invalid_number', 484, false],
  ['rejected', 403, false],
  ['canceled', 487, false],
  ['remote_hangup', 200, false],
])('mayTryNextTrunk after %s (%s) is %s', (outcome, code, tried) => {
  expect(mayTryNextTrunk(end(outcome, code))).toBe(tried);
});
