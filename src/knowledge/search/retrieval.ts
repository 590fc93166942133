import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Embedder, EmbeddingModelName } from '../../models/ports/embedder.ts';
import type { ChunkSearch, FoundChunk, KnowledgebaseStore, SearchableKnowledgebase } from '../stores.ts';

/**
 * Dampens the lead of the first ranks. The usual 60 is for hundreds of ranks: in short lists a single shared word would
 * outweigh any difference in meaning.
 */
const RANK_CONSTANT = 5;

export const DEFAULT_TOP_K = 5;
export const DEFAULT_SCORE_THRESHOLD = 0.3;
/** Minimum length of each fused list, so that a chunk that is mediocre in both is found. */
const MIN_CANDIDATES = 50;
/** A chunk with all of the query's words weighs as much as its vector match, one with half of them an eighth. */
const SHARE_EXPONENT = 3;
/** Query vectors do not change; users repeat their questions. */
const VECTOR_TTL_MS = 10 * 60_000;
const MAX_VECTORS = 1_000;
/** Prefetched results serve the next answer only. */
const PREFETCH_TTL_MS = 10_000;
const MAX_PREFETCHED = 500;
/** Interim and final transcripts of the same words may differ in these. */
const SENTENCE_MARKS = /[.,;:!?…。，、！？；：]+(?=\s|$)/gu;
/** A search has timeouts of its own; one caller's abort must not fail it for the others that share it. */
const NEVER = new AbortController().signal;

export type SearchMode = 'semantic' | 'hybrid';

export interface SearchOptions {
  /** Default {@link DEFAULT_TOP_K}. */
  readonly topK?: number;
  /**
   * Minimum cosine similarity. When given, it applies to every chunk; the default {@link DEFAULT_SCORE_THRESHOLD} does
   * not apply to chunks that hybrid search finds by their words.
   */
  readonly scoreThreshold?: number;
  /** Default `semantic`. */
  readonly mode?: SearchMode;
}

export interface RetrievalDeps {
  readonly knowledgebases: KnowledgebaseStore;
  readonly chunks: ChunkSearch;
  /** @returns The embedder; undefined when the model is not configured. */
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
  readonly clock: Clock;
}

/** Searches a project's documents. */
export interface Retrieval {
  /**
   * @returns Best first; empty where the project has no documents.
   * @throws {CallwayError} 503 `encoder_unavailable`, or the embedder's error.
   */
  search(projectId: string, text: string, options: SearchOptions): Promise<FoundChunk[]>;
  /**
   * Searches for an interim transcript, so that a search for the same words within {@link PREFETCH_TTL_MS} returns at
   * once. Never fails.
   */
  prefetch(projectId: string, text: string, options: SearchOptions): Promise<void>;
}

export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const vectors = createRecent<Float32Array>(deps.clock, VECTOR_TTL_MS, MAX_VECTORS);
  const prefetched = createRecent<FoundChunk[]>(deps.clock, PREFETCH_TTL_MS, MAX_PREFETCHED);
  /** Keys of prefetched results that no search has used. */
  const unused = new Set<string>();

  const vectorOf = async (encoder: EmbeddingModelName, text: string): Promise<Float32Array> =>
    await vectors.get(`${encoder} ${text}`, async () => {
      const embedder = deps.findEmbedder(encoder);
      if (!embedder) throw modelNotConfigured(encoder);
      const [vector] = await embedder.embed([text], NEVER);
      if (!vector) throw new Error(`the embedding model ${encoder} returned no vector`);
      return vector;
    });

  const find = async (projectId: string, text: string, options: SearchOptions): Promise<FoundChunk[]> => {
    const knowledgebase = await deps.knowledgebases.findSearchable(projectId);
    if (!knowledgebase || knowledgebase.embeddedCount === 0) return [];
    const vector = await vectorOf(knowledgebase.encoder, text);
    return await findNear(deps.chunks, knowledgebase, vector, text, options);
  };

  return {
    async search(projectId, text, options) {
      const words = normalized(text);
      const key = keyOf(projectId, words, options);
      // A prefetched result is used once: a repeated search sees the current documents.
      if (!unused.delete(key)) return await find(projectId, words, options);
      return await prefetched.get(key, () => find(projectId, words, options));
    },
    async prefetch(projectId, text, options) {
      const words = normalized(text);
      if (words === '') return;
      const key = keyOf(projectId, words, options);
      unused.add(key);
      for (const oldest of unused) {
        if (unused.size <= MAX_PREFETCHED) break;
        unused.delete(oldest);
      }
      await prefetched
        .get(key, () => find(projectId, words, options))
        .catch(() => {
          // The search itself, if it follows, throws the error.
          unused.delete(key);
        });
    },
  };
}

