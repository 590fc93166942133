import { linkAbort } from '../../base/async/linkedAbort.ts';
import { repeat } from '../../base/async/repeat.ts';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { Embedder, EmbeddingModelName } from '../../models/ports/embedder.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { Again, LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { TextChunk } from '../chunking/chunker.ts';
import { typeOfMime } from '../documentType.ts';
import type { DocumentFiles } from '../files.ts';
import { DocumentError } from '../parse/block.ts';
import type { ChunkStore, DatasetStore, IngestionTask, NewChunk, UnembeddedChunk } from '../stores.ts';
import type { DocumentParser } from './documentParser.ts';
import { embedSentences } from './embedSentences.ts';

/** Counts processes that died or stopped; after that many the document is failed. */
const MAX_ATTEMPTS = 30;
/** The same until the document is parsed: it may be what ends the processes. */
const MAX_PARSE_ATTEMPTS = 2;
/** The delay until the removal of a document stops its parse. */
const REMOVAL_CHECK_MS = 1_000;
/** A document that makes no progress for this long is failed: with the last attempt, within 15 minutes. */
const GIVE_UP_AFTER_MS = 12 * 60_000;
/** The delay before another attempt is the time without progress, within these limits: it doubles. */
const RETRY_DELAY_MS = { min: 2_000, max: 60_000 } as const;
/** Concurrent embedding requests of one document. */
const PARALLEL_BATCHES = 4;
/** Vectors that a crash loses are paid for again: no more are requested at once than are stored in this time. */
const STORED_WITHIN_MS = 2_000;
/** Requested at first, and however slowly vectors are stored. */
const MIN_REQUESTED = 16;
/** A large document takes many turns, so that documents that wait are embedded between them. */
const TURN_MS = 15_000;
/** Documents that a node ingests at once; each may have a process that parses. */
const MAX_RUNNING = 4;
/** Half of them, so that one project's documents never hold up all others. */
const MAX_RUNNING_PER_PROJECT = 2;

export interface IngestDeps {
  readonly datasets: DatasetStore;
  readonly chunks: ChunkStore;
  readonly files: DocumentFiles;
  readonly findEmbedder: (encoder: EmbeddingModelName) => Embedder | undefined;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly parser: DocumentParser;
  /** Called with unexpected failures. */
  readonly onError: (error: unknown, datasetId: string) => void;
  /** Called when a dataset is ready or failed. */
  readonly onDone?: (
    datasetId: string,
    outcome: { readonly status: 'ready' | 'failed'; readonly encoder: string },
  ) => void;
}

/** The dataset was removed meanwhile. */
class DatasetRemovedError extends Error {}

/** Thrown when the turn's time is over. What is embedded is stored; the rest follows in the next turn. */
class TurnOverError extends Error {}

/** The ingestion of documents, as a kind of work. */
export function ingestionWork(deps: IngestDeps, rows: LeasedWork): WorkKind {
  return {
    name: 'ingestion',
    rows,
    run: ({ id }, signal) => ingest(deps, id, signal),
    maxRunning: MAX_RUNNING,
    maxPerProject: MAX_RUNNING_PER_PROJECT,
  };
}

/**
 * Ingests a dataset: parses it into chunks, then embeds those without a vector. Each batch is stored at once, so that an
 * attempt after a crash does not pay for a vector twice.
 *
 * @returns The next attempt: after a temporary failure, which the dataset shows, or because its turn is over; undefined
 *   when it is ready or failed.
 * @throws {CallwayError} While the database is unavailable.
 */
export async function ingest(
  deps: IngestDeps,
  datasetId: string,
  signal: AbortSignal,
): Promise<Again | undefined> {
  const task = await deps.datasets.startIngestion(datasetId);
  if (!task) return undefined;
  const progress = { atMs: task.failingSince?.getTime() ?? deps.clock.now() };
  try {
    if (task.attempts > (task.isParsed ? MAX_ATTEMPTS : MAX_PARSE_ATTEMPTS))
      throw new DocumentError('Reading the file was interrupted too often');
    if (!task.isParsed) await parse(deps, task, signal);
    const endTurn = turn(deps.clock);
    await embed(deps, task, { progress, endTurn, signal });
    await embedSentences(deps, task, endTurn, signal);
    await deps.datasets.finish(datasetId);
    deps.onDone?.(datasetId, { status: 'ready', encoder: task.encoder });
    return undefined;
  } catch (error) {
    if (error instanceof DatasetRemovedError) return undefined;
    if (error instanceof TurnOverError) {
      await undoAttempt(deps, datasetId);
      return { afterMs: 0 };
    }
    if (signal.aborted) {
      await undoAttempt(deps, datasetId);
      throw signal.reason;
    }
    if (!(error instanceof DocumentError)) deps.onError(error, datasetId);
    // Nothing can be recorded now.
    if (error instanceof CallwayError && error.category === 'unavailable') throw error;
    const retry = retryOf(error, deps.clock.now() - progress.atMs);
    if (retry) {
      await deps.datasets.postpone(datasetId, {
        reason: reasonOf(error),
        failingSince: isoTime(progress.atMs),
      });
      return retry;
    }
    await deps.datasets.fail(datasetId, reasonOf(error));
    deps.onDone?.(datasetId, { status: 'failed', encoder: task.encoder });
    return undefined;
  }
}

