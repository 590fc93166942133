import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { callingHours } from '../../../../src/agents/accounts/callingHours.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { resealSecrets } from '../../../../src/infra/postgres/secrets/reseal.ts';
import { requireSameSealer } from '../../../../src/infra/postgres/secrets/sealerFingerprint.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import { makeCall } from '../support/calls.ts';
import { databases, migrated, OPEN_TIMEOUT_MS, type OpenDatabase } from '../support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const [ONE, TWO] = ['+886912345678', '+13105551234'];
const BY_API = { source: 'api', at: BEGIN } as const;
const SPOKEN = { source: 'spoken', reason: 'stop calling me', callId: uuidV7(), at: later(5) } as const;

describe.each(databases)('Do-not-call lists on the $name database', ({ open }) => {
  let opened: OpenDatabase;
  let world: SessionWorld;
  beforeAll(async () => {
    opened = await migrated(open);
  }, OPEN_TIMEOUT_MS);
  afterAll(() => opened.close());
  beforeEach(async () => {
    await opened.database.query('DELETE FROM do_not_call');
    world = await sessionWorld(opened.database);
  });

  const isListed = async (number: string) =>
    (await world.stores.doNotCall.rulesFor(world.projectId, number)).isListed;
  const erase = async (key: string) => {
    const entry = {
      id: uuidV7(),
      projectId: world.projectId,
      at: BEGIN,
      action: 'customer.erased',
      target: '',
    };
    const name = { projectId: world.projectId, key };
    await world.customers.requestErasure(name, {
      ...entry,
      actor: { kind: 'admin' },
      details: {},
      requestId: null,
    });
    await world.customers.eraseNext(name);
  };
  const dump = async () => JSON.stringify(await opened.database.query('SELECT * FROM do_not_call'));

  test('hold each number once, and tell which were listed before', async () => {
    const { doNotCall } = world.stores;
    expect(await doNotCall.add(world.projectId, [ONE, TWO, ONE], BY_API)).toBe(2);
    expect(await doNotCall.add(world.projectId, [ONE], SPOKEN)).toBe(0);
    expect(await doNotCall.find(world.projectId, ONE)).toEqual({ number: ONE, ...BY_API });
    expect(await doNotCall.find(null, ONE)).toBeUndefined();
    expect(await doNotCall.remove(null, ONE)).toBe(false);
    expect(await doNotCall.remove(world.projectId, ONE)).toBe(true);
    expect(await doNotCall.find(world.projectId, ONE)).toBeUndefined();
    expect([await isListed(ONE), await isListed(TWO)]).toEqual([false, true]);
  });

  test('of the installation hold for every project, those of a project for it alone', async () => {
    const other = await sessionWorld(opened.database);
    await other.stores.doNotCall.add(other.projectId, [ONE], BY_API);
    expect(await isListed(ONE)).toBe(false);
    await world.stores.doNotCall.add(null, [ONE], BY_API);
    expect(await isListed(ONE)).toBe(true);
    await world.stores.doNotCall.remove(null, ONE);
    expect(await isListed(ONE)).toBe(false);
  });

  test('are listed from the newest on, page by page', async () => {
    const { doNotCall } = world.stores;
    await doNotCall.add(world.projectId, [ONE], BY_API);
    await doNotCall.add(world.projectId, [TWO], SPOKEN);
    const first = await doNotCall.list(world.projectId, { limit: 1, offset: 0 });
    expect(first).toMatchObject({ items: [{ number: TWO, ...SPOKEN }], total: 2 });
    const next = { limit: 1, offset: 0, cursor: first.nextCursor ?? '' };
    expect(await doNotCall.list(world.projectId, next)).toMatchObject({
      items: [{ number: ONE }],
      nextCursor: null,
    });
    expect((await doNotCall.list(null, { limit: 1, offset: 0 })).items).toEqual([]);
  });

  test('keep an erased customer listed, as a digest that outlives the key of secrets', async () => {
    const { doNotCall } = world.stores;
    const over = { status: 'completed', endedAt: BEGIN, toNumber: ONE } as const;
    const { call, session, started } = makeCall(world, over);
    await world.stores.calls.insert(call, session, started);
    await doNotCall.add(world.projectId, [ONE, TWO], SPOKEN);
    await erase(ONE);
    expect(await dump()).not.toContain(ONE);
    expect(await isListed(ONE)).toBe(true);
    const { at, source } = SPOKEN;
    expect(await doNotCall.find(world.projectId, ONE)).toEqual({ number: ONE, source, at });
    expect((await doNotCall.list(world.projectId, { limit: 9, offset: 0 })).items).toContainEqual({
      number: null,
      source,
      at,
    });
    expect(await doNotCall.add(world.projectId, [ONE], BY_API)).toBe(0);
    expect(await dump()).not.toContain(ONE);

    const [key, next] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
    await requireSameSealer(opened.database, createSealer(key));
    await resealSecrets(opened.database, createSealer(next, [key]));
    const read = createStorage(opened.database, createSealer(next)).stores.doNotCall;
    expect(await read.rulesFor(world.projectId, ONE)).toMatchObject({ isListed: true });
    await resealSecrets(opened.database, createSealer(key, [next]));

    expect(await doNotCall.remove(world.projectId, ONE)).toBe(true);
    expect(await isListed(ONE)).toBe(false);
  });

  test('name no number of a customer who was erased by id', async () => {
    const over = { status: 'completed', endedAt: BEGIN, toNumber: ONE } as const;
    const { call, session, started } = makeCall(world, over);
    const state = { ...session.state, variables: { customerId: 'c-1' } };
    await world.stores.calls.insert(call, { ...session, state }, started);
    await world.stores.calls.markSettled(call.id);
    await world.stores.doNotCall.add(world.projectId, [ONE], SPOKEN);
    await erase('c-1');
    expect(await dump()).not.toContain(ONE);
    expect(await isListed(ONE)).toBe(true);
  });

  test('come with the project’s calling hours', async () => {
    const { doNotCall, projects } = world.stores;
    expect(await doNotCall.rulesFor(world.projectId, ONE)).toEqual({ isListed: false, callingHours: null });
    const windows = [{ days: ['mon' as const], from: '09:00', to: '17:00' }];
    const hours = callingHours.parse({ windows, exceptDates: ['2026-12-25'] });
    await projects.update(world.projectId, { callingHours: hours }, later(1));
    expect((await doNotCall.rulesFor(world.projectId, ONE)).callingHours).toEqual(hours);
    await projects.update(world.projectId, { name: 'Other' }, later(2));
    expect((await projects.find(world.projectId))?.callingHours).toEqual(hours);
    await projects.update(world.projectId, { callingHours: null }, later(3));
    expect((await doNotCall.rulesFor(world.projectId, ONE)).callingHours).toBeNull();
  });
});