async function findNear(
  chunks: ChunkSearch,
  knowledgebase: SearchableKnowledgebase,
  vector: Float32Array,
  text: string,
  options: SearchOptions,
): Promise<FoundChunk[]> {
  const { topK = DEFAULT_TOP_K, scoreThreshold, mode = 'semantic' } = options;
  const isNear = ({ score }: FoundChunk) => score >= (scoreThreshold ?? DEFAULT_SCORE_THRESHOLD);
  if (mode === 'semantic') {
    const found = await chunks.nearest({ knowledgebase, vector, limit: topK });
    return found.filter(isNear);
  }
  const limit = Math.max(MIN_CANDIDATES, 2 * topK);
  const { nearest, matching } = await chunks.nearestAndMatching({ knowledgebase, vector, text, limit });
  const byWords = scoreThreshold === undefined ? matching : matching.filter(isNear);
  return fuse<FoundChunk>([
    nearest.filter(isNear).map((item) => ({ item, weight: 1 })),
    byWords.map((item) => ({ item, weight: item.wordShare ** SHARE_EXPONENT })),
  ]).slice(0, topK);
}

/** Removes differences in white space and at the end of the sentence. */
function normalized(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!。！…]+$/u, '');
}

/** Queries with the same words share a prefetched result. */
function wordsOnly(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(SENTENCE_MARKS, '');
}

function keyOf(projectId: string, words: string, options: SearchOptions): string {
  const { topK, scoreThreshold, mode } = options;
  return JSON.stringify([projectId, wordsOnly(words), topK, scoreThreshold, mode]);
}

function modelNotConfigured(encoder: EmbeddingModelName): CallwayError {
  return new CallwayError(
    'unavailable',
    'encoder_unavailable',
    `The documents were embedded with ${encoder}, which this installation cannot reach; set OPENAI_API_KEY or EMBEDDING_API_KEY`,
    { retryAfterSeconds: 60 },
  );
}

/** Caches results, pending ones included, for a limited time. */
interface Recent<Value> {
  /** A failure is not cached. */
  get(key: string, make: () => Promise<Value>): Promise<Value>;
}

/** @param limit - Maximum entries; the oldest is evicted first. */
function createRecent<Value>(clock: Clock, keepMs: number, limit: number): Recent<Value> {
  const entries = new Map<string, { value: Promise<Value>; untilMs: number }>();
  return {
    get(key, make) {
      const known = entries.get(key);
      if (known && known.untilMs > clock.monotonicMs()) return known.value;
      entries.delete(key);
      const value = make();
      entries.set(key, { value, untilMs: clock.monotonicMs() + keepMs });
      value.catch(() => {
        if (entries.get(key)?.value === value) entries.delete(key);
      });
      for (const oldest of entries.keys()) {
        if (entries.size <= limit) break;
        entries.delete(oldest);
      }
      return value;
    },
  };
}

/** A rank in a list, with a weight of 0 to 1. */
interface Ranked<Item> {
  readonly item: Item;
  readonly weight: number;
}

/**
 * Weighted reciprocal rank fusion.
 *
 * @param lists - The lists, each best first.
 * @returns Each item once, as the first list has it, best first; ties keep the lists' order.
 * @see Cormack, Clarke and Büttcher, SIGIR 2009
 */
export function fuse<Item extends { readonly id: string }>(
  lists: readonly (readonly Ranked<Item>[])[],
): Item[] {
  const sums = new Map<string, { item: Item; sum: number }>();
  for (const list of lists) {
    for (const [index, { item, weight }] of list.entries()) {
      const known = sums.get(item.id) ?? { item, sum: 0 };
      sums.set(item.id, { ...known, sum: known.sum + weight / (RANK_CONSTANT + index + 1) });
    }
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum).map(({ item }) => item);
}