async function parse(deps: IngestDeps, task: IngestionTask, signal: AbortSignal): Promise<void> {
  const { datasetId, name, chunkSize, chunkOverlap } = task;
  const type = typeOfMime(task.mimeType);
  if (!type) throw new DocumentError(`The type ${task.mimeType} cannot be read`);
  const file = await unlessAborted(checkOut(deps.files, task.fileKey), signal);
  const abort = linkAbort(signal);
  const checkRemoval = async () => {
    if (!(await deps.datasets.exists(datasetId))) abort.abort(new DatasetRemovedError());
  };
  // While the database is away, nothing is removed.
  const stopChecking = repeat(deps.clock, REMOVAL_CHECK_MS, checkRemoval, () => undefined);
  let count = 0;
  const restart = async () => {
    count = 0;
    await deps.chunks.clear(datasetId);
  };
  const store = async (chunks: readonly TextChunk[]) => {
    count += chunks.length;
    const isStored = await deps.chunks.append(
      task,
      chunks.map((chunk): NewChunk => ({ id: deps.makeId(), ...chunk })),
    );
    if (!isStored) throw new DatasetRemovedError();
  };
  try {
    await restart();
    const request = { path: file.path, name, type, chunkSize, chunkOverlap };
    await deps.parser.parse(request, { restart, store }, abort.signal);
    if (count === 0) throw new DocumentError('The file holds no text');
    if (!(await deps.datasets.markParsed(datasetId, now(deps)))) throw new DatasetRemovedError();
  } finally {
    await stopChecking();
    abort.unlink();
    await file.release();
  }
}

/** @returns A function to be called after each write. @throws {TurnOverError} Once the turn has taken its time. */
function turn(clock: Clock): () => void {
  const startedMs = clock.monotonicMs();
  return () => {
    if (clock.monotonicMs() - startedMs >= TURN_MS) throw new TurnOverError();
  };
}

/** The node stops, or the turn is over: that is no fault of the document. */
async function undoAttempt({ datasets, onError }: IngestDeps, datasetId: string): Promise<void> {
  await datasets.undoAttempt(datasetId).catch((error: unknown) => onError(error, datasetId));
}

async function checkOut(files: DocumentFiles, fileKey: string) {
  try {
    return await files.checkOut(fileKey);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new DocumentError('The uploaded file is gone; upload it again', { cause: error });
  }
}

interface Embedding {
  /** The progress, whose `atMs` is set whenever vectors were stored. */
  readonly progress: { atMs: number };
  readonly endTurn: () => void;
  readonly signal: AbortSignal;
}

async function embed(
  deps: IngestDeps,
  task: IngestionTask,
  { progress, endTurn, signal }: Embedding,
): Promise<void> {
  const embedder = deps.findEmbedder(task.encoder);
  if (!embedder) {
    throw new DocumentError(
      `The embedding model ${task.encoder} is not configured: no key or base URL is set`,
    );
  }
  /** @returns The time that storing the vectors took, in milliseconds. */
  const embedBatch = async (batch: readonly UnembeddedChunk[]): Promise<number> => {
    const vectors = await embedder.embed(
      batch.map(({ content }) => content),
      signal,
    );
    const made = batch.map(({ id: chunkId }, index) => {
      const vector = vectors[index];
      if (!vector) throw new Error(`the embedding model ${task.encoder} returned too few vectors`);
      return { chunkId, vector };
    });
    const startedMs = deps.clock.monotonicMs();
    if (!(await deps.chunks.storeVectors(task, made))) throw new DatasetRemovedError();
    progress.atMs = deps.clock.now();
    return deps.clock.monotonicMs() - startedMs;
  };
  const limit = embedder.batchSize * PARALLEL_BATCHES;
  let requested = MIN_REQUESTED;
  for (let offset = 0; ; offset += limit) {
    const { missing, pageLength } = await deps.chunks.listWithoutVector(task.datasetId, { limit, offset });
    for (let from = 0; from < missing.length; ) {
      const round = missing.slice(from, from + requested);
      const storeTimesMs = await allSettledOrThrow(batchesOf(round, embedder.batchSize).map(embedBatch));
      from += round.length;
      // Stored in parallel.
      const meanMs = storeTimesMs.reduce((sum, ms) => sum + ms, 0) / storeTimesMs.length;
      requested = Math.max(
        MIN_REQUESTED,
        Math.floor((STORED_WITHIN_MS * round.length) / Math.max(1, meanMs)),
      );
      endTurn();
    }
    if (pageLength < limit) return;
  }
}

/** Waits for all, so that each batch is stored although another fails. @throws The first failure. */
async function allSettledOrThrow<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return await Promise.all(works);
}

function batchesOf<Item>(items: readonly Item[], length: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  );
}

/** @returns The next retry; undefined when another attempt would not help, or enough were made. */
function retryOf(error: unknown, withoutProgressMs: number): Again | undefined {
  if (error instanceof DocumentError) return undefined;
  if (error instanceof ModelError && !error.retryable) return undefined;
  const wantedMs = error instanceof ModelError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const { min, max } = RETRY_DELAY_MS;
  const afterMs = Math.min(max, Math.max(min, wantedMs, withoutProgressMs));
  return withoutProgressMs + afterMs > GIVE_UP_AFTER_MS ? undefined : { afterMs };
}

/** Returns the reason for the user. */
function reasonOf(error: unknown): string {
  if (error instanceof DocumentError) return error.message;
  if (error instanceof ModelError) return `The chunks could not be embedded: ${error.message}`;
  return 'An internal error; see the service’s log';
}

function now({ clock }: IngestDeps): string {
  return isoTime(clock.now());
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
