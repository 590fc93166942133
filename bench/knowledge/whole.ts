import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSealer } from '../../src/base/sealer.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import { uuidV7 } from '../../src/base/values/ids.ts';
import { localDocuments } from '../../src/infra/objectStore/documents/localDocuments.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { DocumentParser } from '../../src/knowledge/ingest/documentParser.ts';
import { ingest } from '../../src/knowledge/ingest/ingest.ts';
import type { Embedder } from '../../src/models/ports/embedder.ts';
import { createOpenAiEmbedder } from '../../src/vendors/openai/embedder.ts';
import { createOpenAiEndpoint } from '../../src/vendors/openai/endpoint.ts';
import { addKnowledgebase, ENCODER, openMigrated } from './database.ts';
import { startProvider } from './provider.ts';
import { clusteredVectors } from './vectors.ts';

/** A fast provider: requests of 128 texts usually take longer. */
const LATENCY_MS = 250;
/** Concurrent requests of one document. */
const PARALLEL = 4;

/** Ingests a text, from its file to its vectors in the index, and then sends the same batches to the endpoint alone. */
export async function measureWhole(
  name: 'postgres' | 'pglite',
  folder: string,
  text: string,
): Promise<string> {
  const provider = await startProvider(LATENCY_MS, clusteredVectors(ENCODER.dimensions, 42).next);
  const { database, close } = await openMigrated(name);
  const endpoint = createOpenAiEndpoint({ apiKey: 'none', baseUrl: provider.baseUrl });
  try {
    const { stores } = createStorage(database, createSealer(Buffer.alloc(32, 1)));
    const embedder = createOpenAiEmbedder(endpoint, ENCODER.name);
    const { datasetId } = await addKnowledgebase(stores, uuidV7());
    writeFileSync(join(folder, datasetId), text);
    const parser = new DocumentParser({ clock: systemClock });
    const deps = {
      parser,
      datasets: stores.datasets,
      chunks: stores.chunks,
      files: localDocuments(folder),
      findEmbedder: () => embedder,
      clock: systemClock,
      makeId: uuidV7,
      onError: (error: unknown) => console.error(error),
    };
    const wholeSeconds = await timed(async () => {
      await ingest(deps, datasetId, new AbortController().signal);
    });
    parser.close();
    const batches = [...provider.batches];
    const aloneSeconds = await timed(() => embedAlone(embedder, batches));
    const characters = batches.flat().join('').length;
    const speed = (seconds: number) =>
      `${Math.round(characters / seconds / 1000)} thousand characters a second`;
    return [
      `${name}: a text of ${batches.flat().length} chunks, ${PARALLEL} requests of ${LATENCY_MS} ms at a time`,
      `  the endpoint alone  ${aloneSeconds.toFixed(1)} s, ${speed(aloneSeconds)}`,
      `  from file to index  ${wholeSeconds.toFixed(1)} s, ${speed(wholeSeconds)}`,
      `  ratio               ${(aloneSeconds / wholeSeconds).toFixed(2)} of the endpoint's own speed`,
    ].join('\n');
  } finally {
    await endpoint.close();
    await close();
    await provider.close();
  }
}

async function embedAlone(embedder: Embedder, batches: readonly (readonly string[])[]): Promise<void> {
  const waiting = [...batches];
  const work = async () => {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      await embedder.embed(batch, new AbortController().signal);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}
