import { beforeAll } from 'vitest';
import { createSealer } from '../../../../../src/base/sealer.ts';
import { uuidV7 } from '../../../../../src/base/values/ids.ts';
import { createStorage } from '../../../../../src/infra/postgres/storage.ts';
import type { Knowledgebase } from '../../../../../src/knowledge/knowledgebase.ts';
import type { IngestionTask } from '../../../../../src/knowledge/stores.ts';
import type { EmbeddingModelName } from '../../../../../src/models/ports/embedder.ts';
import { wordVector } from '../../../../support/fakeEmbeddings.ts';
import { type Open, useDatabase } from '../../support/databases.ts';
import { BEGIN } from '../../support/sessions.ts';

export const LOCAL = 'energetic-ai-embeddings-en';
export const DIMENSIONS: Record<EmbeddingModelName, number> = {
  [LOCAL]: 512,
  'text-embedding-ada-002': 1536,
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
};

/** A migrated database for the tests of one `describe`, with knowledge of their own. */
export function useKnowledge(open?: Open) {
  const opened = useDatabase(open);
  let storage: ReturnType<typeof createStorage>;
  beforeAll(() => {
    storage = createStorage(opened.database, createSealer(Buffer.alloc(32, 7)));
  });

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
    const task = await storage.stores.datasets.startIngestion(datasetId);
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
      await chunks.storeVectors(task, vectors);
    }
    await datasets.finish(task.datasetId);
    return { task, ids: made.map(({ id }) => id) };
  }

  const searchable = async ({ projectId }: Knowledgebase) => {
    const found = await storage.stores.knowledgebases.findSearchable(projectId);
    if (!found) throw new Error('no knowledgebase');
    return found;
  };

  return {
    get database() {
      return opened.database;
    },
    get storage() {
      return storage;
    },
    addProject,
    addKnowledgebase,
    addDataset,
    begin,
    addTexts,
    searchable,
  };
}
