import { expect, test } from 'vitest';
import type { TransferTarget } from '../../../src/agents/transferTarget.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { CallLeg, DialRequest, Telephony } from '../../../src/calls/telephony.ts';
import { dialTransferTarget } from '../../../src/calls/transfer/transferLegs.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../../src/calls/trunks/trunkHealth.ts';
import { selectTrunks } from '../../../src/calls/trunks/trunkSelection.ts';
import type { TrunkChannel } from '../../../src/calls/trunks/trunkSlots.ts';
import type { MediaSession } from '../../../src/media/mediaSession.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const CALL = { id: 'c', projectId: 'p', fromNumber: '+886911111111', settings: {} } as Call;
const BETWEEN_MS = 200;

/** Dials a target on a trunk whose channel takes these turns. @returns Ids of the trunks that were dialed. */
async function dialed(waits: readonly number[], id = 't'): Promise<string[]> {
  const clock = createSimulatedClock();
  const left = [...waits];
  const trunks: string[] = [];
  const deps = {
    telephony: unused<Telephony>('telephony', {
      dial: ({ trunk }: DialRequest) => {
        trunks.push(trunk.id);
        return {} as CallLeg;
      },
    }),
    trunks: async () => [{ id } as Trunk],
    admit: async (target: TransferTarget) => target,
    variables: async () => ({}),
    allowedRedirects: async () => () => false,
    channel: unused<TrunkChannel>('channel', {
      moveTo: async () => left.shift() ?? 0,
      release: async () => undefined,
    }),
    clock,
  };
  const options = { bridgeWith: {} as MediaSession, ringTimeoutMs: 30_000 };
  const legs = (async () => {
    for await (const _ of dialTransferTarget(deps, CALL, { to: '+886222222222' }, options)) break;
  })();
  for (let n = 0; n < 2 * waits.length + 2; n++) {
    await new Promise(setImmediate);
    clock.advance(1000);
  }
  await legs;
  return trunks;
}

test.each([
  ['is called at once where a channel is free', [], ['t']],
  ['is called after others that were first at the trunk’s rate', [BETWEEN_MS, BETWEEN_MS, BETWEEN_MS], ['t']],
  ['is not called where the trunk has no free channel', [5000], []],
  ['is not called where others are always first', Array.from({ length: 20 }, () => BETWEEN_MS), []],
])('A transfer target %s', async (_, waits, trunks) => {
  expect(await dialed(waits)).toEqual(trunks);
});

test('A host that is no trunk is called without a channel', async () => {
  const [host] = await selectTrunks(
    {
      phoneNumbers: { findByNumber: async () => ({ trunkIds: [], outboundStatus: 'active' }) as never },
      trunks: {
        activeOf: async () => [{ id: 't', priority: 0, host: 'carrier.example', fromDomain: null } as Trunk],
      },
      health: unused<TrunkHealthStore>('health', { read: async () => new Map() }),
    },
    'p',
    '+886911111111',
    { to: 'sip:desk@elsewhere.example' },
  );
  expect(await dialed([5000], host?.id)).toEqual([host?.id]);
});
