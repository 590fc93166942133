import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { CONTACT_OUTCOMES } from '../../src/campaigns/contact.ts';
import { EXIT } from '../../src/cli/command.ts';
import { runCli } from '../../src/cli/program.ts';
import { sharedGateway, type TestProject } from '../support/gateway.ts';

const LIST = 'Phone;First name\n0912345678;Ada\n;Bob\n+886912345679;Cid\n0912 345 678;Twice\n';
const MAP = ['--map', 'toNumber=Phone'];

const gateway = sharedGateway();
let dir: string;
let list: string;
let project: TestProject;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callway-lists-'));
  list = join(dir, 'Renewals.csv');
  await writeFile(list, LIST);
});
afterAll(() => rm(dir, { recursive: true }));
beforeEach(async () => {
  project = await gateway().createProject();
  // Its numbers are free for the next test.
  return () => gateway().api('DELETE', project.path);
});

/** The real service, on which a campaign starts at once and is then seen in these states. */
function serviceWith(...states: readonly object[]): typeof fetch {
  let started: object | undefined;
  const left = [...states];
  return async (url, init) => {
    const { pathname } = new URL(String(url));
    if (/\/campaigns\/[\w-]+\/start$/.test(pathname)) {
      const answer = await fetch(String(url).replace(/\/start$/, ''), { headers: init?.headers });
      started = { ...((await answer.json()) as object), status: 'running' };
      return Response.json(started);
    }
    if (started && /\/campaigns\/[\w-]+$/.test(pathname)) {
      const state = left.length > 1 ? left.shift() : left[0];
      return Response.json({ ...started, ...state });
    }
    return await fetch(url, init);
  };
}

