import { describe, expect, test } from 'vitest';
import { characterPairs } from '../../../src/knowledge/search/characterPairs.ts';
import { createRetrieval, fuse, type SearchOptions } from '../../../src/knowledge/search/retrieval.ts';
import type { FoundChunk, KnowledgebaseStore, MatchingChunk } from '../../../src/knowledge/stores.ts';
import { LOCAL_EMBEDDING_MODEL } from '../../../src/models/ports/embedder.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

const chunk = (id: string, score: number): FoundChunk => ({
  id,
  content: id,
  contentLength: id.length,
  isEnabled: true,
  startOffset: 0,
  endOffset: 1,
  score,
  datasetId: 'd',
  datasetName: 'guide.pdf',
});
const sharing = (wordShare: number, one: FoundChunk): MatchingChunk => ({ ...one, wordShare });
const ids = (chunks: readonly FoundChunk[]) => chunks.map(({ id }) => id);

function world(
  lists: { nearest?: FoundChunk[]; matching?: MatchingChunk[]; embedded?: number; hasEncoder?: boolean } = {},
) {
  const { nearest = [], matching = [], embedded = 10, hasEncoder = true } = lists;
  const clock = createSimulatedClock();
  const calls = { embed: 0, search: 0, limits: [] as number[] };
  const failures: Error[] = [];
  const retrieval = createRetrieval({
    knowledgebases: unused<KnowledgebaseStore>('knowledgebases', {
      findSearchable: async (projectId) =>
        projectId === 'none'
          ? undefined
          : { id: 'kb', encoder: LOCAL_EMBEDDING_MODEL.name, embeddedCount: embedded },
    }),
    chunks: {
      async nearest({ limit }) {
        calls.search += 1;
        calls.limits.push(limit);
        return nearest.slice(0, limit);
      },
      async nearestAndMatching({ limit }) {
        calls.search += 1;
        calls.limits.push(limit);
        return { nearest: nearest.slice(0, limit), matching: matching.slice(0, limit) };
      },
    },
    findEmbedder: () =>
      hasEncoder
        ? {
            model: LOCAL_EMBEDDING_MODEL,
            batchSize: 1,
            async embed() {
              calls.embed += 1;
              const failure = failures.shift();
              if (failure) throw failure;
              return [new Float32Array(512)];
            },
          }
        : undefined,
    clock,
  });
  const search = (text: string, options: SearchOptions = {}, projectId = 'p') =>
    retrieval.search(projectId, text, options);
  return { retrieval, search, clock, calls, failures };
}

describe('Search', () => {
  test('applies the default threshold and limit', async () => {
    const { search, calls } = world({
      nearest: [0.9, 0.8, 0.7, 0.6, 0.5, 0.4].map((score) => chunk(String(score), score)),
    });
    expect(ids(await search('x'))).toEqual(['0.9', '0.8', '0.7', '0.6', '0.5']);
    expect(ids(await search('x', { topK: 50, scoreThreshold: 0.65 }))).toEqual(['0.9', '0.8', '0.7']);
    expect(calls.limits).toEqual([5, 50]);
  });

  test('in hybrid mode fuses ranks; an explicit threshold applies to both lists', async () => {
    const { search, calls } = world({
      nearest: [chunk('both', 0.6), chunk('near', 0.5), chunk('far', 0.1)],
      matching: [sharing(1, chunk('word', 0.05)), sharing(1, chunk('both', 0.6))],
    });
    expect(ids(await search('x', { mode: 'hybrid' }))).toEqual(['both', 'word', 'near']);
    expect(ids(await search('x', { mode: 'hybrid', scoreThreshold: 0.3 }))).toEqual(['both', 'near']);
    expect(ids(await search('x', { mode: 'hybrid', topK: 1 }))).toEqual(['both']);
    expect(calls.limits).toEqual([50, 50, 50]);
  });

  test('in hybrid mode follows the vectors where few words are shared', async () => {
    const nearest = [chunk('answer', 0.7), chunk('other', 0.5)];
    const found = async (wordShare: number) =>
      ids(
        await world({ nearest, matching: [sharing(wordShare, chunk('other', 0.5))] }).search('x', {
          mode: 'hybrid',
        }),
      );
    expect(await found(0.5)).toEqual(['answer', 'other']);
    expect(await found(1)).toEqual(['other', 'answer']);
  });

  test.each([
    ['a project without a knowledgebase', {}, 'none'],
    ['a knowledgebase without a vector', { embedded: 0 }, 'p'],
  ])('of %s finds nothing, and embeds nothing', async (_, lists, projectId) => {
    const { search, calls } = world(lists);
    expect(await search('x', {}, projectId)).toEqual([]);
    expect(calls).toMatchObject({ embed: 0, search: 0 });
  });

  test('fails with encoder_unavailable for a model that is not configured', async () => {
    const { search } = world({ hasEncoder: false });
    await expect(search('x')).rejects.toMatchObject({ category: 'unavailable', code: 'encoder_unavailable' });
  });

  test('caches query vectors, not results', async () => {
    const { search, clock, calls } = world();
    await search('What is it?');
    await search(' What  is it?');
    expect(calls).toMatchObject({ embed: 1, search: 2 });
    clock.advance(10 * 60_000 + 1);
    await search('What is it?');
    expect(calls.embed).toBe(2);
  });

  test('does not cache a failure', async () => {
    const { search, failures, calls } = world();
    failures.push(new Error('away'));
    await expect(search('x')).rejects.toThrow('away');
    await search('x');
    expect(calls).toMatchObject({ embed: 2, search: 1 });
  });
});

