import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { RecordingStore } from '../../../src/calls/recording/recordingStore.ts';
import { htmlReport } from '../../../src/testing/reports/html.ts';
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

async function reportOf(detail: RunDetail, recordings: Pick<RecordingStore, 'open'>, maxAudioBytes?: number) {
  const run = showRun(detail, { recordingUrl: (key) => `https://gateway/${key}?a&b` });
  let page = '';
  for await (const part of htmlReport(run, detail, { recordings, ...(maxAudioBytes && { maxAudioBytes }) }))
    page += part;
  return page;
}

/** Recordings whose bytes are their names. */
const named: Pick<RecordingStore, 'open'> = {
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
  const page = await reportOf(runOf({ good: 'passed', wordy: 'passed', bad: 'failed' }), named, 7);

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
