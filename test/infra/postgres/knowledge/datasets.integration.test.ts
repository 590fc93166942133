import { describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import { wordVector } from '../../../support/fakeEmbeddings.ts';
import { databases } from '../support/databases.ts';
import { BEGIN, later } from '../support/sessions.ts';
import { LOCAL, useKnowledge } from './support/knowledge.ts';

describe.each(databases)('Datasets on the $name database', ({ open }) => {
  const rig = useKnowledge(open);
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
    await chunks.storeVectors(task, vectors, BEGIN);
    await chunks.storeVectors(task, vectors, BEGIN);
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

    await datasets.finish(id, BEGIN);
    expect(await find()).toMatchObject({ status: 'ready' });
    expect(await datasets.startIngestion(id, BEGIN)).toBeUndefined();
  });

  test('A failed dataset keeps the reason and no chunks', async () => {
    const knowledgebase = await addKnowledgebase();
    const { datasets, chunks } = rig.storage.stores;
    const task = await begin(await addDataset(knowledgebase));
    await chunks.append(task, [{ id: uuidV7(), position: 0, content: 'x', startOffset: 0, endOffset: 1 }]);
    await datasets.fail(task.datasetId, 'The file holds no text', BEGIN);
    expect(await datasets.find(knowledgebase.id, task.datasetId)).toMatchObject({
      status: 'failed',
      error: 'The file holds no text',
      chunkCount: 0,
    });
    expect(await chunks.list(task.datasetId, { limit: 10, offset: 0 })).toEqual([]);
    expect(await datasets.startIngestion(task.datasetId, BEGIN)).toBeUndefined();
  });

  test('A removal deletes everything, queues the file for removal, and stops a running ingestion', async () => {
    const knowledgebase = await addKnowledgebase();
    const { datasets, chunks, fileRemovals, projects } = rig.storage.stores;
    const { task, ids } = await addTexts(knowledgebase, ['one', 'two']);
    expect(await datasets.remove(uuidV7(), task.datasetId)).toBe(false);
    expect(await datasets.remove(knowledgebase.id, 'rubbish')).toBe(false);
    expect(await datasets.remove(knowledgebase.id, task.datasetId)).toBe(true);

    for (const table of ['chunks', 'chunk_embeddings']) {
      const rows = await rig.database.query(`SELECT 1 FROM ${table} WHERE knowledgebase_id = $1`, [
        knowledgebase.id,
      ]);
      expect(rows).toEqual([]);
    }
    expect(await fileRemovals.list(100)).toContain(`file-${task.datasetId}`);
    const chunk = { id: uuidV7(), position: 9, content: 'x', startOffset: 0, endOffset: 1 };
    expect(await chunks.append(task, [chunk])).toBe(false);
    const vector = { chunkId: ids[0] ?? '', vector: wordVector('x', 512) };
    expect(await chunks.storeVectors(task, [vector], BEGIN)).toBe(false);
    expect(await datasets.markParsed(task.datasetId, BEGIN)).toBe(false);

    const other = await addDataset(knowledgebase);
    await projects.remove(knowledgebase.projectId);
    expect(await fileRemovals.list(100)).toContain(`file-${other}`);
    await fileRemovals.markDone(`file-${other}`);
    expect(await fileRemovals.list(100)).not.toContain(`file-${other}`);
  });

  test('Background inserts of vectors do not delay foreground queries', async () => {
    const { background } = rig.database;
    const rowsAtOnce = background?.rowsAtOnce ?? Number.POSITIVE_INFINITY;
    const task = await begin(await addDataset(await addKnowledgebase()));
    const { chunks, datasets } = rig.storage.stores;
    const made = Array.from({ length: 6 }, (_, position) => {
      return { id: uuidV7(), position, content: 'x', startOffset: position, endOffset: position + 1 };
    });
    await chunks.append(task, made);
    await datasets.markParsed(task.datasetId, BEGIN);
    const vectors = made.map(({ id }) => ({ chunkId: id, vector: new Float32Array(512).fill(0.5) }));
    let isKept = false;
    const keeping = chunks.storeVectors(task, vectors, BEGIN).then(() => {
      isKept = true;
    });
    const find = async () => await datasets.find(task.knowledgebaseId, task.datasetId);
    const seen = await find();
    // A server has other connections; the embedded database must run the query after a batch.
    if (background) {
      expect([isKept, (seen?.embeddedCount ?? 0) <= rowsAtOnce]).toEqual([false, true]);
    }
    await keeping;
    expect((await find())?.embeddedCount).toBe(6);
  });

  test('Unfinished datasets without progress are found again', async () => {
    const knowledgebase = await addKnowledgebase();
    const pending = await addDataset(knowledgebase);
    const { task } = await addTexts(knowledgebase, ['x']);
    const found = await rig.storage.stores.datasets.listUnfinished(later(1), 1000);
    expect(found).toContainEqual({ datasetId: pending, projectId: knowledgebase.projectId });
    expect(found.map(({ datasetId }) => datasetId)).not.toContain(task.datasetId);
    expect(await rig.storage.stores.datasets.listUnfinished(BEGIN, 1000)).not.toContainEqual(
      expect.objectContaining({ datasetId: pending }),
    );
  });
});