describe('Prefetch', () => {
  test('serves the next search once', async () => {
    const { retrieval, search, calls } = world({ nearest: [chunk('a', 0.9)] });
    await retrieval.prefetch('p', 'how long is the warranty', {});
    expect(calls.search).toBe(1);
    expect(ids(await search('How long is the warranty.'))).toEqual(['a']);
    expect(calls.search).toBe(1);
    await search('How long is the warranty.');
    expect(calls.search).toBe(2);
  });

  test.each<[string, string]>([
    ['well how long is it', 'Well, how long is it?'],
    ['保固期多久', '保固期多久？'],
    ['three. five', 'Three five.'],
  ])('for %j is one for %j', async (words, question) => {
    const { retrieval, search, calls } = world();
    await retrieval.prefetch('p', words, {});
    await search(question);
    expect(calls).toMatchObject({ embed: 1, search: 1 });
  });

  test.each<[string, string]>([
    ['version 3.5', 'version 35'],
    ['the price', 'the price of it'],
    ["it's", 'its'],
  ])('for %j is none for %j', async (words, question) => {
    const { retrieval, search, calls } = world();
    await retrieval.prefetch('p', words, {});
    await search(question);
    expect(calls).toMatchObject({ embed: 2, search: 2 });
  });

  test('that is pending is awaited by the search', async () => {
    const { retrieval, search, calls } = world();
    const ahead = retrieval.prefetch('p', 'x', {});
    await Promise.all([search('x'), ahead]);
    expect(calls).toMatchObject({ embed: 1, search: 1 });
  });

  test.each([
    ['other words', 'q', {}, 'p'],
    ['other options', 'x', { topK: 1 }, 'p'],
    ['another project', 'x', {}, 'other'],
  ])('for %s is no answer', async (_, text, options, projectId) => {
    const { retrieval, search, calls } = world();
    await retrieval.prefetch('p', 'x', {});
    await search(text, options, projectId);
    expect(calls.search).toBe(2);
  });

  test('expires after ten seconds', async () => {
    const { retrieval, search, clock, calls } = world();
    await retrieval.prefetch('p', 'x', {});
    clock.advance(10_001);
    await search('x');
    expect(calls.search).toBe(2);
  });

  test('that fails or has no words has no effect', async () => {
    const { retrieval, search, failures, calls } = world();
    failures.push(new Error('away'));
    await retrieval.prefetch('p', 'x', {});
    await retrieval.prefetch('p', '  ', {});
    await search('x');
    expect(calls).toMatchObject({ embed: 2, search: 1 });
  });
});

test('Rank fusion puts items first that rank high in both lists, by weight', () => {
  const list = (names: string, weight = 1) => [...names].map((id) => ({ item: { id }, weight }));
  const order = (...lists: ReturnType<typeof list>[]) =>
    fuse(lists)
      .map(({ id }) => id)
      .join('');
  expect(order(list('abc'), list('cd'))).toBe('cabd');
  expect(order(list('abc'), list('cd', 0.1))).toBe('abcd');
  expect(order(list(''), list('da'))).toBe('da');
  expect(order()).toBe('');
});

test.each<[string, string[]]>([
  ['保固期三年', ['保固', '固期', '期三', '三年']],
  ['我 愛 kettle', ['我', '愛']],
  ['カップ', ['カッ', 'ップ']],
  ['ｶｯﾌﾟ', ['カッ', 'ップ']],
  ['三年三年', ['三年', '年三']],
  ['plain words, 123', []],
  ['', []],
])('the pairs of %j', (text, pairs) => {
  expect(characterPairs(text)).toEqual(pairs);
});
