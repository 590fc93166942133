import { expect, test } from 'vitest';
import type { Clock } from '../../../src/base/values/clock.ts';
import type { Call } from '../../../src/calls/call.ts';
import type { MediaFiles } from '../../../src/calls/holdMusic/mediaFiles.ts';
import type { CallLimiter } from '../../../src/calls/limits/callLimiter.ts';
import type { CallPlaces } from '../../../src/calls/limits/callPlaces.ts';
import type { PhoneNumberStore } from '../../../src/calls/numbers/phoneNumberStore.ts';
import type { CallStreams } from '../../../src/calls/runner/callStreams.ts';
import type { CallSessions } from '../../../src/calls/setup/callSessions.ts';
import type { CallLeg, DialRequest, Telephony } from '../../../src/calls/telephony.ts';
import { CallParties } from '../../../src/calls/transfer/callParties.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import type { TrunkHealthStore } from '../../../src/calls/trunks/trunkHealth.ts';
import type { TrunkChannel } from '../../../src/calls/trunks/trunkSlots.ts';
import type { TrunkStore } from '../../../src/calls/trunks/trunkStore.ts';
import type { MediaSession } from '../../../src/media/mediaSession.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const CALL = { id: 'c', projectId: 'p', fromNumber: '+886911111111', settings: {} } as Call;
const BETWEEN_MS = 200;

interface Given {
  readonly clock: Clock;
  /** How long the trunk's channel makes a leg wait, one value a turn. */
  readonly waits: number[];
  /** The number on a do-not-call list. */
  readonly listed: string | undefined;
  readonly onDialed: (trunkId: string) => void;
}

function makeParties({ clock, waits, listed, onDialed }: Given): CallParties {
  const active = { id: 't', priority: 0, host: 'carrier.example', fromDomain: null } as Trunk;
  return new CallParties(
    {
      telephony: unused<Telephony>('telephony', {
        dial: ({ trunk }: DialRequest) => {
          onDialed(trunk.id);
          return {} as CallLeg;
        },
      }),
      trunks: {
        phoneNumbers: unused<PhoneNumberStore>('phoneNumbers', {
          findByNumber: async () => ({ trunkIds: [], outboundStatus: 'active' }) as never,
        }),
        trunks: unused<TrunkStore>('trunks', { activeOf: async () => [active] }),
        health: unused<TrunkHealthStore>('health', { read: async () => new Map() }),
      },
      limiter: unused<CallLimiter>('limiter', {
        admitOrder: async () => undefined,
        allowedRedirects: async () => () => false,
      }),
      callingRules: async (_projectId, number) => ({ isListed: number === listed, callingHours: null }),
      places: unused<CallPlaces>('places', {
        openChannel: () =>
          unused<TrunkChannel>('channel', {
            moveTo: async () => waits.shift() ?? 0,
            release: async () => undefined,
          }),
      }),
      sessions: unused<CallSessions>('sessions', { variables: async () => ({}) }),
      streams: unused<CallStreams>('streams'),
      mediaFiles: unused<MediaFiles>('mediaFiles'),
      clock,
    },
    CALL,
    () => undefined,
  );
}

/** Dials a target on a trunk whose channel takes these turns. @returns Ids of the trunks that were dialed. */
async function dialed(
  waits: readonly number[],
  to = '+886222222222',
  listed: string | undefined = undefined,
): Promise<string[]> {
  const clock = createSimulatedClock();
  const trunks: string[] = [];
  const parties = makeParties({ clock, waits: [...waits], listed, onDialed: (id) => trunks.push(id) });
  const options = { bridgeWith: {} as MediaSession, ringTimeoutMs: 30_000 };
  const legs = (async () => {
    for await (const _ of parties.dial({ to }, options)) break;
  })();
  legs.catch(() => undefined);
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
  expect(await dialed([5000], 'sip:desk@elsewhere.example')).toEqual(['host']);
});

test.each(['+886222222222', 'sip:+886222222222@carrier.example'])(
  'A target that is a number on a do-not-call list is not called: %s',
  async (to) => {
    await expect(dialed([], to, '+886222222222')).rejects.toMatchObject({ code: 'do_not_call' });
  },
);

test('A target that is a number on a do-not-call list is not called by REFER either', async () => {
  const listed = '+886222222222';
  const parties = makeParties({
    clock: createSimulatedClock(),
    waits: [],
    listed,
    onDialed: () => undefined,
  });
  await expect(parties.requireAllowed(listed, false)).rejects.toMatchObject({ code: 'do_not_call' });
});
