import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '../../src/base/values/clock.ts';
import type { TextChunk } from '../../src/knowledge/chunking/chunker.ts';
import type { DocumentType } from '../../src/knowledge/documentType.ts';
import { DocumentParser } from '../../src/knowledge/ingest/documentParser.ts';
import { makePdf } from '../../test/support/documents.ts';
import { measureWhole } from './whole.ts';

const TEXT_BYTES = 50 * 1_048_576;
const PDF_PAGES = 300;
const SAMPLE_MS = 50;
/** About 2,000 chunks of usual size: minutes for the embedded database. */
const WHOLE_CHARACTERS = 1_000_000;

/** Parses and chunks a document as a worker does; reports speed and the process's memory. */
async function measure(what: string, type: DocumentType, path: string): Promise<void> {
  let most = 0;
  const sample = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const startedMs = performance.now();
  let chunks = 0;
  let characters = 0;
  const order = { path, name: path, type, chunkSize: 500, chunkOverlap: 50 };
  const parser = new DocumentParser({ clock: systemClock });
  const store = async (batch: readonly TextChunk[]) => {
    chunks += batch.length;
    for (const { content } of batch) characters += content.length;
  };
  const restart = () => Promise.reject(new Error('the process of the parser died'));
  await parser.parse(order, { restart, store }, new AbortController().signal);
  parser.close();
  clearInterval(sample);
  const seconds = (performance.now() - startedMs) / 1000;
  console.log(
    `${what}: ${chunks} chunks in ${seconds.toFixed(1)} s, ${Math.round(characters / seconds / 1000)} thousand characters a second, at most ${Math.round(most / 1e6)} MB`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'callway-bench-'));
try {
  const line = (index: number) =>
    `Line ${index}: the kettle of model ${index} boils a litre of water in some minutes.`;
  const pdf = join(folder, 'a.pdf');
  writeFileSync(
    pdf,
    makePdf(
      Array.from({ length: PDF_PAGES }, (_, page) =>
        Array.from({ length: 50 }, (_, row) => line(page * 50 + row)),
      ),
    ),
  );
  await measure(`a PDF of ${PDF_PAGES} pages`, 'pdf', pdf);
  const text = join(folder, 'a.txt');
  const paragraph = `${Array.from({ length: 1_000 }, (_, index) => line(index)).join(' ')}\n\n`;
  writeFileSync(text, paragraph.repeat(Math.ceil(TEXT_BYTES / paragraph.length)));
  await measure('a text of 50 MiB', 'text', text);
  const whole = paragraph.repeat(Math.ceil(WHOLE_CHARACTERS / paragraph.length)).slice(0, WHOLE_CHARACTERS);
  for (const name of ['postgres', 'pglite'] as const) console.log(await measureWhole(name, folder, whole));
} finally {
  rmSync(folder, { recursive: true });
}
