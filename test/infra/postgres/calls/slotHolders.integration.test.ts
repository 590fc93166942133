import { beforeAll, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { CALL_STATUSES, type Call } from '../../../../src/calls/call.ts';
import { makeCall } from '../support/calls.ts';
import { OPEN_TIMEOUT_MS, useDatabase } from '../support/databases.ts';
import { type SessionWorld, sessionWorld } from '../support/sessions.ts';

const DIALOG = {
  sipCallId: 's',
  localAddress: '',
  remoteAddress: '',
  remoteTarget: '',
  routeSet: [],
  localSequence: 1,
};

describe('Slot holders', () => {
  const opened = useDatabase();
  let world: SessionWorld;
  beforeAll(async () => {
    world = await sessionWorld(opened.database);
  }, OPEN_TIMEOUT_MS);

  let line = 0;
  const keep = async (change: Partial<Call>, where = world): Promise<string> => {
    line += 1;
    const { call, session, started } = makeCall(where, { toNumber: `+8869120${10_000 + line}`, ...change });
    await where.stores.calls.insert(call, session, started);
    return call.id;
  };

  test('are the calls of a trunk that were dialed or received and have not ended', async () => {
    const [trunkId, otherTrunk] = [uuidV7(), uuidV7()];
    const ids = new Map<string, string>();
    for (const status of CALL_STATUSES) ids.set(status, await keep({ trunkId, status, nodeId: 'n' }));
    const elsewhere = await keep({ trunkId: otherTrunk, status: 'in_progress' });
    const live = ['dialing', 'ringing', 'in_progress'].map((status) => ids.get(status) ?? '');
    const { slotHolders } = world.stores;
    expect((await slotHolders.ofTrunk(world.projectId, trunkId)).toSorted()).toEqual(live.toSorted());
    expect((await slotHolders.ofProject(world.projectId)).toSorted()).toEqual(
      [...live, elsewhere].toSorted(),
    );
    expect(await slotHolders.ofProject((await sessionWorld(opened.database)).projectId)).toEqual([]);
  });

  test('are also the transfers of calls, by their dialogs on the trunk', async () => {
    const [here, there] = [uuidV7(), uuidV7()];
    const both = await keep({ trunkId: here, status: 'in_progress' });
    const transferred = await keep({ trunkId: there, status: 'in_progress' });
    const dialogs = [
      ['a', both, here],
      ['b', both, here],
      ['c', transferred, there],
      ['d', transferred, here],
    ] as const;
    for (const [dialogId, callId, trunkId] of dialogs)
      await world.stores.dialogs.save({ ...DIALOG, dialogId, callId, trunkId });
    const holders = (trunkId: string) => world.stores.slotHolders.ofTrunk(world.projectId, trunkId);
    expect((await holders(here)).toSorted()).toEqual(
      [both, `${both}/transfer`, `${transferred}/transfer`].toSorted(),
    );
    expect(await holders(there)).toEqual([transferred]);
  });
});
