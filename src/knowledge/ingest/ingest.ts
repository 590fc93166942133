import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import type { Embedder, EmbeddingModelName } from '../../providers/ports/embedder.ts';
import { ModelError } from '../../providers/ports/modelError.ts';
import type { TextChunk } from '../chunking/chunker.ts';
import { typeOfMime } from '../documentType.ts';
import type { DocumentFiles } from '../files.ts';
import { DocumentError } from '../parse/block.ts';
import type { ChunkStore, DatasetStore, IngestionTask, NewChunk, UnembeddedChunk } from '../stores.ts';
import { type ParseLimits, parseDocument } from './parseDocument.ts';

/** Begun so often, by failures and by processes that died, a document is given up. */
const MAX_ATTEMPTS = 30;
/** Requests to the encoder that are under way at a time: its answers are waited for, its limits seldom met. */
const PARALLEL_BATCHES = 4;
/** What is answered and not kept is paid for again after a crash: so no more is asked for than is kept within this time. */
const KEPT_WITHIN_MS = 2_000;
/** Asked for before it is known how fast vectors are kept, and however slow that is. */
const LEAST_ASKED = 16;

export interface IngestDeps {
  readonly datasets: DatasetStore;
  readonly chunks: ChunkStore;
  readonly files: DocumentFiles;
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly limits?: ParseLimits;
  /** Told of failures that were not foreseen. */
  readonly onError: (error: unknown, datasetId: string) => void;
  /** Told what became of a dataset. */
  readonly onDone?: (
    datasetId: string,
    outcome: { readonly status: 'ready' | 'failed'; readonly encoder: string },
  ) => void;
}

export interface IngestAttempt {
  readonly signal: AbortSignal;
  /** A failure then is the dataset's; before, it is thrown for another attempt. */
  readonly isLastAttempt: boolean;
}

/** The dataset was removed meanwhile. */
class GoneError extends Error {}

/**
 * Makes a dataset ready: parses it into chunks, then embeds those that have no vector yet. Each batch is kept as it
 * comes, so that whoever goes on after a crash pays for no vector twice.
 *
 * @throws What may pass (a database or an encoder that is away), to be tried again.
 */
export async function ingest(deps: IngestDeps, datasetId: string, attempt: IngestAttempt): Promise<void> {
  const task = await deps.datasets.startIngestion(datasetId, now(deps));
  if (!task) return;
  try {
    if (task.attempts > MAX_ATTEMPTS) throw new DocumentError('Reading the file was broken off too often');
    if (!task.isParsed) await parse(deps, task, attempt.signal);
    await embed(deps, task, attempt.signal);
    await deps.datasets.finish(datasetId, now(deps));
    deps.onDone?.(datasetId, { status: 'ready', encoder: task.encoder });
  } catch (error) {
    if (error instanceof GoneError) return;
    attempt.signal.throwIfAborted();
    const reason = reasonOf(error, attempt.isLastAttempt);
    if (!(error instanceof DocumentError)) deps.onError(error, datasetId);
    if (reason === undefined) throw error;
    await deps.datasets.fail(datasetId, reason, now(deps));
    deps.onDone?.(datasetId, { status: 'failed', encoder: task.encoder });
  }
}

async function parse(deps: IngestDeps, task: IngestionTask, signal: AbortSignal): Promise<void> {
  const { datasetId, name, chunkSize, chunkOverlap } = task;
  const type = typeOfMime(task.mimeType);
  if (!type) throw new DocumentError(`The type ${task.mimeType} cannot be read`);
  const file = await checkOut(deps.files, task.fileKey);
  try {
    await deps.chunks.clear(datasetId);
    let count = 0;
    const keep = async (chunks: readonly TextChunk[]) => {
      count += chunks.length;
      const kept = await deps.chunks.append(
        task,
        chunks.map((chunk): NewChunk => ({ id: deps.makeId(), ...chunk })),
      );
      if (!kept) throw new GoneError();
    };
    await parseDocument({ path: file.path, name, type, chunkSize, chunkOverlap }, keep, deps, signal);
    if (count === 0) throw new DocumentError('The file holds no text');
    if (!(await deps.datasets.markParsed(datasetId, now(deps)))) throw new GoneError();
  } finally {
    await file.release();
  }
}

async function checkOut(files: DocumentFiles, fileKey: string) {
  try {
    return await files.checkOut(fileKey);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new DocumentError('The uploaded file is gone; upload it again', { cause: error });
  }
}

async function embed(deps: IngestDeps, task: IngestionTask, signal: AbortSignal): Promise<void> {
  const embedder = deps.findEmbedder(task.encoder);
  if (!embedder) {
    throw new DocumentError(`The encoder ${task.encoder} cannot be reached: no key or address of it is set`);
  }
  /** @returns How long it took to keep the vectors, in milliseconds. */
  const embedBatch = async (batch: readonly UnembeddedChunk[]): Promise<number> => {
    const vectors = await embedder.embed(
      batch.map(({ content }) => content),
      signal,
    );
    const made = batch.map(({ id: chunkId }, index) => {
      const vector = vectors[index];
      if (!vector) throw new Error(`the encoder ${task.encoder} left a chunk out`);
      return { chunkId, vector };
    });
    const beganMs = deps.clock.monotonicMs();
    if (!(await deps.chunks.storeVectors(task, made, now(deps)))) throw new GoneError();
    return deps.clock.monotonicMs() - beganMs;
  };
  const limit = embedder.batchSize * PARALLEL_BATCHES;
  let asked = LEAST_ASKED;
  for (let offset = 0; ; offset += limit) {
    const { missing, pageLength } = await deps.chunks.listWithoutVector(task.datasetId, { limit, offset });
    for (let from = 0; from < missing.length; ) {
      const round = missing.slice(from, from + asked);
      const keptMs = await allDone(partsOf(round, embedder.batchSize).map(embedBatch));
      from += round.length;
      // They were kept side by side.
      const meanMs = keptMs.reduce((sum, ms) => sum + ms, 0) / keptMs.length;
      asked = Math.max(LEAST_ASKED, Math.floor((KEPT_WITHIN_MS * round.length) / Math.max(1, meanMs)));
    }
    if (pageLength < limit) return;
  }
}

/** What one of them keeps is kept, also where another fails. @throws The first failure, once all have ended. */
async function allDone<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

function partsOf<Item>(items: readonly Item[], length: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  );
}

/** @returns What the user is told, when this is the end; `undefined` when it is worth another attempt. */
function reasonOf(error: unknown, isLastAttempt: boolean): string | undefined {
  if (error instanceof DocumentError) return error.message;
  if (error instanceof ModelError && !error.retryable)
    return `The chunks could not be embedded: ${error.message}`;
  if (!isLastAttempt) return undefined;
  if (error instanceof ModelError) return `The chunks could not be embedded: ${error.message}`;
  // A database that is away is back later, and the dataset is found again then.
  if (error instanceof CallwayError && error.category === 'unavailable') return undefined;
  return 'An internal error; the service’s log says more';
}

function now({ clock }: IngestDeps): string {
  return new Date(clock.now()).toISOString();
}
