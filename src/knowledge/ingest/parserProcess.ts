/** A parser: parses one document; its host ends it. */
import { portOf } from '../../base/threads/childProcess.ts';
import { remoteOf, serve } from '../../base/threads/remote.ts';
import { Chunker, type TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { READERS } from '../parse/readers.ts';
import type { ParseEnd, ParseRequest, ParserEvents, ParserMethods } from './parserMessages.ts';

const CHUNKS_PER_MESSAGE = 200;

process.once('disconnect', () => process.exit());
// Its host ends it.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);
const port = portOf(process);
const host = remoteOf<ParserEvents>(port);
const methods: ParserMethods = {
  parse: (request) => parse(request).then(() => ({ kind: 'done' }), failureOf),
};
serve(port, methods);

async function parse(request: ParseRequest): Promise<void> {
  const read = await READERS[request.type]();
  const chunker = new Chunker({ size: request.chunkSize, overlap: request.chunkOverlap });
  let pending: TextChunk[] = [];
  for await (const block of read(request)) {
    pending.push(...chunker.push(block));
    if (pending.length < CHUNKS_PER_MESSAGE) continue;
    await host.call.store(pending);
    pending = [];
  }
  pending.push(...chunker.end());
  if (pending.length > 0) await host.call.store(pending);
}

function failureOf(error: unknown): ParseEnd {
  if (error instanceof DocumentError) return { kind: 'refused', reason: error.message };
  return { kind: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
