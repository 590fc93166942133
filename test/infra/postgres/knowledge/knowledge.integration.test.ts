import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import { createSealer } from '../../../../src/base/sealer.ts';
import type { Database, Parameter } from '../../../../src/infra/postgres/connection/database.ts';
import {
  EF_SEARCH,
  EXACT_LIMIT,
  MATCHING,
  nearestSql,
  PREPARE_INDEX,
  PREPARE_WORDS,
} from '../../../../src/infra/postgres/knowledge/chunkSearch.ts';
import {
  chunkStore,
  keepVectorsSql,
  REMOVAL_CHUNKS,
  UNEMBEDDED,
} from '../../../../src/infra/postgres/knowledge/chunks.ts';
import { datasetStore } from '../../../../src/infra/postgres/knowledge/datasets.ts';
import { VECTOR_COLUMNS, vectorText } from '../../../../src/infra/postgres/knowledge/vectors.ts';
import { createStorage } from '../../../../src/infra/postgres/storage.ts';
import type { Knowledgebase } from '../../../../src/knowledge/knowledgebase.ts';
import type { IngestionTask } from '../../../../src/knowledge/stores.ts';
import type { EmbeddingModelName } from '../../../../src/providers/ports/embedder.ts';
import { wordVector } from '../../../support/fakeEmbeddings.ts';
import { databases, migrated, OPEN_TIMEOUT_MS, type OpenDatabase } from '../support/databases.ts';
import { BEGIN, later } from '../support/sessions.ts';

const LOCAL = 'energetic-ai-embeddings-en';
const DIMENSIONS: Record<EmbeddingModelName, number> = {
  [LOCAL]: 512,
  'text-embedding-ada-002': 1536,
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
};

