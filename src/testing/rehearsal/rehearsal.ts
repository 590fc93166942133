import { z } from 'zod';
import { CallwayError } from '../../base/errors.ts';
import { maskNumber } from '../../calls/numbers/number.ts';
import type { Campaign } from '../../campaigns/campaign.ts';
import type { Contact } from '../../campaigns/contact.ts';
import type { WantedRun } from '../runs/createRun.ts';
import { runInput } from '../runs/testRun.ts';
import { calleeOf } from './callee.ts';

/** Each is a call that is spoken and heard in real time, as many at once as a run plays. */
const MAX_REHEARSED = 100;

export const rehearsalInput = z.strictObject({
  contacts: z
    .int()
    .min(1)
    .max(MAX_REHEARSED)
    .describe(
      'How many are played: the first ones that are still to be called. Each is a call in real time, so that a hundred take many minutes.',
    ),
  seed: runInput.shape.seed.describe('Decides what happens to which contact. Default: a random one.'),
});

/**
 * Returns the cases of contacts: what happens to each by the seed, with the variables that a real call has.
 *
 * @throws {CallwayError} 409 `no_contacts`
 */
export function rehearsalOf(
  campaign: Campaign,
  contacts: readonly Contact[],
  seed: number,
): Pick<WantedRun, 'testSuiteId' | 'name' | 'cases'> {
  if (contacts.length === 0)
    throw new CallwayError(
      'conflict',
      'no_contacts',
      'The campaign has no contacts that are still to be called',
    );
  return {
    testSuiteId: null,
    name: campaign.name,
    cases: contacts.map(({ id, externalId, toNumber, variables }, position) => ({
      testCaseId: null,
      contactId: id,
      name: externalId ?? maskNumber(toNumber),
      definition: {
        channel: 'phone',
        persona: null,
        variables: { ...campaign.variables, ...variables },
        turns: null,
        toolMocks: [],
        allowRealTools: false,
        phone: null,
        assertions: [],
        callee: calleeOf(seed, position),
      },
    })),
  };
}
