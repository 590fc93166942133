import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Embedder, EmbeddingModelName } from '../../providers/ports/embedder.ts';
import type { ChunkSearch, FoundChunk, KnowledgebaseStore, SearchableKnowledgebase } from '../stores.ts';
import { fuse } from './fuse.ts';
import { createRecent } from './recent.ts';

export const DEFAULT_TOP_K = 5;
export const DEFAULT_SCORE_THRESHOLD = 0.3;
/** Each list that is fused has so many at least, so that what both know a little comes up. */
const LEAST_CANDIDATES = 50;
/** A chunk with all of the question's words counts as much as one of its meaning, one with half of them an eighth. */
const SHARE_EXPONENT = 3;
/** A vector stays the same; it is kept for the repetition of a question within a talk, and between talks. */
const VECTOR_KEPT_MS = 10 * 60_000;
const VECTORS_KEPT = 1_000;
/** What was found while the caller still spoke is good for the answer to come, and no longer. */
const FOUND_KEPT_MS = 10_000;
const FINDINGS_KEPT = 500;
/** What a recogniser may hear, or leave out, without the words being others. */
const SENTENCE_MARKS = /[.,;:!?…。，、！？；：]+(?=\s|$)/gu;
/** A search ends by its own time limits; a caller who leaves must not break it for the others who wait for it. */
const NEVER = new AbortController().signal;

export type SearchMode = 'semantic' | 'hybrid';

export interface SearchOptions {
  /** Default {@link DEFAULT_TOP_K}. */
  readonly topK?: number;
  /**
   * Least cosine similarity. Given, it holds for every chunk; the default of {@link DEFAULT_SCORE_THRESHOLD} leaves
   * out nothing that hybrid search found by its words.
   */
  readonly scoreThreshold?: number;
  /** Default `semantic`. */
  readonly mode?: SearchMode;
}

export interface RetrievalDeps {
  readonly knowledgebases: Pick<KnowledgebaseStore, 'findSearchable'>;
  readonly chunks: ChunkSearch;
  /** @returns `undefined` when the settings give no access to that encoder. */
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
  readonly clock: Clock;
}

/** Finds what a project's documents say on a question. */
export interface Retrieval {
  /**
   * @returns The best first; empty where the project has no documents.
   * @throws {CallwayError} 503 `encoder_unavailable`, or what the encoder threw.
   */
  search(projectId: string, text: string, options: SearchOptions): Promise<FoundChunk[]>;
  /**
   * Searches ahead: the same question, asked again within seconds, is answered at once. For words that a caller has
   * said so far. Never fails.
   */
  prefetch(projectId: string, text: string, options: SearchOptions): Promise<void>;
}

export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const vectors = createRecent<Float32Array>(deps.clock, VECTOR_KEPT_MS, VECTORS_KEPT);
  const ahead = createRecent<FoundChunk[]>(deps.clock, FOUND_KEPT_MS, FINDINGS_KEPT);
  const fetched = new Set<string>();

  const vectorOf = async (encoder: EmbeddingModelName, text: string): Promise<Float32Array> =>
    await vectors.get(`${encoder} ${text}`, async () => {
      const embedder = deps.findEmbedder(encoder);
      if (!embedder) throw noEncoder(encoder);
      const [vector] = await embedder.embed([text], NEVER);
      if (!vector) throw new Error(`the encoder ${encoder} gave no vector`);
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
      // Only what was searched ahead is taken as it was then: who asks anew, sees what is there now.
      if (!fetched.delete(key)) return await find(projectId, words, options);
      return await ahead.get(key, () => find(projectId, words, options));
    },
    async prefetch(projectId, text, options) {
      const words = normalized(text);
      if (words === '') return;
      const key = keyOf(projectId, words, options);
      fetched.add(key);
      for (const oldest of fetched) {
        if (fetched.size <= FINDINGS_KEPT) break;
        fetched.delete(oldest);
      }
      await ahead
        .get(key, () => find(projectId, words, options))
        .catch(() => {
          // The question itself, if it comes, says what is wrong.
          fetched.delete(key);
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
  const limit = Math.max(LEAST_CANDIDATES, 2 * topK);
  const { nearest, matching } = await chunks.nearestAndMatching({ knowledgebase, vector, text, limit });
  const byWords = scoreThreshold === undefined ? matching : matching.filter(isNear);
  return fuse<FoundChunk>([
    nearest.filter(isNear).map((item) => ({ item, weight: 1 })),
    byWords.map((item) => ({ item, weight: item.wordShare ** SHARE_EXPONENT })),
  ]).slice(0, topK);
}

/** The same words are the same question, however they are spaced and whether or not the sentence has ended yet. */
function normalized(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.!。！…]+$/u, '');
}

/** Those that differ in this form are other words; a search ahead for one of these is good for the other. */
function wordsAlone(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(SENTENCE_MARKS, '');
}

function keyOf(projectId: string, words: string, options: SearchOptions): string {
  const { topK, scoreThreshold, mode } = options;
  return JSON.stringify([projectId, wordsAlone(words), topK, scoreThreshold, mode]);
}

function noEncoder(encoder: EmbeddingModelName): CallwayError {
  return new CallwayError(
    'unavailable',
    'encoder_unavailable',
    `The documents were embedded with ${encoder}, which this installation cannot reach; set OPENAI_API_KEY or EMBEDDING_API_KEY`,
    { retryAfterSeconds: 60 },
  );
}