describe.each(databases)('Knowledge on the $name database', ({ name, open }) => {
  let opened: OpenDatabase;
  let storage: ReturnType<typeof createStorage>;
  beforeAll(async () => {
    opened = await migrated(open);
    storage = createStorage(opened.database, createSealer(Buffer.alloc(32, 7)));
  }, OPEN_TIMEOUT_MS);
  afterAll(() => opened.close());

  async function addProject() {
    const id = uuidV7();
    await storage.stores.projects.insert({
      id,
      name: 'p',
      sessionIdleMinutes: 5,
      historyRetentionDays: 0,
      reportUsage: true,
      createdAt: BEGIN,
      updatedAt: BEGIN,
    });
    return id;
  }
  async function addKnowledgebase(encoder: EmbeddingModelName = LOCAL): Promise<Knowledgebase> {
    const one: Knowledgebase = {
      id: uuidV7(),
      projectId: await addProject(),
      name: 'kb',
      type: 'pgvector',
      embeddingModelName: 'text-embedding-3-small',
      encoder,
      chunkSize: 500,
      chunkOverlap: 50,
      createdAt: BEGIN,
    };
    await storage.stores.knowledgebases.insert(one);
    return one;
  }
  async function addDataset({ id: knowledgebaseId }: Knowledgebase, name = 'guide.txt') {
    const id = uuidV7();
    const file = { mimeType: 'text/plain', bytes: 5_000_000_000, fileKey: `file-${id}` };
    await storage.stores.datasets.insert({ id, knowledgebaseId, name, ...file, createdAt: BEGIN });
    return id;
  }
  async function begin(datasetId: string): Promise<IngestionTask> {
    const task = await storage.stores.datasets.startIngestion(datasetId, BEGIN);
    if (!task) throw new Error('nothing to do');
    return task;
  }
  /** A dataset of these texts, embedded by their words or with the given vectors. */
  async function addTexts(
    knowledgebase: Knowledgebase,
    texts: readonly string[],
    vectorOf = (text: string) => wordVector(text, DIMENSIONS[knowledgebase.encoder]),
  ) {
    const { datasets, chunks } = storage.stores;
    const task = await begin(await addDataset(knowledgebase));
    let offset = 0;
    const made = texts.map((content, position) => {
      const startOffset = offset;
      offset += content.length;
      return { id: uuidV7(), position, content, startOffset, endOffset: offset };
    });
    await chunks.append(task, made);
    await datasets.markParsed(task.datasetId, BEGIN);
    for (let from = 0; from < made.length; from += 500) {
      const batch = made.slice(from, from + 500);
      const vectors = batch.map(({ id, content }) => ({ chunkId: id, vector: vectorOf(content) }));
      await chunks.storeVectors(task, vectors, BEGIN);
    }
    await datasets.finish(task.datasetId, BEGIN);
    return { task, ids: made.map(({ id }) => id) };
  }
  const searchable = async ({ projectId }: Knowledgebase) => {
    const found = await storage.stores.knowledgebases.findSearchable(projectId);
    if (!found) throw new Error('no knowledgebase');
    return found;
  };

  test('A project has one knowledgebase and does not see others', async () => {
    const mine = await addKnowledgebase();
    const theirs = await addKnowledgebase();
    const { knowledgebases } = storage.stores;
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
    const { datasets, chunks } = storage.stores;
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
    const { datasets, chunks } = storage.stores;
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
    const { datasets, chunks, fileRemovals, projects } = storage.stores;
    const { task, ids } = await addTexts(knowledgebase, ['one', 'two']);
    expect(await datasets.remove(uuidV7(), task.datasetId)).toBe(false);
    expect(await datasets.remove(knowledgebase.id, 'rubbish')).toBe(false);
    expect(await datasets.remove(knowledgebase.id, task.datasetId)).toBe(true);

    for (const table of ['chunks', 'chunk_embeddings']) {
      const rows = await opened.database.query(`SELECT 1 FROM ${table} WHERE knowledgebase_id = $1`, [
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
    const { background } = opened.database;
    const rowsAtOnce = background?.rowsAtOnce ?? Number.POSITIVE_INFINITY;
    const task = await begin(await addDataset(await addKnowledgebase()));
    const { chunks, datasets } = storage.stores;
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

  describe('A document with very many chunks', () => {
    // Only the positions matter; the chunks between are not needed.
    const positions = [0, REMOVAL_CHUNKS - 1, REMOVAL_CHUNKS, 3 * REMOVAL_CHUNKS + 1];
    async function addLong(knowledgebase: Knowledgebase) {
      const task = await begin(await addDataset(knowledgebase));
      const made = positions.map((position) => {
        return { id: uuidV7(), position, content: 'x', startOffset: position, endOffset: position + 1 };
      });
      await storage.stores.chunks.append(task, made);
      await storage.stores.datasets.markParsed(task.datasetId, BEGIN);
      return task;
    }
    /** A database that counts the remaining chunks after each removal, and fails when the test says so. */
    function watch({ datasetId, knowledgebaseId }: IngestionTask, breakAfter = Number.POSITIVE_INFINITY) {
      const left: number[] = [];
      const shown: unknown[] = [];
      const database: Database = {
        ...opened.database,
        async query<Row>(sql: string, parameters?: readonly Parameter[]) {
          if (left.length >= breakAfter) throw new Error('The process died');
          const rows = await opened.database.query<Row>(sql, parameters);
          if (!sql.startsWith('DELETE FROM chunks')) return rows;
          const { datasets, chunks } = storage.stores;
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
      expect(await storage.stores.datasets.find(knowledgebase.id, task.datasetId)).toBeUndefined();
    });

    test('is removed in batches with its project’s documents, and no other project’s', async () => {
      const [knowledgebase, others] = [await addKnowledgebase(), await addKnowledgebase()];
      const task = await addLong(knowledgebase);
      const [short, kept] = [await addDataset(knowledgebase), await addDataset(others)];
      const { database, left } = watch(task);
      await datasetStore(database).removeAll('rubbish');
      await datasetStore(database).removeAll(knowledgebase.projectId);
      expect(left).toEqual(PART_BY_PART);
      const { datasets, fileRemovals } = storage.stores;
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
      const { datasets } = storage.stores;
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
      await storage.stores.chunks.clear(task.datasetId);
      expect(await storage.stores.chunks.list(task.datasetId, { limit: 100_000, offset: 0 })).toEqual([]);
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

  test('Unfinished datasets without progress are found again', async () => {
    const knowledgebase = await addKnowledgebase();
    const pending = await addDataset(knowledgebase);
    const { task } = await addTexts(knowledgebase, ['x']);
    const found = await storage.stores.datasets.listUnfinished(later(1), 1000);
    expect(found).toContainEqual({ datasetId: pending, projectId: knowledgebase.projectId });
    expect(found.map(({ datasetId }) => datasetId)).not.toContain(task.datasetId);
    expect(await storage.stores.datasets.listUnfinished(BEGIN, 1000)).not.toContainEqual(
      expect.objectContaining({ datasetId: pending }),
    );
  });

  describe('A search', () => {
    let knowledgebase: Knowledgebase;
    const find = async (text: string, limit = 5) =>
      await storage.chunkSearch.nearestAndMatching({
        knowledgebase: await searchable(knowledgebase),
        vector: wordVector(text, DIMENSIONS[knowledgebase.encoder]),
        text,
        limit,
      });
    const contents = (found: readonly { content: string }[]) => found.map(({ content }) => content);
    beforeEach(async () => {
      knowledgebase = await addKnowledgebase();
    });

    test.each(Object.keys(DIMENSIONS) as EmbeddingModelName[])(
      'with %s finds the nearest first',
      async (encoder) => {
        knowledgebase = await addKnowledgebase(encoder);
        const { task, ids } = await addTexts(knowledgebase, ['tea in cups', 'a kettle of water', 'water']);
        const { nearest } = await find('kettle of water', 2);
        expect(nearest).toEqual([
          {
            id: ids[1],
            content: 'a kettle of water',
            contentLength: 17,
            isEnabled: true,
            startOffset: 11,
            endOffset: 28,
            score: expect.closeTo(Math.sqrt(3) / 2, 2),
            datasetId: task.datasetId,
            datasetName: 'guide.txt',
          },
          expect.objectContaining({ content: 'water' }),
        ]);
      },
    );

    test('ignores other knowledgebases and disabled chunks', async () => {
      const others = await addKnowledgebase();
      await addTexts(others, ['kettle']);
      const { task, ids } = await addTexts(knowledgebase, ['kettle one', 'kettle two']);
      const { chunks } = storage.stores;
      expect(contents((await find('kettle')).nearest)).toEqual(['kettle one', 'kettle two']);

      expect(await chunks.setEnabled(task.datasetId, ids[0] ?? '', false)).toMatchObject({
        isEnabled: false,
      });
      expect(await find('kettle')).toMatchObject({
        nearest: [{ content: 'kettle two' }],
        matching: [{ content: 'kettle two' }],
      });
      await chunks.setEnabled(task.datasetId, ids[0] ?? '', true);
      expect((await find('kettle')).nearest).toHaveLength(2);
      expect(await chunks.setEnabled(task.datasetId, uuidV7(), false)).toBeUndefined();
      expect(await chunks.setEnabled(uuidV7(), ids[0] ?? '', false)).toBeUndefined();
    });

    test.each<[string, string, string[]]>([
      ['in another inflection', 'boiling kettles', ['The kettle boils.']],
      ['of Chinese', '保固期多久', ['這個水壺的保固期是三年。']],
      ['of one Chinese character', '壺', []],
      ['of Japanese', '返金について', ['返金は十日以内に行われます。']],
      ['of Thai', 'การรับประกัน', ['การรับประกันมีอายุสามปี']],
      ['that are numbers', 'what is XK-4821', ['Model XK-4821 is blue.']],
      ['with special characters', `'kettle' \\ " & | ! ( :* <->`, ['The kettle boils.']],
      ['that are unknown', 'zebra', []],
      ['that are stop words', 'the of and', []],
    ])('finds words %s', async (_, question, expected) => {
      await addTexts(knowledgebase, [
        'The kettle boils.',
        'Model XK-4821 is blue.',
        '這個水壺的保固期是三年。',
        '返金は十日以内に行われます。',
        'การรับประกันมีอายุสามปี',
      ]);
      expect(contents((await find(question)).matching)).toEqual(expected);
    });

    describe('by words', () => {
      const shares = async (question: string, limit?: number) =>
        Object.fromEntries(
          (await find(question, limit)).matching.map(({ content, wordShare }) => [content, wordShare]),
        );

      test('weighs a rare word more than a common one, and an unknown one most', async () => {
        await addTexts(knowledgebase, ['kettle lid', 'kettle cord', 'kettle base', 'kettle and warranty']);
        const found = await shares('kettle warranty');
        expect(Object.keys(found)[0]).toBe('kettle and warranty');
        expect(found['kettle and warranty']).toBeCloseTo(1, 5);
        expect(found['kettle lid']).toBeGreaterThan(0);
        expect(found['kettle lid']).toBeLessThan(0.1);
        expect((await shares('warranty zebra'))['kettle and warranty']).toBeLessThan(0.5);
      });

      test('does not count unknown character runs of a script without spaces', async () => {
        await addTexts(knowledgebase, ['退款', '保固']);
        expect((await shares('怎麼退款')).退款).toBeCloseTo(1, 5);
        expect(await shares('怎麼')).toEqual({});
      });

      test('reports word matches of the nearest chunks, too', async () => {
        await addTexts(knowledgebase, ['tea', 'tea of leaves', 'warranty of tea']);
        const { nearest, matching } = await find('warranty leaves tea', 1);
        expect(nearest).toHaveLength(1);
        expect(contents(matching)).toEqual(expect.arrayContaining(contents(nearest)));
        expect(matching.length).toBeLessThanOrEqual(2);
      });

      test('uses the full-text index, also for the counts', async () => {
        const plan = await opened.database.transaction(async (transaction) => {
          await transaction.query(PREPARE_WORDS);
          const rows = await transaction.query<{ 'QUERY PLAN': string }>(
            `EXPLAIN ${MATCHING} SELECT * FROM candidates`,
            [knowledgebase.id, 'kettle', '', 20_000, 50, []],
          );
          return rows.map((row) => row['QUERY PLAN']).join('\n');
        });
        expect(plan.match(/Bitmap Index Scan on chunks_by_words/g)?.length).toBeGreaterThanOrEqual(2);
        expect(plan).not.toContain('Seq Scan');
      });
    });
  });

  test('A page of a long document is embedded without reading the rest', async () => {
    const knowledgebase = await addKnowledgebase('text-embedding-3-small');
    const task = await begin(await addDataset(knowledgebase));
    const made = Array.from({ length: 1_000 }, (_, position) => {
      return {
        id: uuidV7(),
        position,
        content: `No. ${position}`,
        startOffset: position,
        endOffset: position,
      };
    });
    await storage.stores.chunks.append(task, made);
    const planOf = async (sql: string, parameters: Parameters<typeof opened.database.query>[1]) => {
      const rows = await opened.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const ids = made.slice(0, 128).map(({ id }) => id);
    const vectors = ids.map(() => vectorText(wordVector('x', 1536)));
    const plans = [
      await planOf(UNEMBEDDED, [task.datasetId, 512, 1_024]),
      await planOf(keepVectorsSql('text-embedding-3-small'), [
        task.datasetId,
        'text-embedding-3-small',
        ids,
        vectors,
        BEGIN,
      ]),
    ];
    for (const plan of plans) {
      expect(plan).toContain('Nested Loop');
      expect(plan).not.toMatch(/Hash|Merge|Materialize/);
      expect(plan).not.toContain('Seq Scan on chunks');
    }
  });

  describe('The query plan', () => {
    const planOf = async (sql: string, knowledgebaseId: string, vector: Float32Array, prepare: boolean) =>
      await opened.database.transaction(async (transaction) => {
        if (prepare) await transaction.query(PREPARE_INDEX, [String(EF_SEARCH), '20000']);
        const rows = await transaction.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, [
          knowledgebaseId,
          vectorText(vector),
          5,
        ]);
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      });

    test.each<[EmbeddingModelName, string]>([
      [LOCAL, 'chunk_embeddings_local'],
      ['text-embedding-ada-002', 'chunk_embeddings_ada_002'],
      ['text-embedding-3-small', 'chunk_embeddings_3_small'],
      ['text-embedding-3-large', 'chunk_embeddings_3_large'],
    ])('for %s uses its own index, and not for an exact search', async (encoder, index) => {
      const knowledgebase = await addKnowledgebase(encoder);
      const vector = wordVector('x', DIMENSIONS[encoder]);
      await addTexts(knowledgebase, ['x', 'y']);
      expect(VECTOR_COLUMNS[encoder].type).toContain(String(DIMENSIONS[encoder]));
      const plan = await planOf(nearestSql(encoder, false), knowledgebase.id, vector, true);
      expect(plan).toContain(`Index Scan using ${index} on chunk_embeddings`);
      expect(plan).toContain('Order By');
      const exact = await planOf(nearestSql(encoder, true), knowledgebase.id, vector, false);
      expect(exact).not.toContain(index);
    });

    test('holds, and finds nearly all of the true nearest, beside another project’s vectors', {
      timeout: 180_000,
    }, async () => {
      const [mine, theirs] = [await addKnowledgebase(), await addKnowledgebase()];
      const random = pseudoRandom(7);
      const centres = Array.from({ length: 40 }, () => gaussian(random, 512));
      const near = () => {
        const centre = centres[Math.floor(random() * centres.length)] ?? new Float32Array(512);
        return gaussian(random, 512).map((noise, index) => (centre[index] ?? 0) + noise * 0.6);
      };
      // The embedded database takes 10 ms for each vector, with the same index.
      const count = name === 'embedded' ? 350 : 1_050;
      const numbers = Array.from({ length: count }, (_, index) => `No. ${index}`);
      await addTexts(theirs, numbers.slice(0, count / 2), near);
      const { ids } = await addTexts(mine, numbers, near);
      const own = new Set(ids);
      // As if there were more vectors than the exact limit.
      const knowledgebase = { ...(await searchable(mine)), embeddedCount: EXACT_LIMIT + 1 };

      let hits = 0;
      for (let round = 0; round < 20; round += 1) {
        const query = { knowledgebase, vector: near(), limit: 5 };
        const found = await storage.chunkSearch.nearest(query);
        const exact = await storage.chunkSearch.nearest({
          ...query,
          knowledgebase: { ...knowledgebase, embeddedCount: 1 },
        });
        expect(found).toHaveLength(5);
        for (const { id } of found) {
          expect(own.has(id)).toBe(true);
          if (exact.some((one) => one.id === id)) hits += 1;
        }
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      }
      expect(hits).toBeGreaterThanOrEqual(95);

      // All but three are disabled; they are still found exactly.
      await opened.database.query(
        'UPDATE chunk_embeddings SET is_enabled = false WHERE knowledgebase_id = $1 AND chunk_id <> ALL ($2::uuid[])',
        [mine.id, ids.slice(0, 3)],
      );
      const left = await storage.chunkSearch.nearest({ knowledgebase, vector: near(), limit: 5 });
      expect(left.map(({ id }) => id).sort()).toEqual(ids.slice(0, 3).sort());
    });
  });
});

/** @see Marsaglia, "Xorshift RNGs" */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function gaussian(random: () => number, dimensions: number): Float32Array {
  return Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5);
}
