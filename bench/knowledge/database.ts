import { fileURLToPath } from 'node:url';
import { createSealer } from '../../src/base/sealer.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import type { Database, Queryable } from '../../src/infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { openEmbedded } from '../../src/infra/postgres/embedded/server.ts';
import { EF_SEARCH, nearestSql, PREPARE_INDEX } from '../../src/infra/postgres/knowledge/chunkSearch.ts';
import { vectorText } from '../../src/infra/postgres/knowledge/vectors.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { createRetrieval } from '../../src/knowledge/search/retrieval.ts';
import { type Embedder, OPENAI_EMBEDDING_MODELS } from '../../src/models/ports/embedder.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { clusteredVectors } from './vectors.ts';

export const ENCODER = OPENAI_EMBEDDING_MODELS['text-embedding-3-small'];
const INDEX = 'chunk_embeddings_3_small';
const BATCH = 250;
const QUERIES = 200;
const WARM_UP = 30;
const EXACT_QUERIES = 50;
const TOP_K = 5;
/** Longer than any index build. */
const INDEX_TIMEOUT_MS = 1_800_000;
const MIGRATIONS = fileURLToPath(new URL('../../migrations/', import.meta.url));

export interface DatabaseFigures {
  readonly name: string;
  readonly vectors: number;
  readonly fillSeconds: number;
  readonly indexSeconds: number;
  readonly queryMs: Percentiles;
  readonly hybridMs: Percentiles;
  readonly rawMs: Percentiles;
  readonly recall: number;
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Fills a database, and runs the same queries by Callway's search and by plain SQL, alternating. */
export async function measureDatabase(
  name: 'postgres' | 'pglite',
  vectors: number,
): Promise<DatabaseFigures> {
  const { database, close } = await openMigrated(name);
  try {
    const storage = createStorage(database, createSealer(Buffer.alloc(32, 1)));
    const projectId = uuidV7();
    const source = clusteredVectors(ENCODER.dimensions, 42);
    const filled = await fill(database, storage, projectId, source.next, vectors);
    let asked: Float32Array = new Float32Array();
    const embedder: Embedder = { model: ENCODER, batchSize: 1, embed: async () => [asked] };
    const retrieval = createRetrieval({
      knowledgebases: storage.stores.knowledgebases,
      chunks: storage.chunkSearch,
      findEmbedder: () => embedder,
      clock: systemClock,
    });
    const own: number[] = [];
    const hybrid: number[] = [];
    const raw: number[] = [];
    let hits = 0;
    for (let round = -WARM_UP; round < QUERIES; round += 1) {
      asked = source.next();
      const text = vectorText(asked);
      const rawMs = await timed(() => rawQuery(database, filled.knowledgebaseId, text, false));
      // A different question each time: vectors of recent questions are cached.
      const found = await timed(() =>
        retrieval.search(projectId, `question ${round}`, { topK: TOP_K, scoreThreshold: 0 }),
      );
      const byWords = await timed(() =>
        retrieval.search(projectId, `Passage ${round} of the usual words`, { topK: TOP_K, mode: 'hybrid' }),
      );
      if (round < 0) continue;
      raw.push(rawMs.ms);
      own.push(found.ms);
      hybrid.push(byWords.ms);
      if (round >= EXACT_QUERIES) continue;
      const exact = await rawQuery(database, filled.knowledgebaseId, text, true);
      hits += exact.filter(({ id }) => found.result.some((one) => one.id === id)).length;
    }
    return {
      name,
      vectors,
      fillSeconds: filled.fillSeconds,
      indexSeconds: filled.indexSeconds,
      queryMs: percentiles(own),
      hybridMs: percentiles(hybrid),
      rawMs: percentiles(raw),
      recall: hits / (EXACT_QUERIES * TOP_K),
    };
  } finally {
    await close();
  }
}

export function describeFilled(figures: DatabaseFigures): string {
  const { name, vectors, queryMs, hybridMs, rawMs, recall, fillSeconds, indexSeconds } = figures;
  const ms = ({ p50, p95 }: Percentiles) => `p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`;
  return [
    `${name}: ${vectors} vectors of ${ENCODER.dimensions}, filled in ${fillSeconds.toFixed(0)} s, indexed in ${indexSeconds.toFixed(0)} s`,
    `  the SQL alone       ${ms(rawMs)}`,
    `  a query             ${ms(queryMs)}`,
    `  a hybrid query      ${ms(hybridMs)}`,
    `  ratio               ${(queryMs.p50 / rawMs.p50).toFixed(2)} times, ${(queryMs.p50 - rawMs.p50).toFixed(2)} ms more`,
    `  recall at ${TOP_K}         ${recall.toFixed(3)}`,
    `  memory              ${Math.round(process.memoryUsage.rss() / 1e6)} MB in this process`,
  ].join('\n');
}

/** An empty database with all tables. */
export async function openMigrated(
  name: 'postgres' | 'pglite',
): Promise<{ database: Database; close(): Promise<void> }> {
  const opened = await open(name);
  await migrate(opened.database, await readMigrations(MIGRATIONS));
  return opened;
}

async function open(name: 'postgres' | 'pglite'): Promise<{ database: Database; close(): Promise<void> }> {
  if (name === 'pglite') {
    const database = await openEmbedded({ folder: 'memory://' });
    return { database, close: () => database.close() };
  }
  const server = await startPostgres();
  const database = openPostgres({
    url: server.url,
    onIdleError: (error) => console.error(error),
    // One statement builds the index.
    statementTimeoutMs: INDEX_TIMEOUT_MS,
  });
  return {
    database,
    async close() {
      await database.close();
      await server.close();
    },
  };
}

async function fill(
  database: Database,
  { stores }: ReturnType<typeof createStorage>,
  projectId: string,
  next: () => Float32Array,
  count: number,
) {
  const { knowledgebaseId, datasetId } = await addKnowledgebase(stores, projectId);
  // Filling a table is faster without its index, which a restored database also builds last.
  const [definition] = await database.query<{ indexdef: string }>(
    'SELECT indexdef FROM pg_indexes WHERE indexname = $1',
    [INDEX],
  );
  await database.query(`DROP INDEX ${INDEX}`);
  const startedMs = performance.now();
  for (let from = 0; from < count; from += BATCH) {
    const chunks = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => {
      const position = from + index;
      const content = `Passage ${position}: ${'some words of the usual length '.repeat(14)}`;
      return { id: uuidV7(), position, content, startOffset: 0, endOffset: content.length };
    });
    await stores.chunks.append({ datasetId, knowledgebaseId }, chunks);
    const vectors = chunks.map(({ id }) => ({ chunkId: id, vector: next() }));
    await stores.chunks.storeVectors({ datasetId, encoder: ENCODER.name }, vectors);
  }
  const filledMs = performance.now();
  await database.transaction(async (transaction) => {
    // With the default memory, the index of 20,000 such vectors takes minutes.
    await transaction.query(
      `SELECT set_config('maintenance_work_mem', '512MB', true), set_config('statement_timeout', '0', true)`,
    );
    await transaction.query(definition?.indexdef ?? '');
  });
  await database.query('ANALYZE chunks');
  await database.query('ANALYZE chunk_embeddings');
  const indexedMs = performance.now();
  return {
    knowledgebaseId,
    fillSeconds: (filledMs - startedMs) / 1000,
    indexSeconds: (indexedMs - filledMs) / 1000,
  };
}

