import { beforeEach, describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import {
  EF_SEARCH,
  EXACT_LIMIT,
  MATCHING,
  nearestSql,
  PREPARE_INDEX,
  PREPARE_WORDS,
} from '../../../../src/infra/postgres/knowledge/chunkSearch.ts';
import { keepVectorsSql, pageWithoutSql } from '../../../../src/infra/postgres/knowledge/chunks.ts';
import { VECTOR_COLUMNS, vectorText } from '../../../../src/infra/postgres/knowledge/vectors.ts';
import type { Knowledgebase } from '../../../../src/knowledge/knowledgebase.ts';
import type { EmbeddingModelName } from '../../../../src/models/ports/embedder.ts';
import { wordVector } from '../../../support/fakeEmbeddings.ts';
import { databases } from '../support/databases.ts';
import { DIMENSIONS, LOCAL, useKnowledge } from './support/knowledge.ts';

describe.each(databases)('Chunk search on the $name database', ({ open }) => {
  const rig = useKnowledge(open);
  const { addKnowledgebase, addDataset, begin, addTexts, searchable } = rig;

  describe('A search', () => {
    let knowledgebase: Knowledgebase;
    const find = async (text: string, limit = 5) =>
      await rig.storage.chunkSearch.nearestAndMatching({
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

    test('scores a chunk by the mean of itself and the nearest of its sentences', async () => {
      const { chunks } = rig.storage.stores;
      const parts = ['kettle of water', 'tea in white cups', 'opening hours of the shop'];
      const { task, ids } = await addTexts(knowledgebase, ['water for tea', parts.join('. ')]);
      const [, long = ''] = ids;
      const before = (await find('kettle of water')).nearest.find(({ id }) => id === long);
      expect(before?.score).toBeLessThan(0.6);
      const expected = ((before?.score ?? 0) + 1) / 2;
      await chunks.storeSentences(
        task.datasetId,
        long,
        parts.map((text) => wordVector(text, 512)),
      );
      const { nearest, matching } = await find('kettle of water');
      expect(nearest.map(({ id, score }) => [id, score])).toEqual([
        [long, expect.closeTo(expected, 2)],
        [ids[0], expect.any(Number)],
      ]);
      expect(matching.find(({ id }) => id === long)?.score).toBeCloseTo(expected, 2);
      const many = { ...(await searchable(knowledgebase)), embeddedCount: EXACT_LIMIT + 1 };
      const vector = wordVector('kettle of water', 512);
      const byIndex = await rig.storage.chunkSearch.nearest({ knowledgebase: many, vector, limit: 1 });
      expect(byIndex).toMatchObject([{ id: long, score: expect.closeTo(expected, 2) }]);
      await chunks.setEnabled(task.datasetId, long, false);
      expect((await find('kettle of water')).nearest.map(({ id }) => id)).toEqual([ids[0]]);
    });

    test('ignores other knowledgebases and disabled chunks', async () => {
      const others = await addKnowledgebase();
      await addTexts(others, ['kettle']);
      const { task, ids } = await addTexts(knowledgebase, ['kettle one', 'kettle two']);
      const { chunks } = rig.storage.stores;
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
        const plan = await rig.database.transaction(async (transaction) => {
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
    await rig.storage.stores.chunks.append(task, made);
    const planOf = async (sql: string, parameters: Parameters<typeof rig.database.query>[1]) => {
      const rows = await rig.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, parameters);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    };
    const ids = made.slice(0, 128).map(({ id }) => id);
    const vectors = ids.map(() => vectorText(wordVector('x', 1536)));
    const plans = [
      await planOf(pageWithoutSql('chunk_embeddings'), [task.datasetId, 512, 1_024]),
      await planOf(pageWithoutSql('sentence_embeddings'), [task.datasetId, 512, 1_024]),
      await planOf(keepVectorsSql('text-embedding-3-small'), [
        task.datasetId,
        'text-embedding-3-small',
        ids,
        vectors,
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
      await rig.database.transaction(async (transaction) => {
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
      const numbers = Array.from({ length: 200 }, (_, index) => `No. ${index}`);
      await addTexts(theirs, numbers.slice(0, 100), near);
      const { ids } = await addTexts(mine, numbers, near);
      const own = new Set(ids);
      // As if there were more vectors than the exact limit.
      const knowledgebase = { ...(await searchable(mine)), embeddedCount: EXACT_LIMIT + 1 };

      let hits = 0;
      for (let round = 0; round < 8; round += 1) {
        const query = { knowledgebase, vector: near(), limit: 5 };
        const found = await rig.storage.chunkSearch.nearest(query);
        const exact = await rig.storage.chunkSearch.nearest({
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
      expect(hits).toBeGreaterThanOrEqual(38);

      // All but three are disabled; they are still found exactly.
      await rig.database.query(
        'UPDATE chunk_embeddings SET is_enabled = false WHERE knowledgebase_id = $1 AND chunk_id <> ALL ($2::uuid[])',
        [mine.id, ids.slice(0, 3)],
      );
      const left = await rig.storage.chunkSearch.nearest({ knowledgebase, vector: near(), limit: 5 });
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
