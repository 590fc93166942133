import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { Chunker, type TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { READERS } from '../parse/readers.ts';
import type { ParseMessage, ParseRequest } from './threadMessages.ts';

const CHUNKS_PER_MESSAGE = 200;

/** The thread's side of `parseDocument.ts`: parses one document, then exits. */
async function run(request: ParseRequest): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  try {
    await parse(request, port);
    port.postMessage({ type: 'done' } satisfies ParseMessage);
  } catch (error) {
    port.postMessage(failureOf(error));
  }
  port.close();
}

async function parse(request: ParseRequest, port: MessagePort): Promise<void> {
  const read = await READERS[request.type]();
  const chunker = new Chunker({ size: request.chunkSize, overlap: request.chunkOverlap });
  let pending: TextChunk[] = [];
  const send = async () => {
    const stored = once(port, 'message');
    port.postMessage({ type: 'chunks', chunks: pending } satisfies ParseMessage);
    pending = [];
    await stored;
  };
  for await (const block of read(request)) {
    pending.push(...chunker.push(block));
    if (pending.length >= CHUNKS_PER_MESSAGE) await send();
  }
  pending.push(...chunker.end());
  if (pending.length > 0) await send();
}

function failureOf(error: unknown): ParseMessage {
  if (error instanceof DocumentError) return { type: 'refused', reason: error.message };
  return { type: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

await run(workerData as ParseRequest);
