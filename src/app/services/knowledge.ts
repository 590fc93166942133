import { join } from 'node:path';
import type { KnowledgeService } from '../../api/ports.ts';
import { repeat } from '../../base/async/repeat.ts';
import type { KnowledgeRetriever } from '../../engine/tools/knowledge.ts';
import { bucketDocuments } from '../../infra/objectStore/documents/bucketDocuments.ts';
import { documentsWithFallback } from '../../infra/objectStore/documents/documentsWithFallback.ts';
import { localDocuments, UPLOADS_FOLDER } from '../../infra/objectStore/documents/localDocuments.ts';
import type { DocumentFiles } from '../../knowledge/files.ts';
import { DocumentParser } from '../../knowledge/ingest/documentParser.ts';
import { ingestionWork } from '../../knowledge/ingest/ingest.ts';
import { createDocuments } from '../../knowledge/intake/documents.ts';
import { LOCAL_EMBEDDING_MODEL } from '../../models/ports/embedder.ts';
import type { NodeContext } from '../node/node.ts';
import { buildKnowledgeSearch } from './knowledgeSearch.ts';
import { announcer, startWork } from './work.ts';

/** Files that could not be removed with their dataset are removed at this interval. */
const FILE_REMOVAL_MS = 60_000;
/** The retries of one attempt. The worker makes more attempts, and the dataset shows why. */
const DOCUMENT_RETRIES = { maxAttempts: 2, timeoutMs: 60_000 } as const;

export interface BuiltKnowledge extends KnowledgeService {
  readonly search: KnowledgeRetriever;
  readonly files: DocumentFiles;
  readonly parser: DocumentParser;
}

/** Upload and search of documents; nodes of the role `worker` also ingest them. */
export async function buildKnowledge(node: NodeContext): Promise<BuiltKnowledge> {
  const { config, storage, clock, makeId, lifecycle } = node;
  const { stores } = storage;
  const logger = node.logger.child({ part: 'knowledge' });
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const files = buildFiles(node);
  const { embedders, retrieval, search } = await buildKnowledgeSearch(node);
  const documents = createDocuments({
    files,
    removals: stores.fileRemovals,
    wake: announcer(node, 'ingestion', onError),
    maxBytes: config.MAX_UPLOAD_BYTES,
    makeId,
    onError,
  });
  const { datasets, chunks } = stores;
  const parser = new DocumentParser({ clock });
  lifecycle.onClose(async () => parser.close());
  if (config.ROLES.includes('worker')) {
    const deps = {
      parser,
      datasets,
      chunks,
      files,
      findEmbedder: embedders(DOCUMENT_RETRIES),
      clock,
      makeId,
      onError: (error: unknown, datasetId: string) =>
        logger.warn({ err: error, datasetId }, 'dataset ingestion failed'),
      onDone: (datasetId: string, outcome: object) =>
        logger.info({ datasetId, ...outcome }, 'dataset ingestion finished'),
    };
    startWork(node, ingestionWork(deps, storage.work.ingestion), onError);
    lifecycle.onClose(
      repeat(clock, FILE_REMOVAL_MS, documents.removeFiles, (error) =>
        onError(error, 'files of removed datasets not removed, retrying'),
      ),
    );
  }
  return {
    encoderOf: (model) => (config.EMBEDDING_PROVIDER === 'local' ? LOCAL_EMBEDDING_MODEL.name : model),
    documents,
    retrieval,
    search,
    files,
    parser,
  };
}

/** Stores files in the bucket when one is configured; earlier uploads are still read from the data folder. */
function buildFiles({ config, bucket, clock }: NodeContext): DocumentFiles {
  const local = localDocuments(join(config.DATA_DIR, UPLOADS_FOLDER));
  if (!bucket) return local;
  const workingFolder = join(config.DATA_DIR, 'documents-in-use');
  return documentsWithFallback(bucketDocuments({ bucket, workingFolder, now: clock.now }), local);
}
