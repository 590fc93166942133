/** A parser: parses one file; its host ends it. */
import { stat } from 'node:fs/promises';

import { portOf } from '../../base/threads/childProcess.ts';
import { remoteOf, serve } from '../../base/threads/remote.ts';
import { Chunker } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { READERS, ROW_READERS } from '../parse/readers.ts';
import { TableLimits } from '../parse/table.ts';
import type {
  ParsedItem,
  ParseEnd,
  ParseRequest,
  ParserEvents,
  ParserMethods,
  TableRequest,
} from './parserMessages.ts';

const ITEMS_PER_MESSAGE = 500;
/** Archives pack tables to a fiftieth, and a row repeats the names of its columns. */
const MAX_CHARACTERS_PER_BYTE = 250;
/** Smaller texts may have any length. */
const MIN_LIMITED_CHARACTERS = 8_388_608;

process.once('disconnect', () => process.exit());
// Its host ends it.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
const port = portOf(process);
const host = remoteOf<ParserEvents>(port);
const methods: ParserMethods = {
  parse: (request) => parse(request).then(() => ({ kind: 'done' }), failureOf),
};
serve(port, methods);

async function parse(request: ParseRequest | TableRequest): Promise<void> {
  let pending: ParsedItem[] = [];
  for await (const item of 'size' in request ? rowsOf(request) : chunksOf(request)) {
    pending.push(item);
    if (pending.length < ITEMS_PER_MESSAGE) continue;
    await host.call.store(pending);
    pending = [];
  }
  if (pending.length > 0) await host.call.store(pending);
}

async function* chunksOf(request: ParseRequest): AsyncGenerator<ParsedItem> {
  const read = await READERS[request.type]();
  const chunker = new Chunker({ size: request.chunkSize, overlap: request.chunkOverlap });
  const { size } = await stat(request.path);
  const maxCharacters = Math.max(MIN_LIMITED_CHARACTERS, size * MAX_CHARACTERS_PER_BYTE);
  let characters = 0;
  for await (const block of read(request)) {
    characters += block.text.length;
    // One long string that each cell names, or that is merged over all rows, would fill the database.
    if (characters > maxCharacters)
      throw new DocumentError(
        'The file repeats its text far more often than a document does; it was not read',
      );
    yield* chunker.push(block);
  }
  yield* chunker.end();
}

async function* rowsOf({ path, type, size }: TableRequest): AsyncGenerator<ParsedItem> {
  const read = await ROW_READERS[type]();
  yield* read(path, new TableLimits(size));
}

function failureOf(error: unknown): ParseEnd {
  if (error instanceof DocumentError) return { kind: 'refused', reason: error.message };
  return { kind: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
