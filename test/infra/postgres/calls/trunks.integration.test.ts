import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { type PhoneNumberInput, phoneNumberInput } from '../../../../src/calls/numbers/phoneNumber.ts';
import { type TrunkInput, trunkInput } from '../../../../src/calls/trunks/trunk.ts';
import { useDatabase } from '../support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
const NOT_IDS = ['', 'rubbish', "' OR 1=1", '0197a000-0000-7000-8000-00000000000g'];
const HOME = '+886223456789';

describe('On the server', () => {
  const opened = useDatabase();
  let mine: SessionWorld;
  let theirs: SessionWorld;
  beforeEach(async () => {
    await opened.database.query('DELETE FROM projects');
    [mine, theirs] = [await sessionWorld(opened.database), await sessionWorld(opened.database)];
  });

  const addTrunk = (change: Partial<TrunkInput> = {}, at = BEGIN, { projectId, stores } = mine) =>
    stores.trunks.insert(
      projectId,
      uuidV7(),
      { ...trunkInput.parse({ name: 't', host: 'h' }), ...change },
      at,
    );
  const addNumber = (change: Partial<PhoneNumberInput> = {}, at = BEGIN, { projectId, stores } = mine) => {
    const input = { ...phoneNumberInput.parse({ number: HOME }), media: null, verified: true, ...change };
    return stores.phoneNumbers.insert(projectId, uuidV7(), input, at);
  };

  describe('Trunks', () => {
    test('are stored completely, with sealed passwords', async () => {
      const input = trunkInput.parse({
        name: 'Carrier ü',
        host: 'sip.example.com',
        username: 'u',
        password: 'a secret',
        headers: { 'X-B': '1', 'X-A': '2' },
        codecs: ['G722', 'PCMA'],
        inboundCidrs: ['192.0.2.0/24'],
      });
      const id = uuidV7();
      const kept = await mine.stores.trunks.insert(mine.projectId, id, input, BEGIN);
      expect(kept).toEqual({ id, projectId: mine.projectId, ...input, createdAt: BEGIN, updatedAt: BEGIN });
      expect(await mine.stores.trunks.find(mine.projectId, id)).toEqual(kept);
      const rows = await opened.database.query('SELECT * FROM trunks');
      expect(JSON.stringify(rows)).not.toContain('a secret');
      for (const other of [...NOT_IDS, uuidV7()]) {
        expect(await mine.stores.trunks.find(mine.projectId, other)).toBeUndefined();
        expect(await mine.stores.trunks.update(mine.projectId, other, { name: 'x' }, BEGIN)).toBeUndefined();
        expect(await mine.stores.trunks.remove(mine.projectId, other)).toBe(false);
      }
    });

    test('are updated in the given fields only', async () => {
      const { trunks } = mine.stores;
      const trunk = await addTrunk({ password: 'old', username: 'u' });
      const renamed = await trunks.update(
        mine.projectId,
        trunk.id,
        { name: 'new', username: null },
        later(1),
      );
      expect(renamed).toEqual({ ...trunk, name: 'new', username: null, updatedAt: later(1) });
      const changed = await trunks.update(mine.projectId, trunk.id, { password: 'new' }, later(2));
      expect(changed?.password).toBe('new');
      expect(
        (await trunks.update(mine.projectId, trunk.id, { password: null }, later(3)))?.password,
      ).toBeNull();
      expect(await trunks.update(theirs.projectId, trunk.id, { name: 'theirs' }, later(4))).toBeUndefined();
      expect(await trunks.remove(theirs.projectId, trunk.id)).toBe(false);
      expect((await trunks.find(mine.projectId, trunk.id))?.name).toBe('new');
    });

    test('are listed; the active ones by project and overall', async () => {
      const { trunks } = mine.stores;
      const second = await addTrunk({}, later(1));
      const first = await addTrunk({ status: 'inactive' });
      const other = await addTrunk({}, BEGIN, theirs);
      expect((await trunks.list(mine.projectId, PAGE)).items).toEqual([first, second]);
      expect(await trunks.activeOf(mine.projectId)).toEqual([second]);
      expect(await trunks.active()).toEqual([second, other].sort((a, b) => (a.id < b.id ? -1 : 1)));
    });

    test('cannot be removed while a number uses them, and are removed with their project', async () => {
      const trunk = await addTrunk();
      const number = await addNumber({ trunkIds: [trunk.id] });
      await expect(mine.stores.trunks.remove(mine.projectId, trunk.id)).rejects.toMatchObject({
        category: 'conflict',
        code: 'trunk_in_use',
        message: expect.stringContaining(HOME),
      });
      await mine.stores.phoneNumbers.update(mine.projectId, number.id, { trunkIds: [] }, later(1));
      expect(await mine.stores.trunks.remove(mine.projectId, trunk.id)).toBe(true);
      await addNumber({ number: '+886912345678', trunkIds: [(await addTrunk()).id] });
      expect(await mine.stores.projects.remove(mine.projectId)).toBe(true);
      expect(await opened.database.query('SELECT * FROM phone_number_trunks')).toEqual([]);
      expect(await mine.stores.trunks.active()).toEqual([]);
    });

    test('are not removed while a number starts to use them', async () => {
      const trunk = await addTrunk();
      const remove = mine.transaction((stores) => stores.trunks.remove(mine.projectId, trunk.id));
      const take = mine.transaction((stores) =>
        stores.phoneNumbers.insert(
          mine.projectId,
          uuidV7(),
          { ...phoneNumberInput.parse({ number: HOME, trunkIds: [trunk.id] }), media: null, verified: true },
          BEGIN,
        ),
      );
      const outcomes = (await Promise.allSettled([remove, take])).map(({ status }) => status);
      expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(1);
      const links = await opened.database.query('SELECT * FROM phone_number_trunks');
      expect(links).toHaveLength(outcomes[1] === 'fulfilled' ? 1 : 0);
    });
  });

  describe('Phone numbers', () => {
    test('are stored completely, with their trunks in order', async () => {
      const [one, two] = [await addTrunk(), await addTrunk()];
      const media = { url: 'wss://example.com/bot', dialect: 'callway' } as const;
      const kept = await addNumber({
        trunkIds: [two.id, one.id],
        inboundEnabled: true,
        record: false,
        noiseSuppression: true,
        media,
      });
      expect(kept).toEqual({
        id: kept.id,
        number: HOME,
        trunkIds: [two.id, one.id],
        outboundStatus: 'active',
        inboundEnabled: true,
        record: false,
        noiseSuppression: true,
        media,
        startNodeId: null,
        variables: {},
        verified: true,
        createdAt: BEGIN,
        updatedAt: BEGIN,
      });
      const { phoneNumbers } = mine.stores;
      expect(await phoneNumbers.find(mine.projectId, kept.id)).toEqual(kept);
      expect(await phoneNumbers.findByNumber(mine.projectId, HOME)).toEqual(kept);
      expect(await phoneNumbers.findByNumber(theirs.projectId, HOME)).toBeUndefined();
      for (const id of [...NOT_IDS, uuidV7()]) {
        expect(await phoneNumbers.find(mine.projectId, id)).toBeUndefined();
        expect(await phoneNumbers.update(mine.projectId, id, {}, BEGIN)).toBeUndefined();
        expect(await phoneNumbers.remove(mine.projectId, id)).toBe(false);
      }
    });

    test('are unique in their project', async () => {
      await addNumber();
      await expect(addNumber()).rejects.toMatchObject({ category: 'invalid', code: 'phone_number_exists' });
      const other = await addNumber({ number: '+886912345678' });
      const { phoneNumbers } = mine.stores;
      await expect(
        phoneNumbers.update(mine.projectId, other.id, { number: HOME }, BEGIN),
      ).rejects.toMatchObject({ code: 'phone_number_exists' });
    });

    test('reject duplicate trunks, those of another project and unknown ones', async () => {
      const own = await addTrunk();
      const foreign = await addTrunk({}, BEGIN, theirs);
      const wrong = [
        [[own.id, foreign.id], '/trunkIds/1'],
        [[uuidV7()], '/trunkIds/0'],
        [[own.id, own.id], '/trunkIds/1'],
      ] as const;
      for (const [trunkIds, path] of wrong) {
        await expect(addNumber({ trunkIds: [...trunkIds] })).rejects.toMatchObject({
          category: 'invalid',
          code: 'unknown_trunk',
          details: [{ path }],
        });
      }
      expect((await mine.stores.phoneNumbers.list(mine.projectId, PAGE)).total).toBe(0);
    });

    test('are updated in the given fields only', async () => {
      const { phoneNumbers } = mine.stores;
      const trunk = await addTrunk();
      const media = { url: 'wss://example.com/', dialect: 'twilio' } as const;
      const kept = await addNumber({ media, trunkIds: [trunk.id] });
      const patch = { outboundStatus: 'inactive', inboundEnabled: true } as const;
      expect(await phoneNumbers.update(mine.projectId, kept.id, patch, later(1))).toEqual({
        ...kept,
        ...patch,
        updatedAt: later(1),
      });
      const cleared = await phoneNumbers.update(
        mine.projectId,
        kept.id,
        { media: null, trunkIds: [] },
        later(2),
      );
      expect(cleared).toMatchObject({ media: null, trunkIds: [], inboundEnabled: true });
      expect((await phoneNumbers.list(mine.projectId, PAGE)).items).toEqual([cleared]);
      expect(await phoneNumbers.update(theirs.projectId, kept.id, patch, later(3))).toBeUndefined();
      expect(await phoneNumbers.remove(theirs.projectId, kept.id)).toBe(false);
      expect(await phoneNumbers.remove(mine.projectId, kept.id)).toBe(true);
    });
  });
});
