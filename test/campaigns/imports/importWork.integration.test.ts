import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { uuidV7 } from '../../../src/base/values/ids.ts';
import { importWork } from '../../../src/campaigns/imports/importWork.ts';
import { localDocuments } from '../../../src/infra/objectStore/documents/localDocuments.ts';
import { DocumentParser } from '../../../src/knowledge/ingest/documentParser.ts';
import { createDocuments } from '../../../src/knowledge/intake/documents.ts';
import { migrated, type OpenDatabase, openServerDatabase } from '../../infra/postgres/support/databases.ts';
import { type SessionWorld, sessionWorld } from '../../infra/postgres/support/sessions.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { tempDir } from '../../support/tempDir.ts';

const clock = createSimulatedClock(Date.parse('2026-01-01T01:00:00Z'));
const parser = new DocumentParser({ clock });
let opened: OpenDatabase;
let world: SessionWorld;
beforeAll(async () => {
  opened = await migrated(openServerDatabase);
  world = await sessionWorld(opened.database);
});
afterAll(async () => {
  parser.close();
  await opened.close();
});

/** A node with a folder of its own. */
function node() {
  const { contactImports, fileRemovals: removals } = world.stores;
  const files = localDocuments(join(tempDir(), 'uploads'));
  const fail = (error: unknown) => {
    throw error;
  };
  const wake = async () => undefined;
  const documents = createDocuments({ files, removals, wake, maxBytes: 1000, makeId: uuidV7, onError: fail });
  const { run } = importWork(
    {
      imports: contactImports,
      transaction: (work) => world.transaction(work),
      targetOf: async () => ({ prepare: async () => async () => [] }),
      parser,
      files,
      cleanUp: documents.cleanUp,
      clock,
      onEnd: () => undefined,
    },
    world.work['contact-imports'],
  );
  return {
    files,
    run: (id: string) => run({ id, projectId: world.projectId }, new AbortController().signal),
  };
}

/** A list of two numbers that this node has received. @returns Its id and its file. */
async function upload({ files }: ReturnType<typeof node>) {
  const [id, fileKey] = [uuidV7(), uuidV7()];
  await files.write(fileKey, Readable.from([Buffer.from('Phone\n1\n2\n')]));
  await world.stores.contactImports.insert({
    id,
    projectId: world.projectId,
    campaignId: null,
    fileKey,
    fileType: 'csv',
    mapping: { toNumber: 'Phone' },
    createdAt: new Date(clock.now()).toISOString(),
  });
  return { id, fileKey, read: () => world.stores.contactImports.find(world.projectId, id) };
}

test('A node without the file leaves an import to the one that has it, which also removes the file', async () => {
  const [owner, other] = [node(), node()];
  const list = await upload(owner);
  for (let times = 0; times < 5; times += 1) expect(await other.run(list.id)).toEqual({ afterMs: 1000 });
  expect(await list.read()).toMatchObject({ status: 'running' });
  expect(await owner.run(list.id)).toBeUndefined();
  expect(await list.read()).toMatchObject({ status: 'done', rows: 2 });
  await expect(owner.files.checkOut(list.fileKey)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('An import whose file no node has for two minutes fails; a node that is back deletes the file', async () => {
  const [owner, other] = [node(), node()];
  const list = await upload(owner);
  await other.run(list.id);
  await clock.advance(119_999);
  expect(await other.run(list.id)).toEqual({ afterMs: 1000 });
  await clock.advance(1);
  expect(await other.run(list.id)).toBeUndefined();
  expect(await list.read()).toMatchObject({
    status: 'failed',
    reason: 'No node has had the uploaded file for 120 seconds; send it again',
  });
  expect(await world.stores.fileRemovals.due(10)).toContain(list.fileKey);
  const next = await upload(owner);
  await owner.run(next.id);
  await expect(owner.files.checkOut(list.fileKey)).rejects.toMatchObject({ code: 'ENOENT' });
});
