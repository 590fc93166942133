import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RecordingReader } from '../../../src/calls/recording/recordingStore.ts';
import { remark } from '../../../src/testing/assertions/remark.ts';
import { type HtmlReportOptions, htmlReport } from '../../../src/testing/reports/html.ts';
import { showRun } from '../../../src/testing/runs/showRun.ts';
import type { PlayStatus } from '../../../src/testing/runs/testRun.ts';
import type { RunDetail } from '../../../src/testing/runs/testRunStore.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** A run with a play of each status, each with a recording of its name. */
function runOf(statuses: Readonly<Record<string, PlayStatus>>): RunDetail {
  return {
    run: {
      id: 'run',
      projectId: 'project',
      testSuiteId: null,
      name: 'Phone',
      status: 'failed',
      version: 'live',
      release: null,
      mode: null,
      model: null,
      repeat: 1,
      concurrency: 4,
      seed: 1,
      createdAt: AT,
      startedAt: AT,
      endedAt: AT,
      baselineRunId: null,
      releaseId: 'release',
      replaysSessionId: null,
    },
    cases: Object.keys(statuses).map((name) => ({ testCaseId: null, name })),
    plays: Object.entries(statuses).map(([recordingKey, status], position) => ({
      position,
      index: 0,
      seed: 1,
      status,
      result: { recordingKey, verdicts: [], latenciesMs: [], transcript: [] },
    })),
  };
}

async function reportOf(
  detail: RunDetail,
  recordings: RecordingReader,
  options: Omit<HtmlReportOptions, 'recordings'> = {},
) {
  const run = showRun(detail, { recordingUrl: (key) => `https://gateway/${key}?a&b` });
  let page = '';
  for await (const part of htmlReport(run, detail, { recordings, ...options })) page += part;
  return page;
}

/** Recordings whose bytes are their names. */
const named: RecordingReader = {
  open: async (key) => ({
    stream: Readable.from([Buffer.from(key)]),
    totalBytes: key.length,
    first: 0,
    last: key.length - 1,
  }),
};

const audioOf = (page: string) =>
  [...page.matchAll(/src="data:audio\/wav;base64,([^"]*)"/g)].map(([, audio = '']) =>
    Buffer.from(audio, 'base64').toString(),
  );

test('The HTML report embeds recordings, those of failed plays first', async () => {
  const page = await reportOf(runOf({ good: 'passed', bad: 'failed', broken: 'error' }), named);

  expect(audioOf(page)).toEqual(['bad', 'broken', 'good']);
  expect(page).not.toMatch(/https:/);
});

test('The HTML report links to recordings beyond its size limit', async () => {
  const page = await reportOf(runOf({ good: 'passed', wordy: 'passed', bad: 'failed' }), named, {
    maxAudioBytes: 7,
  });

  expect(audioOf(page)).toEqual(['bad', 'good']);
  expect(page).toContain('<a href="https://gateway/wordy?a&amp;b">');
});

test('The HTML report is complete when recordings are missing or unreadable', async () => {
  const page = await reportOf(runOf({ gone: 'passed', lost: 'passed', bad: 'failed', good: 'passed' }), {
    open: async (key) => {
      if (key === 'gone') return undefined;
      if (key === 'lost') throw new Error('bucket unavailable');
      const opened = await named.open(key);
      const fail = () => opened?.stream.destroy(new Error('connection lost'));
      if (key === 'bad') queueMicrotask(fail);
      return opened;
    },
  });

  expect(page).toContain('gone.</em>');
  expect(page.match(/could not be read/g)).toHaveLength(2);
  expect(audioOf(page)).toEqual(['good']);
  expect(page).toContain('</body></html>');
});

test('The HTML report is in Chinese where it is asked for, the API in English; what models and callers said stays', async () => {
  const detail = runOf({ wordy: 'failed', late: 'error', good: 'passed' });
  const [judged, late] = detail.plays;
  if (!judged?.result || !late?.result) throw new Error('a play has no result');
  const RULE_REASON = 'judged by rule: of 3 words sought, the talk has 1 (song)';
  const verdicts = [
    { type: 'contains', passed: false, seen: 'Bye', turn: 1, reason: remark('not_said', 'Hi') },
    { type: 'judge', passed: false, seen: remark('votes', '0', '3'), atMs: 1500, reason: 'It was rude.' },
    { type: 'judge', passed: false, seen: remark('votes', '0', '1'), reason: RULE_REASON },
  ];
  Object.assign(judged.result, { verdicts, latenciesMs: [120, 240] });
  Object.assign(late.result, { error: remark('timeout', '10') });

  const page = await reportOf(detail, named, { locale: 'zh-TW', maxAudioBytes: 0 });
  const shown = showRun(detail).cases.flatMap(({ runs }) => runs);
  expect(shown.flatMap(({ assertions }) => assertions.map(({ seen, reason }) => [seen, reason]))).toEqual([
    ['Bye', 'the agent did not say “Hi”'],
    ['0 of 3 in favor', 'It was rude.'],
    ['0 of 1 in favor', RULE_REASON],
  ]);
  expect(shown.map(({ error }) => error)).toEqual([undefined, 'It took longer than 10 minutes', undefined]);

  expect(page).toContain('<html lang="zh-TW">');
  expect(page).toContain('開始於 2026/1/1');
  expect(page).toContain('代理沒有說「Hi」');
  expect(page).toContain('3 票中有 0 票贊成');
  expect(page).toContain('尋找的 3 個字詞中，對話有 1 個（song）');
  expect(page).toContain('執行超過 10 分鐘');
  const words = page.replace(/<style>.*<\/style>/s, '').replaceAll(/<[^>]*>/g, ' ');
  expect([...new Set(words.match(/[a-z]{2,}/gi))].toSorted()).toEqual([
    'Bye',
    'Hi',
    'It',
    'Phone',
    'UTC',
    'contains',
    'good',
    'judge',
    'late',
    'ms',
    'rude',
    'song',
    'was',
    'wordy',
  ]);
});
