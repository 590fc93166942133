import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { type PhoneNumberInput, phoneNumberInput } from '../../../../src/calls/numbers/phoneNumber.ts';
import { type TrunkInput, trunkInput } from '../../../../src/calls/trunks/trunk.ts';
import { useDatabase } from '../support/databases.ts';
import { BEGIN, later, type SessionWorld, sessionWorld } from '../support/sessions.ts';

const PAGE = { limit: 50, offset: 0 };
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
    test('are stored with their trunks in order', async () => {
      const [one, two] = [await addTrunk(), await addTrunk()];
      const kept = await addNumber({ trunkIds: [two.id, one.id] });
      expect(kept.trunkIds).toEqual([two.id, one.id]);
      expect(await mine.stores.phoneNumbers.find(mine.projectId, kept.id)).toEqual(kept);
      expect(await mine.stores.phoneNumbers.findByNumber(theirs.projectId, HOME)).toBeUndefined();
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
  });
});
