import { describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import type { Database, Parameter } from '../../../../src/infra/postgres/connection/database.ts';
import { chunkStore, REMOVAL_CHUNKS } from '../../../../src/infra/postgres/knowledge/chunks.ts';
import { datasetStore } from '../../../../src/infra/postgres/knowledge/datasets.ts';
import type { Knowledgebase } from '../../../../src/knowledge/knowledgebase.ts';
import type { IngestionTask } from '../../../../src/knowledge/stores.ts';
import { databases } from '../support/databases.ts';
import { BEGIN } from '../support/sessions.ts';
import { useKnowledge } from './support/knowledge.ts';

describe.each(databases)('The removal of documents on the $name database', ({ open }) => {
  const rig = useKnowledge(open);
  const { addKnowledgebase, addDataset, begin } = rig;

  describe('A document with very many chunks', () => {
    // Only the positions matter; the chunks between are not needed.
    const positions = [0, REMOVAL_CHUNKS - 1, REMOVAL_CHUNKS, 3 * REMOVAL_CHUNKS + 1];
    async function addLong(knowledgebase: Knowledgebase) {
      const task = await begin(await addDataset(knowledgebase));
      const made = positions.map((position) => {
        return { id: uuidV7(), position, content: 'x', startOffset: position, endOffset: position + 1 };
      });
      await rig.storage.stores.chunks.append(task, made);
      await rig.storage.stores.datasets.markParsed(task.datasetId, BEGIN);
      return task;
    }
    /** A database that counts the remaining chunks after each removal, and fails when the test says so. */
    function watch({ datasetId, knowledgebaseId }: IngestionTask, breakAfter = Number.POSITIVE_INFINITY) {
      const left: number[] = [];
      const shown: unknown[] = [];
      const database: Database = {
        ...rig.database,
        async query<Row>(sql: string, parameters?: readonly Parameter[]) {
          if (left.length >= breakAfter) throw new Error('The process died');
          const rows = await rig.database.query<Row>(sql, parameters);
          if (!sql.startsWith('DELETE FROM chunks')) return rows;
          const { datasets, chunks } = rig.storage.stores;
          const { status, error, chunkCount } = (await datasets.find(knowledgebaseId, datasetId)) ?? {};
          shown.push({ status, error, chunkCount });
          left.push((await chunks.list(datasetId, { limit: 100_000, offset: 0 })).length);
          return rows;
        },
      };
      return { database, left, shown };
    }
    const PART_BY_PART = [2, 1, 1, 0];

    test('is removed in batches, completely', async () => {
      const knowledgebase = await addKnowledgebase();
      const task = await addLong(knowledgebase);
      const { database, left, shown } = watch(task);
      expect(await datasetStore(database).remove(uuidV7(), task.datasetId)).toBe(false);
      expect(left).toEqual([]);
      expect(await datasetStore(database).remove(knowledgebase.id, task.datasetId)).toBe(true);
      expect(left).toEqual(PART_BY_PART);
      const begun = {
        status: 'failed',
        error: expect.stringContaining('removal has started'),
        chunkCount: 4,
      };
      expect(shown).toEqual(Array.from(PART_BY_PART, () => begun));
      expect(await rig.storage.stores.datasets.find(knowledgebase.id, task.datasetId)).toBeUndefined();
    });

    test('is removed in batches with its project’s documents, and no other project’s', async () => {
      const [knowledgebase, others] = [await addKnowledgebase(), await addKnowledgebase()];
      const task = await addLong(knowledgebase);
      const [short, kept] = [await addDataset(knowledgebase), await addDataset(others)];
      const { database, left } = watch(task);
      await datasetStore(database).removeAll('rubbish');
      await datasetStore(database).removeAll(knowledgebase.projectId);
      expect(left).toEqual(PART_BY_PART);
      const { datasets, fileRemovals } = rig.storage.stores;
      expect(await datasets.list(knowledgebase.id)).toEqual([]);
      expect(await datasets.list(others.id)).toMatchObject([{ id: kept }]);
      const files = [`file-${task.datasetId}`, `file-${short}`];
      expect(await fileRemovals.list(100)).toEqual(expect.arrayContaining(files));
    });

    test('that fails is removed in batches before the reason is stored', async () => {
      const knowledgebase = await addKnowledgebase();
      const task = await addLong(knowledgebase);
      const { database, left, shown } = watch(task);
      await datasetStore(database).fail(task.datasetId, 'No encoder', BEGIN);
      expect(left).toEqual(PART_BY_PART);
      expect(shown[0]).toEqual({ status: 'processing', error: undefined, chunkCount: 0 });
      const { datasets } = rig.storage.stores;
      const failed = { status: 'failed', error: 'No encoder', chunkCount: 0, embeddedCount: 0 };
      expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject(failed);
      await datasets.fail(task.datasetId, 'Another reason', BEGIN);
      expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject({ error: 'No encoder' });
    });

    test('is started over from its file when the process dies during the failure', async () => {
      const knowledgebase = await addKnowledgebase();
      const task = await addLong(knowledgebase);
      const { database, left } = watch(task, 1);
      await expect(datasetStore(database).fail(task.datasetId, 'No encoder', BEGIN)).rejects.toThrow('died');
      expect(left).toEqual([2]);
      expect(await begin(task.datasetId)).toMatchObject({ isParsed: false });
      await rig.storage.stores.chunks.clear(task.datasetId);
      expect(await rig.storage.stores.chunks.list(task.datasetId, { limit: 100_000, offset: 0 })).toEqual([]);
    });

    test('is cleared in batches', async () => {
      const task = await addLong(await addKnowledgebase());
      const { database, left } = watch(task);
      await chunkStore(database).clear(task.datasetId);
      expect(left).toEqual(PART_BY_PART);
      await chunkStore(database).clear(task.datasetId);
      expect(left).toEqual(PART_BY_PART);
    });
  });
});
