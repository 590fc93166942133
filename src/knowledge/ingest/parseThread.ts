import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { Chunker, type TextChunk } from '../chunking/chunker.ts';
import { DocumentError } from '../parse/block.ts';
import { READERS } from '../parse/readers.ts';
import type { ParseMessage, ParseRequest } from './threadMessages.ts';

const CHUNKS_PER_MESSAGE = 200;

/** The thread's side of `parseDocument.ts`: one document, then the end. */
async function run(order: ParseRequest): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('this file runs in a worker thread only');
  try {
    await parse(order, port);
    port.postMessage({ type: 'done' } satisfies ParseMessage);
  } catch (error) {
    port.postMessage(failureOf(error));
  }
  port.close();
}

async function parse(order: ParseRequest, port: MessagePort): Promise<void> {
  const read = await READERS[order.type]();
  const chunker = new Chunker({ size: order.chunkSize, overlap: order.chunkOverlap });
  let waiting: TextChunk[] = [];
  const send = async () => {
    const heard = once(port, 'message');
    port.postMessage({ type: 'chunks', chunks: waiting } satisfies ParseMessage);
    waiting = [];
    await heard;
  };
  for await (const block of read(order)) {
    waiting.push(...chunker.push(block));
    if (waiting.length >= CHUNKS_PER_MESSAGE) await send();
  }
  waiting.push(...chunker.end());
  if (waiting.length > 0) await send();
}

function failureOf(error: unknown): ParseMessage {
  if (error instanceof DocumentError) return { type: 'refused', reason: error.message };
  return { type: 'broken', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

await run(workerData as ParseRequest);