/** A project with a knowledgebase and an empty dataset. */
export async function addKnowledgebase(
  stores: ReturnType<typeof createStorage>['stores'],
  projectId: string,
): Promise<{ knowledgebaseId: string; datasetId: string }> {
  const at = new Date().toISOString();
  const [knowledgebaseId, datasetId] = [uuidV7(), uuidV7()];
  const settings = { sessionIdleMinutes: 30, historyRetentionDays: 30, reportUsage: false };
  await stores.projects.insert({ id: projectId, name: 'bench', ...settings, createdAt: at, updatedAt: at });
  const sizes = { chunkSize: 500, chunkOverlap: 50 };
  await stores.knowledgebases.insert({
    id: knowledgebaseId,
    projectId,
    name: 'bench',
    type: 'pgvector',
    embeddingModelName: ENCODER.name,
    encoder: ENCODER.name,
    ...sizes,
    createdAt: at,
  });
  const file = { name: 'bench.txt', mimeType: 'text/plain', bytes: 1, fileKey: datasetId };
  await stores.datasets.insert({ id: datasetId, knowledgebaseId, ...file, createdAt: at });
  return { knowledgebaseId, datasetId };
}

/** The SQL of a search, in its transaction. */
async function rawQuery(
  database: Database,
  knowledgebaseId: string,
  vector: string | null,
  exact: boolean,
): Promise<{ id: string }[]> {
  return await database.transaction(async (transaction: Queryable) => {
    if (!exact) await transaction.query(PREPARE_INDEX, [String(EF_SEARCH), '20000']);
    return await transaction.query<{ id: string }>(nearestSql(ENCODER.name, exact), [
      knowledgebaseId,
      vector,
      TOP_K,
    ]);
  });
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedMs };
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
