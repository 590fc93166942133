import { expect, test } from 'vitest';

import { CallwayError } from '../../../src/base/errors.ts';
import type { CallStatus } from '../../../src/calls/call.ts';
import { CallControl } from '../../../src/calls/runner/callControl.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { makeCall } from '../support/makeCall.ts';

const TO = '+886223456780';
const FORBIDDEN = '+8862031234567';
const notUsed = () => Promise.reject(new Error('not used here'));

/** @param targets - The agent's `transferTargets`. */
function control(status: CallStatus, targets: readonly string[] | null = null) {
  const asked: unknown[] = [];
  const call = makeCall({ status });
  const calls = new CallControl({
    calls: {
      find: async (_project, id) => (id === call.id ? call : undefined),
      requestHangup: notUsed,
      mediaSamples: notUsed,
    },
    finisher: { settleCanceled: notUsed },
    queue: { remove: notUsed },
    limiter: {
      async requireAllowedDestination(_project, to) {
        if (to === FORBIDDEN) throw new CallwayError('unprocessable', 'destination_not_allowed', 'no');
      },
    },
    transferTargets: async () => targets,
    hasMedia: notUsed,
    bus: { publish: notUsed },
    requests: {
      async ask(callId, name, argument) {
        asked.push([callId, name, argument]);
        return { id: 'participant' } as never;
      },
    },
    clock: createSimulatedClock(),
    onError: () => undefined,
  });
  return { asked, add: (to: string, id = call.id) => calls.addParticipant('project', id, to) };
}

test('A participant is asked for at the node that runs the call, by the normalized number', async () => {
  const { asked, add } = control('in_progress', [TO]);
  expect(await add('0223456780')).toEqual({ id: 'participant' });
  expect(asked).toEqual([['call', 'add_participant', { to: TO }]]);
});

test.each([
  ['no number', 'in_progress', null, 'nobody', 'invalid_transfer_target'],
  ['a forbidden destination', 'in_progress', null, FORBIDDEN, 'destination_not_allowed'],
  ['none of the agent’s transferTargets', 'in_progress', ['+886223456789'], TO, 'destination_not_allowed'],
  ['a call that rings', 'ringing', null, TO, 'call_not_in_progress'],
  ['a call that has ended', 'completed', null, TO, 'call_not_in_progress'],
] as const)('Nobody is added to or by %s', async (_what, status, targets, to, code) => {
  const { asked, add } = control(status, targets);
  await expect(add(to)).rejects.toMatchObject({ code });
  expect(asked).toEqual([]);
});

test('An unknown call has no participants', async () => {
  await expect(control('in_progress').add(TO, 'unknown')).rejects.toMatchObject({ code: 'call_not_found' });
});
