import { beforeEach, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import { MATCHING, PREPARE_WORDS } from '../../../../src/infra/postgres/knowledge/chunkSearch.ts';
import type { Knowledgebase } from '../../../../src/knowledge/knowledgebase.ts';
import type { EmbeddingModelName } from '../../../../src/providers/ports/embedder.ts';
import { wordVector } from '../../../support/fakeEmbeddings.ts';
import { databases } from '../support/databases.ts';
import { DIMENSIONS, useKnowledge } from './support/knowledge.ts';

describe.each(databases)('Chunk search on the $name database', ({ open }) => {
  const rig = useKnowledge(open);
  const { addKnowledgebase, addTexts, searchable } = rig;

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
});