async function callway(
  args: readonly string[],
  fetchImpl: typeof fetch = serviceWith(),
  onInterrupt?: (listener: () => void) => void,
) {
  let out = '';
  let err = '';
  const code = await runCli(['campaign', ...args], {
    environment: {
      CALLWAY_URL: gateway().url,
      CALLWAY_PROJECT: project.id,
      CALLWAY_KEY: project.developerKey,
    },
    fetch: fetchImpl,
    isTerminal: true,
    onInterrupt,
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

async function addNumber(number: string, outboundStatus = 'active') {
  const body = { number, outboundStatus };
  const { status } = await gateway().api('POST', `${project.path}/phone-numbers`, { body });
  expect(status).toBe(201);
}

async function campaigns() {
  return (await gateway().api('GET', `${project.path}/campaigns`, { key: project.developerKey })).body.data;
}

const OUTCOMES = Object.fromEntries(CONTACT_OUTCOMES.map((outcome) => [outcome, 0]));
const counts = { total: 2, pending: 0, calling: 0, waiting: 0, done: 0, skipped: 0 };

test('A list is read, its skipped rows are told, and it is watched until it is completed', async () => {
  await addNumber('+886223456789');
  await addNumber('+886223456780', 'inactive');
  const { code, out, err } = await callway(
    ['run', list, ...MAP, '--window', 'mon-fri 09:00-18:00', '--window', 'sat 10:00-12:00', '--watch'],
    serviceWith(
      { counts: { ...counts, calling: 1, done: 1 } },
      { status: 'completed', counts: { ...counts, done: 2 }, outcomes: { ...OUTCOMES, answered: 2 } },
    ),
  );
  expect(err).toMatch(/\nrow 2 +missing_number +\S.*\nrow 4 +duplicate +\S.*\n/);
  expect(err).toMatch(/Started Renewals with 2 contacts\. "callway campaign pause [\w-]{36}" pauses it\.\n/);
  expect(err).toContain(`${'█'.repeat(12)}${'░'.repeat(12)} 1 done, 1 calling`);
  expect({ code, out }).toEqual({ code: 0, out: 'Renewals is completed: 2 done; 2 answered.\n' });
  const [campaign] = await campaigns();
  expect(campaign).toMatchObject({
    name: 'Renewals',
    fromNumbers: ['+886223456789'],
    counts: { total: 2 },
    schedule: {
      windows: [
        { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' },
        { days: ['sat'], from: '10:00', to: '12:00' },
      ],
    },
  });
  expect((await callway(['list'])).out).toContain(`${campaign.id}  draft   2 pending  Renewals`);
});

test('Without --watch the command ends when the campaign is running', async () => {
  await addNumber('+886223456789');
  await addNumber('+886223456780');
  const args = ['run', list, ...MAP, '--from', '0223456780', '--name', 'December', '--json'];
  const { code, out, err } = await callway(args);
  expect({ code, err: err.split('\n').length }).toEqual({ code: 0, err: 3 });
  expect(JSON.parse(out)).toMatchObject({
    campaign: { name: 'December', status: 'running', fromNumbers: ['+886223456780'] },
    import: { accepted: 2, errors: [{ row: 2 }, { row: 4 }] },
  });
});

test('A campaign that pauses itself ends the command with 1', async () => {
  await addNumber('+886223456789');
  const paused = { status: 'paused', statusReason: 'too_many_failed', counts: { ...counts, pending: 2 } };
  const { code, out } = await callway(['run', list, ...MAP, '--watch'], serviceWith(paused));
  expect(code).toBe(EXIT.refused);
  expect(out).toMatch(
    /^Renewals is paused \(too_many_failed\): 2 pending\. "callway campaign resume [\w-]{36}" goes on with it\.\n$/,
  );
});

test('Ctrl-C leaves the campaign running, and says how to pause it', async () => {
  await addNumber('+886223456789');
  const running = serviceWith({ counts: { ...counts, pending: 2 } });
  const { code, err } = await callway(['run', list, ...MAP, '--watch'], running, (interrupt) =>
    setTimeout(interrupt, 300),
  );
  expect(code).toBe(EXIT.interrupted);
  expect(err).toMatch(/The campaign goes on\. "callway campaign pause [\w-]{36}" pauses it\.\n$/);
  expect(await campaigns()).toHaveLength(1);
});

test('A campaign whose start was not confirmed is named, as it may be running', async () => {
  await addNumber('+886223456789');
  const real = serviceWith();
  const { code, err } = await callway(['run', list, ...MAP], async (url, init) => {
    if (init?.method === 'DELETE' || String(url).endsWith('/start')) throw new TypeError('fetch failed');
    return await real(url, init);
  });
  expect(code).toBe(EXIT.unavailable);
  expect(err).toMatch(/"callway campaign list" shows whether the campaign [\w-]{36} is running\.\n$/);
});

test.each([
  { numbers: [], args: MAP, says: '--from. The active numbers of the project: none.' },
  {
    numbers: ['+886223456789', '+886223456780'],
    args: MAP,
    says: '--from. The active numbers of the project: +886223456789, +886223456780.',
  },
  {
    numbers: ['+886223456789'],
    args: [...MAP, '--from', '+4930123456'],
    says: '+4930123456 is no active number of the project. It has: +886223456789.',
  },
  { numbers: ['+886223456789'], args: [], code: EXIT.usage, says: '--map toNumber=Phone' },
  { numbers: ['+886223456789'], args: ['--map', 'toNumber=Mobile'], says: 'Mobile' },
  {
    numbers: ['+886223456789'],
    file: 'nothing.csv',
    args: MAP,
    code: EXIT.usage,
    says: 'nothing.csv cannot be read',
  },
  {
    numbers: ['+886223456789'],
    file: 'test',
    args: MAP,
    code: EXIT.usage,
    says: 'test cannot be read: it is no regular file',
  },
  { numbers: ['+886223456789'], content: 'Phone\n12\n', args: MAP, says: 'no row that can be called' },
  { numbers: ['+886223456789'], content: '', args: MAP, says: 'empty' },
])('No campaign stays when the command says $says', async ({ numbers, args, says, ...given }) => {
  for (const number of numbers) await addNumber(number);
  const file = given.file ?? (given.content === undefined ? list : join(dir, 'other.csv'));
  if (given.content !== undefined) await writeFile(file, given.content);
  const { code, out, err } = await callway(['run', file, ...args]);
  expect({ code, out }).toEqual({ code: given.code ?? EXIT.refused, out: '' });
  expect(err).toContain(says);
  expect(await campaigns()).toEqual([]);
});
