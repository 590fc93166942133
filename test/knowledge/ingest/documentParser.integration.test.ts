import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { systemClock } from '../../../src/base/values/clock.ts';
import type { TextChunk } from '../../../src/knowledge/chunking/chunker.ts';
import { DocumentParser } from '../../../src/knowledge/ingest/documentParser.ts';
import type { ParseLimits } from '../../../src/knowledge/ingest/parserMessages.ts';
import { tempDir } from '../../support/tempDir.ts';

/** Two messages of chunks, so that the parser has to go on after the first. */
const PARAGRAPHS = Array.from(
  { length: 700 },
  (_, index) => `The article of number ${index} is on the shelf here.`,
);

function startParser(limits: Partial<ParseLimits> = {}) {
  const parser = new DocumentParser({ clock: systemClock, limits });
  onTestFinished(() => parser.close());
  const abort = new AbortController();
  const chunks: TextChunk[] = [];
  let starts = 1;
  const parse = async (
    name: string,
    type: 'text' | 'csv' | 'html',
    content: string,
    store: () => Promise<void> = async () => undefined,
  ) => {
    const path = join(tempDir(), name);
    writeFileSync(path, content);
    const restart = async () => {
      starts += 1;
      chunks.length = 0;
    };
    const keep = async (more: readonly TextChunk[]) => {
      chunks.push(...more);
      await store();
    };
    const request = { path, name, type, chunkSize: 60, chunkOverlap: 0 };
    await parser.parse(request, { restart, store: keep }, abort.signal);
  };
  return { parse, abort, chunks, starts: () => starts };
}

/** Keeps the parser waiting. */
const never = () => new Promise<void>(() => undefined);

/** The parsers of this process; other tests have their own. */
function parserPids(): number[] {
  const processes = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => {
      const [pid, parent] = line.trim().split(/ +/, 2).map(Number);
      return { pid: pid ?? 0, parent, line };
    });
  const hosts = processes.filter(
    ({ parent, line }) => parent === process.pid && line.includes('parserHostProcess.'),
  );
  return processes
    .filter(({ parent, line }) => line.includes('parserProcess.') && hosts.some(({ pid }) => pid === parent))
    .map(({ pid }) => pid);
}

/** @returns Those that this call has started. */
async function newParsers(before: readonly number[]): Promise<number[]> {
  const find = () => parserPids().filter((pid) => !before.includes(pid));
  await expect.poll(find, { timeout: 30_000 }).not.toEqual([]);
  return find();
}

test('A document is parsed in a process, whose chunks come in order', async () => {
  const { parse, chunks } = startParser();
  await parse('a.txt', 'text', PARAGRAPHS.join('\n\n'));
  expect(chunks.map(({ content }) => content)).toEqual(PARAGRAPHS);
});

test('The rows of a table come as they are, up to the size that was asked for', async () => {
  const parser = new DocumentParser({ clock: systemClock });
  onTestFinished(() => parser.close());
  const path = join(tempDir(), 'a.csv');
  writeFileSync(path, `Phone;Name\n${'+886912345678;"Ada; B."\n\n'.repeat(1_200)}`);
  const size = { rows: 1_201, columns: 2, cells: 2_402 };
  const rows: (readonly string[])[] = [];
  const store = async (more: readonly (readonly string[])[]) => void rows.push(...more);
  const read = (limits: typeof size) =>
    parser.readRows(
      { path, type: 'csv', size: limits },
      { restart: never, store },
      new AbortController().signal,
    );
  await read(size);
  expect(rows.slice(0, 2)).toEqual([
    ['Phone', 'Name'],
    ['+886912345678', 'Ada; B.'],
  ]);
  expect(rows).toHaveLength(1_201);
  await expect(read({ ...size, rows: 1_200 })).rejects.toThrow('more than 1200 rows');
});

test.each<[string, Partial<ParseLimits>, string, RegExp]>([
  ['time', { timeMs: 10 }, PARAGRAPHS.join('\n\n').repeat(1_000), /takes more than 0 s to read/],
  ['memory', { memoryMb: 20 }, PARAGRAPHS.join('\n\n').repeat(1_000), /needs more than 20 MB of memory/],
])('A document that exceeds its limit of %s is refused at once', async (_, limits, content, reason) => {
  const { parse, starts } = startParser(limits);
  await expect(parse('a.txt', 'text', content)).rejects.toMatchObject({
    name: 'DocumentError',
    message: expect.stringMatching(reason),
  });
  expect(starts()).toBe(1);
});

test('A document that repeats a little text without end is refused', async () => {
  const { parse } = startParser();
  const merged = `<td rowspan="60000">${'word '.repeat(39)}</td>`.repeat(100);
  const table = `<table><tr>${merged}</tr>${'<tr><td>x</td></tr>'.repeat(500)}</table>`;
  await expect(parse('a.html', 'html', table)).rejects.toMatchObject({
    name: 'DocumentError',
    message: expect.stringContaining('repeats its text'),
  });
});

test('Storing chunks does not count towards the time', async () => {
  const { parse, chunks } = startParser({ timeMs: 8_000 });
  let stored = 0;
  await parse('a.txt', 'text', PARAGRAPHS.join('\n\n'), async () => {
    stored += 1;
    await new Promise((resolve) => setTimeout(resolve, stored === 1 ? 13_000 : 0));
  });
  expect(chunks).toHaveLength(PARAGRAPHS.length);
});

test('A document whose process died is read once more, and refused after the second time', async () => {
  const once = startParser();
  const before = parserPids();
  const kill = async () => {
    for (const pid of await newParsers(before)) process.kill(pid, 'SIGKILL');
    await never();
  };
  await once.parse('a.txt', 'text', PARAGRAPHS.join('\n\n'), () =>
    once.starts() === 1 ? kill() : Promise.resolve(),
  );
  expect(once.chunks).toHaveLength(PARAGRAPHS.length);

  const twice = startParser();
  await expect(twice.parse('a.txt', 'text', PARAGRAPHS.join('\n\n'), kill)).rejects.toMatchObject({
    name: 'DocumentError',
    message: expect.stringMatching(/died twice/),
  });
  expect(twice.starts()).toBe(2);
});

test('An abort ends the process at once', async () => {
  const { parse, abort } = startParser();
  const before = parserPids();
  const parsing = parse('a.txt', 'text', PARAGRAPHS.join('\n\n'), never);
  const pids = await newParsers(before);
  abort.abort(new Error('removed'));
  await expect(parsing).rejects.toThrow('removed');
  await expect.poll(() => parserPids().filter((pid) => pids.includes(pid))).toEqual([]);
});
