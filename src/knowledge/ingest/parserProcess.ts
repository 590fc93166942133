/** A parser: parses one document, then exits. */
import { once } from 'node:events';

import { Chunker, type TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { READERS } from '../parse/readers.ts';
import type { ParseMessage, ParseRequest } from './parserMessages.ts';

const CHUNKS_PER_MESSAGE = 200;

process.once('message', run);
process.once('disconnect', () => process.exit());
// Its host ends it.
for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) process.on(signal, () => undefined);

async function run(request: ParseRequest): Promise<void> {
  try {
    await parse(request);
    await send({ kind: 'done' });
  } catch (error) {
    await send(failureOf(error));
  }
  process.exit();
}

async function parse(request: ParseRequest): Promise<void> {
  const read = await READERS[request.type]();
  const chunker = new Chunker({ size: request.chunkSize, overlap: request.chunkOverlap });
  let pending: TextChunk[] = [];
  const sendPending = async () => {
    const stored = once(process, 'message');
    await send({ kind: 'chunks', chunks: pending });
    pending = [];
    await stored;
  };
  for await (const block of read(request)) {
    pending.push(...chunker.push(block));
    if (pending.length >= CHUNKS_PER_MESSAGE) await sendPending();
  }
  pending.push(...chunker.end());
  if (pending.length > 0) await sendPending();
}

/** Resolves when the message is written. */
async function send(message: ParseMessage): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}

function failureOf(error: unknown): ParseMessage {
  if (error instanceof DocumentError) return { kind: 'refused', reason: error.message };
  return { kind: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
