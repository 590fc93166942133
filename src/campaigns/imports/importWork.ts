import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { DocumentFiles } from '../../knowledge/files.ts';
import type { DocumentParser } from '../../knowledge/ingest/documentParser.ts';
import { DocumentError } from '../../knowledge/parse/block.ts';
import type { LeasedWork } from '../../work/work.ts';
import type { WorkKind } from '../../work/worker.ts';
import type { SkippedRow } from '../contact.ts';
import { type GivenRow, missingColumns, readColumns } from './columns.ts';
import type { ContactImportStore, ImportTask } from './contactImport.ts';

/** Files that a node reads at once, and those of one project. */
const MAX_RUNNING = 2;
const MAX_RUNNING_PER_PROJECT = 1;
/** An import that ends the process, or its parser, so often without a row more is failed. */
const MAX_ATTEMPTS = 3;
/** Titles and dates may stand above the header. */
const MAX_HEADER_ROWS = 10;
/** A file lies on the node that received it, unless the nodes share a bucket or a folder: another node leaves it to that one. */
const FILE_RETRY_MS = 1_000;
/** A node that has the file and does not return within this time has failed. */
const FILE_WAIT_MS = 120_000;
/** A campaign has a million contacts; some rows are wrong or there twice. */
const TABLE_SIZE = { rows: 2_000_000, columns: 200, cells: 100_000_000 };

/** What takes the rows of an import: a campaign, or a do-not-call list. */
export interface ImportTarget<Stores> {
  /** Reads rows before the transaction. @returns Takes them in it, and returns those that it did not take. */
  prepare(rows: readonly GivenRow[]): Promise<(stores: Stores) => Promise<readonly SkippedRow[]>>;
}

export interface ImportDeps<Stores extends { readonly contactImports: ContactImportStore }> {
  readonly imports: ContactImportStore;
  readonly transaction: <Result>(work: (stores: Stores) => Promise<Result>) => Promise<Result>;
  /** @returns Undefined when it was removed. */
  readonly targetOf: (task: ImportTask) => Promise<ImportTarget<Stores> | undefined>;
  readonly parser: DocumentParser;
  readonly files: DocumentFiles;
  /** Removes the files of imports that have ended. Never fails. */
  readonly cleanUp: () => Promise<void>;
  readonly clock: Clock;
  readonly onEnd: (task: ImportTask, reason: string | null) => void;
}

/** The import has ended meanwhile, or another node has counted its rows. */
class ImportLostError extends Error {}

/** This node has not got the file; another one may have it. */
class FileElsewhereError extends Error {}

/** Returns the import of lists as a kind of work. */
export function importWork<Stores extends { readonly contactImports: ContactImportStore }>(
  deps: ImportDeps<Stores>,
  rows: LeasedWork,
): WorkKind {
  return {
    name: 'contact-imports',
    rows,
    maxRunning: MAX_RUNNING,
    maxPerProject: MAX_RUNNING_PER_PROJECT,
    async run({ id }, signal) {
      const task = await deps.imports.begin(id);
      if (!task) return undefined;
      const now = () => new Date(deps.clock.now()).toISOString();
      try {
        const reason = await reasonOfEnd(readFile(deps, task, signal));
        if (reason !== undefined) {
          await deps.imports.end(id, reason, now());
          deps.onEnd(task, reason);
        }
      } catch (error) {
        const isElsewhere = error instanceof FileElsewhereError;
        if (isElsewhere || signal.aborted)
          await deps.imports.undoAttempt(id, isElsewhere ? (task.missingSince ?? now()) : null);
        if (isElsewhere) return { afterMs: FILE_RETRY_MS };
        throw error;
      }
      await deps.cleanUp();
      return undefined;
    },
  };
}

/**
 * Waits for the end of an import.
 *
 * @returns Why it failed; null when it is done; undefined when it has ended otherwise.
 * @throws What is repeated later.
 */
async function reasonOfEnd(reading: Promise<void>): Promise<string | null | undefined> {
  try {
    await reading;
    return null;
  } catch (error) {
    if (error instanceof ImportLostError) return undefined;
    if (error instanceof DocumentError) return error.message;
    if (error instanceof CallwayError && error.category !== 'unavailable') return error.message;
    throw error;
  }
}

/** Reads a file's rows and takes them, a batch in each transaction; what an earlier attempt has taken is passed over. */
async function readFile<Stores extends { readonly contactImports: ContactImportStore }>(
  deps: ImportDeps<Stores>,
  task: ImportTask,
  signal: AbortSignal,
): Promise<void> {
  if (task.attempts > MAX_ATTEMPTS) throw new DocumentError('Reading the file was interrupted too often');
  const target = await deps.targetOf(task);
  if (!target) throw new ImportLostError();
  const file = await unlessAborted(checkOut(deps, task), signal);
  let readRow: ((cells: readonly string[]) => GivenRow) | undefined;
  let firstRows: (readonly string[])[] = [];
  let position = 0;
  let taken = task.rows;
  try {
    await deps.parser.readRows(
      { path: file.path, type: task.fileType, size: TABLE_SIZE },
      {
        async restart() {
          readRow = undefined;
          firstRows = [];
          position = 0;
        },
        async store(rows) {
          const given: GivenRow[] = [];
          for (const cells of rows) {
            if (cells.every((cell) => cell.trim() === '')) continue;
            if (!readRow) {
              firstRows.push(cells);
              readRow = readColumns(cells, task.mapping);
              if (!readRow && firstRows.length === MAX_HEADER_ROWS)
                throw missingColumns(firstRows, task.mapping);
              continue;
            }
            position += 1;
            if (position > taken) given.push(readRow(cells));
          }
          if (given.length === 0) return;
          await take(deps, { id: task.id, target, before: taken }, given);
          taken += given.length;
        },
      },
      signal,
    );
  } finally {
    await file.release();
  }
  if (firstRows.length === 0) throw new DocumentError('The file is empty');
  if (!readRow) throw missingColumns(firstRows, task.mapping);
}

async function take<Stores extends { readonly contactImports: ContactImportStore }>(
  { transaction }: ImportDeps<Stores>,
  {
    id,
    target,
    before,
  }: { readonly id: string; readonly target: ImportTarget<Stores>; readonly before: number },
  given: readonly GivenRow[],
): Promise<void> {
  const addTo = await target.prepare(given);
  await transaction(async (stores) => {
    const skipped = await addTo(stores);
    const errors = skipped.map(({ index, code, message }) => ({ row: before + index + 1, code, message }));
    const isOwn = await stores.contactImports.advance(id, { before, rows: given.length, errors });
    if (!isOwn) throw new ImportLostError();
  });
}

async function checkOut(
  { files, clock }: { readonly files: DocumentFiles; readonly clock: Clock },
  { fileKey, missingSince }: ImportTask,
) {
  try {
    return await files.checkOut(fileKey);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const missingMs = missingSince === null ? 0 : clock.now() - Date.parse(missingSince);
    if (missingMs < FILE_WAIT_MS) throw new FileElsewhereError();
    const seconds = FILE_WAIT_MS / 1_000;
    const message = `No node has had the uploaded file for ${seconds} seconds; send it again`;
    throw new DocumentError(message, { cause: error });
  }
}
