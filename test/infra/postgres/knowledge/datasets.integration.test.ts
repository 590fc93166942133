import { describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import type { Database, Parameter } from '../../../../src/infra/postgres/connection/database.ts';
import { chunkStore, REMOVAL_CHUNKS } from '../../../../src/infra/postgres/knowledge/chunks.ts';
import { datasetStore } from '../../../../src/infra/postgres/knowledge/datasets.ts';
import type { Knowledgebase } from '../../../../src/knowledge/knowledgebase.ts';
import type { IngestionTask } from '../../../../src/knowledge/stores.ts';
import { wordVector } from '../../../support/fakeEmbeddings.ts';

import { BEGIN } from '../support/sessions.ts';
import { LOCAL, useKnowledge } from './support/knowledge.ts';

describe('Datasets', () => {
  const rig = useKnowledge();
  const { addProject, addKnowledgebase, addDataset, begin, addTexts } = rig;

  test('A project has one knowledgebase and does not see others', async () => {
    const mine = await addKnowledgebase();
    const theirs = await addKnowledgebase();
    const { knowledgebases } = rig.storage.stores;
    await expect(knowledgebases.insert({ ...mine, id: uuidV7() })).rejects.toMatchObject({
      category: 'invalid',
      code: 'knowledgebase_exists',
    });
    expect(await knowledgebases.list(mine.projectId)).toEqual([mine]);
    expect(await knowledgebases.find(mine.projectId, mine.id)).toEqual(mine);
    expect(await knowledgebases.find(mine.projectId, theirs.id)).toBeUndefined();
    expect(await knowledgebases.find(mine.projectId, "' OR 1=1")).toBeUndefined();
    expect(await knowledgebases.findSearchable(await addProject())).toBeUndefined();
  });

  test('A dataset goes from pending to ready and shows its progress', async () => {
    const knowledgebase = await addKnowledgebase();
    const { datasets, chunks } = rig.storage.stores;
    const id = await addDataset(knowledgebase);
    const find = () => datasets.find(knowledgebase.id, id);
    expect(await find()).toEqual({
      id,
      name: 'guide.txt',
      mimeType: 'text/plain',
      bytes: 5_000_000_000,
      status: 'pending',
      chunkCount: 0,
      embeddedCount: 0,
      encoder: LOCAL,
      createdAt: BEGIN,
    });
    const task = await begin(id);
    expect(task).toMatchObject({
      projectId: knowledgebase.projectId,
      chunkSize: 500,
      attempts: 1,
      isParsed: false,
    });
    const texts = ['one', 'two', 'three'].map((content, position) => ({
      id: uuidV7(),
      position,
      content,
      startOffset: position * 5,
      endOffset: position * 5 + content.length,
    }));
    expect(await chunks.append(task, texts)).toBe(true);
    expect(
      await chunks.append(
        task,
        texts.map((one) => ({ ...one, id: uuidV7() })),
      ),
    ).toBe(true);
    await datasets.markParsed(id, BEGIN);
    expect(await find()).toMatchObject({ status: 'processing', chunkCount: 3, embeddedCount: 0 });

    const { missing, pageLength } = await chunks.listWithoutVector(id, { limit: 2, offset: 0 });
    expect(pageLength).toBe(2);
    expect(missing.map(({ content }) => content)).toEqual(['one', 'two']);
    const vectors = missing.map(({ id: chunkId, content }) => ({
      chunkId,
      vector: wordVector(content, 512),
    }));
    await chunks.storeVectors(task, vectors);
    await chunks.storeVectors(task, vectors);
    expect(await find()).toMatchObject({ chunkCount: 3, embeddedCount: 2 });
    expect(await begin(id)).toMatchObject({ attempts: 2, isParsed: true });
    expect(await chunks.listWithoutVector(id, { limit: 10, offset: 0 })).toEqual({
      missing: [{ id: texts[2]?.id, content: 'three' }],
      pageLength: 3,
    });
    expect(await chunks.listWithoutVector(id, { limit: 2, offset: 3 })).toEqual({
      missing: [],
      pageLength: 0,
    });

    await datasets.finish(id);
    expect(await find()).toMatchObject({ status: 'ready' });
    expect(await datasets.startIngestion(id)).toBeUndefined();
  });

  test('Chunks are stored in statements of bounded size', async () => {
    const knowledgebase = await addKnowledgebase();
    const task = await begin(await addDataset(knowledgebase));
    const made = Array.from({ length: 5 }, (_, position) => ({
      id: uuidV7(),
      position,
      content: `word${position} `.repeat(5000),
      startOffset: 0,
      endOffset: 1,
    }));
    let statements = 0;
    const counted: Database = {
      ...rig.database,
      query: (sql, parameters) => {
        statements += 1;
        return rig.database.query(sql, parameters);
      },
    };
    expect(await chunkStore(counted).append(task, made)).toBe(true);
    expect(statements).toBe(3);
    expect(await rig.storage.stores.chunks.list(task.datasetId, { limit: 10, offset: 0 })).toHaveLength(5);
  });

  test('A failed dataset keeps the reason and no chunks', async () => {
    const knowledgebase = await addKnowledgebase();
    const { datasets, chunks } = rig.storage.stores;
    const task = await begin(await addDataset(knowledgebase));
    await chunks.append(task, [{ id: uuidV7(), position: 0, content: 'x', startOffset: 0, endOffset: 1 }]);
    await datasets.fail(task.datasetId, 'The file holds no text');
    expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject({
      status: 'failed',
      error: 'The file holds no text',
      chunkCount: 0,
    });
    expect(await chunks.list(task.datasetId, { limit: 10, offset: 0 })).toEqual([]);
    expect(await datasets.startIngestion(task.datasetId)).toBeUndefined();
  });

  test('A removal deletes everything, queues the file for removal, and stops a running ingestion', async () => {
    const knowledgebase = await addKnowledgebase();
    const { datasets, chunks, fileRemovals, projects } = rig.storage.stores;
    const { task, ids } = await addTexts(knowledgebase, ['one', 'two']);
    expect(await datasets.remove(uuidV7(), task.datasetId)).toBe(false);
    expect(await datasets.remove(knowledgebase.id, 'rubbish')).toBe(false);
    expect(await datasets.remove(knowledgebase.id, task.datasetId)).toBe(true);

    for (const table of ['chunks', 'chunk_embeddings', 'sentence_embeddings']) {
      const rows = await rig.database.query(`SELECT 1 FROM ${table} WHERE knowledgebase_id = $1`, [
        knowledgebase.id,
      ]);
      expect(rows).toEqual([]);
    }
    expect(await fileRemovals.due(100)).toContain(`file-${task.datasetId}`);
    const chunk = { id: uuidV7(), position: 9, content: 'x', startOffset: 0, endOffset: 1 };
    expect(await chunks.append(task, [chunk])).toBe(false);
    const vector = { chunkId: ids[0] ?? '', vector: wordVector('x', 512) };
    expect(await chunks.storeVectors(task, [vector])).toBe(false);
    expect(await datasets.markParsed(task.datasetId, BEGIN)).toBe(false);

    const other = await addDataset(knowledgebase);
    await projects.remove(knowledgebase.projectId);
    expect(await fileRemovals.due(100)).toContain(`file-${other}`);
    await fileRemovals.done(`file-${other}`);
    expect(await fileRemovals.due(100)).not.toContain(`file-${other}`);
  });

  test('Background inserts of vectors do not delay foreground queries', async () => {
    const task = await begin(await addDataset(await addKnowledgebase()));
    const { chunks, datasets } = rig.storage.stores;
    // More batches than the messages of a new connection, which the query may need.
    const made = Array.from({ length: 20 }, (_, position) => {
      return { id: uuidV7(), position, content: 'x', startOffset: position, endOffset: position + 1 };
    });
    await chunks.append(task, made);
    await datasets.markParsed(task.datasetId, BEGIN);
    const vectors = made.map(({ id }) => ({ chunkId: id, vector: new Float32Array(512).fill(0.5) }));
    let isKept = false;
    const keeping = chunks.storeVectors(task, vectors).then(() => {
      isKept = true;
    });
    const find = async () => await datasets.find(task.knowledgebaseId, task.datasetId);
    await find();
    // A server has other sessions; the embedded one must run the query between two batches.
    if (rig.database.expensiveRowsAtOnce !== undefined) expect(isKept).toBe(false);
    await keeping;
    expect((await find())?.embeddedCount).toBe(20);
  });

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
      expect(await fileRemovals.due(100)).toEqual(expect.arrayContaining(files));
    });

    test('that fails is removed in batches before the reason is stored', async () => {
      const knowledgebase = await addKnowledgebase();
      const task = await addLong(knowledgebase);
      const { database, left, shown } = watch(task);
      await datasetStore(database).fail(task.datasetId, 'No encoder');
      expect(left).toEqual(PART_BY_PART);
      expect(shown[0]).toEqual({ status: 'processing', error: undefined, chunkCount: 0 });
      const { datasets } = rig.storage.stores;
      const failed = { status: 'failed', error: 'No encoder', chunkCount: 0, embeddedCount: 0 };
      expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject(failed);
      await datasets.fail(task.datasetId, 'Another reason');
      expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject({ error: 'No encoder' });
    });

    test('is started over from its file when the process dies during the failure', async () => {
      const knowledgebase = await addKnowledgebase();
      const task = await addLong(knowledgebase);
      const { database, left } = watch(task, 1);
      await expect(datasetStore(database).fail(task.datasetId, 'No encoder')).rejects.toThrow('died');
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
