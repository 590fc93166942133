import { createSealer } from '../../src/base/sealer.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openEmbedded } from '../../src/infra/postgres/embedded/server.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { embedSentences } from '../../src/knowledge/ingest/embedSentences.ts';
import {
  createRetrieval,
  DEFAULT_SCORE_THRESHOLD,
  type SearchMode,
} from '../../src/knowledge/search/retrieval.ts';
import { LOCAL_EMBEDDING_MODEL } from '../../src/models/ports/embedder.ts';
import { createLocalEmbedder } from '../../src/vendors/local/embedder.ts';
import { PARAPHRASED, UNANSWERED } from './paraphrases.ts';
import { QUESTIONS, UNRELATED } from './questions.ts';

const TOP_K = 5;

await measureQuality();

/** How often the right passage ranks first, and among the first five. */
async function measureQuality(): Promise<void> {
  const database = await openEmbedded({ folder: 'memory://' });
  const embedder = createLocalEmbedder();
  try {
    await migrate(database, await readMigrations(new URL('../../migrations/', import.meta.url).pathname));
    const storage = createStorage(database, createSealer(Buffer.alloc(32, 1)));
    await measureParaphrases(storage, embedder);
    const projectId = await fill(
      storage,
      [...QUESTIONS.map(({ passage }) => passage), ...UNRELATED],
      embedder,
    );
    const retrieval = retrievalOf(storage, embedder);
    console.log(
      `quality with ${LOCAL_EMBEDDING_MODEL.name}: ${QUESTIONS.length} questions, ${QUESTIONS.length + UNRELATED.length} passages`,
    );
    for (const group of ['meaning', 'name', 'Chinese'] as const) {
      const questions = QUESTIONS.filter((one) => one.group === group);
      for (const mode of ['semantic', 'hybrid'] as const) {
        const ranks = await Promise.all(
          questions.map(async ({ question, passage }) => {
            const found = await retrieval.search(projectId, question, optionsOf(mode));
            return found.findIndex(({ content }) => content === passage);
          }),
        );
        const first = ranks.filter((rank) => rank === 0).length / ranks.length;
        const among = ranks.filter((rank) => rank >= 0).length / ranks.length;
        console.log(
          `  by ${group.padEnd(8)} ${mode.padEnd(9)} hit at 1 ${first.toFixed(2)}, at ${TOP_K} ${among.toFixed(2)}`,
        );
      }
    }
  } finally {
    await embedder.close();
    await database.close();
  }
}

/** Of questions that paraphrase one sentence of six, in two halves: a rule is chosen on one and confirmed on the other. */
async function measureParaphrases(
  storage: ReturnType<typeof createStorage>,
  embedder: ReturnType<typeof createLocalEmbedder>,
): Promise<void> {
  const passages = PARAPHRASED.map(({ passage }) => passage);
  const projectId = await fill(storage, passages, embedder);
  const retrieval = retrievalOf(storage, embedder);
  const search = (question: string, scoreThreshold: number) =>
    retrieval.search(projectId, question, { mode: 'semantic', topK: passages.length, scoreThreshold });
  for (const half of [0, 1]) {
    const isOfHalf = (_one: unknown, index: number) => index % 2 === half;
    const asked = PARAPHRASED.flatMap(({ passage, questions }) =>
      questions.filter(isOfHalf).map((question) => ({ passage, question })),
    );
    let first = 0;
    let found = 0;
    for (const { passage, question } of asked) {
      const [best] = await search(question, 0);
      if (best?.content === passage) first += 1;
      const near = await search(question, DEFAULT_SCORE_THRESHOLD);
      if (near.some(({ content }) => content === passage)) found += 1;
    }
    const unanswered = UNANSWERED.filter(isOfHalf);
    const answers = await Promise.all(
      unanswered.map((question) => search(question, DEFAULT_SCORE_THRESHOLD)),
    );
    const wrong = answers.filter(({ length }) => length > 0).length;
    console.log(
      `  paraphrases, half ${half + 1}: ${first} of ${asked.length} first, ${found} at ${DEFAULT_SCORE_THRESHOLD} or more; ${wrong} of ${unanswered.length} unrelated questions find something`,
    );
  }
}

/** Semantic search with its default threshold, and hybrid search, whose default drops no full-text match. */
function optionsOf(mode: SearchMode) {
  return mode === 'semantic' ? { mode, topK: TOP_K, scoreThreshold: 0 } : { mode, topK: TOP_K };
}

function retrievalOf(
  storage: ReturnType<typeof createStorage>,
  embedder: ReturnType<typeof createLocalEmbedder>,
) {
  return createRetrieval({
    knowledgebases: storage.stores.knowledgebases,
    chunks: storage.chunkSearch,
    findEmbedder: () => embedder,
    clock: systemClock,
  });
}

async function fill(
  { stores }: ReturnType<typeof createStorage>,
  passages: readonly string[],
  embedder: ReturnType<typeof createLocalEmbedder>,
): Promise<string> {
  const at = new Date().toISOString();
  const [projectId, knowledgebaseId, datasetId] = [uuidV7(), uuidV7(), uuidV7()];
  const settings = { sessionIdleMinutes: 30, historyRetentionDays: 30, reportUsage: false };
  await stores.projects.insert({ id: projectId, name: 'bench', ...settings, createdAt: at, updatedAt: at });
  await stores.knowledgebases.insert({
    id: knowledgebaseId,
    projectId,
    name: 'bench',
    type: 'pgvector',
    embeddingModelName: 'text-embedding-3-small',
    encoder: LOCAL_EMBEDDING_MODEL.name,
    chunkSize: 500,
    chunkOverlap: 50,
    createdAt: at,
  });
  const file = { name: 'bench.txt', mimeType: 'text/plain', bytes: 1, fileKey: datasetId };
  await stores.datasets.insert({ id: datasetId, knowledgebaseId, ...file, createdAt: at });
  const chunks = passages.map((content, position) => ({
    id: uuidV7(),
    position,
    content,
    startOffset: 0,
    endOffset: content.length,
  }));
  await stores.chunks.append({ datasetId, knowledgebaseId }, chunks);
  const vectors = await embedder.embed(passages, new AbortController().signal);
  const made = chunks.flatMap(({ id }, index) => {
    const vector = vectors[index];
    return vector ? [{ chunkId: id, vector }] : [];
  });
  await stores.chunks.storeVectors({ datasetId, encoder: LOCAL_EMBEDDING_MODEL.name }, made);
  const encoder = LOCAL_EMBEDDING_MODEL.name;
  const deps = { chunks: stores.chunks, findEmbedder: () => embedder };
  await embedSentences(deps, { datasetId, encoder }, () => undefined, new AbortController().signal);
  return projectId;
}
