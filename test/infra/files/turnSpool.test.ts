import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { uuidV7 } from '../../../src/base/values/ids.ts';
import { newSessionState } from '../../../src/engine/session/session.ts';
import { createTurnSpool } from '../../../src/infra/files/turnSpool.ts';
import { makeSession } from '../../engine/support/makeSession.ts';
import { tempDir } from '../../support/tempDir.ts';

const taken = (instanceId: string, turn: number) => {
  const session = makeSession({ instanceId, turn, state: newSessionState({ name: 'Ada\n電話' }) });
  return { session, record: { messages: [], events: [] } };
};

test('Turns are read back by session in order, and removed when they are stored', async () => {
  const folder = join(tempDir(), 'turns');
  const spool = createTurnSpool(folder);
  expect(await spool.readPending()).toEqual([]);
  const [one, other] = [uuidV7(), uuidV7()];
  await spool.put(taken(one, 1));
  await spool.put(taken(other, 4));
  await spool.put(taken(one, 2));
  expect(await createTurnSpool(folder).readPending()).toEqual([
    [taken(one, 1), taken(one, 2)],
    [taken(other, 4)],
  ]);
  await spool.drop(one);
  await spool.drop(one);
  expect(await spool.readPending()).toEqual([[taken(other, 4)]]);
});

test('An incomplete line is ignored, and costs no turn before or after it; the files are private', async () => {
  const folder = tempDir();
  const spool = createTurnSpool(folder);
  const id = uuidV7();
  await spool.put(taken(id, 1));
  const [name = ''] = readdirSync(folder);
  appendFileSync(join(folder, name), '{"session":');
  await spool.put(taken(id, 2));
  expect(await spool.readPending()).toEqual([[taken(id, 1), taken(id, 2)]]);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('A file without a complete line is removed', async () => {
  const folder = tempDir();
  writeFileSync(join(folder, `${uuidV7()}.jsonl`), '{"session":{"projectId"');
  expect(await createTurnSpool(folder).readPending()).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test('A name that leaves the folder is rejected', async () => {
  await expect(createTurnSpool(tempDir()).put(taken('../../x', 1))).rejects.toThrow(RangeError);
});
