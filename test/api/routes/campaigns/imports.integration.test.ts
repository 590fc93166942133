import { expect, test } from 'vitest';

import { makeXlsx } from '../../../support/documents.ts';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway({ env: { MAX_IMPORT_BYTES: '10000' } });
const WAIT = { timeout: 30_000 };
const MAPPING = { toNumber: 'Phone', externalId: 'Id' };

interface Draft {
  readonly project: TestProject;
  readonly path: string;
  get(path: string): ReturnType<ReturnType<typeof gateway>['api']>;
  send(content: string | Uint8Array, name?: string, mapping?: unknown): Promise<Response>;
  /** Sends a file and waits until it was read. */
  import(content: string | Uint8Array, name?: string): ReturnType<ReturnType<typeof gateway>['api']>;
}

async function draft(): Promise<Draft> {
  const project = await gateway().createProject();
  const key = project.developerKey;
  await gateway().api('PATCH', project.path, { body: { callLimits: { ownCountriesOnly: false } } });
  const input = { name: 'Renewals', fromNumbers: ['+886223456789'] };
  const { body: campaign } = await gateway().api('POST', `${project.path}/campaigns`, { key, body: input });
  const path = `${project.path}/campaigns/${campaign.id}`;
  const get = (below: string) => gateway().api('GET', `${project.path}${below}`, { key });
  const send: Draft['send'] = async (content, name = 'list.csv', mapping = JSON.stringify(MAPPING)) => {
    const body = new FormData();
    body.set('mapping', String(mapping));
    body.set('file', new Blob([content]), name);
    const headers = { authorization: `Bearer ${key}` };
    return await fetch(`${gateway().url}${path}/contacts`, { method: 'POST', headers, body });
  };
  return {
    project,
    path,
    get,
    send,
    async import(content, name) {
      const response = await send(content, name);
      expect(response.status).toBe(202);
      const { importId } = (await response.json()) as { importId: string };
      const read = () => get(`/contact-imports/${importId}`);
      await expect.poll(async () => (await read()).body.status, WAIT).not.toBe('running');
      return await read();
    },
  };
}

test('A CSV is read into a campaign; what was wrong is told by row, and in a file', async () => {
  const one = await draft();
  const list = 'Id;Phone;First name\n1;0912 345 678;Ada\n2;;Bob\n\n3;12;=1+1\n1;+886912345678;Twice\n';
  const { body } = await one.import(list);
  expect(body).toMatchObject({
    status: 'done',
    rows: 4,
    accepted: 1,
    skipped: 3,
    errors: [
      { row: 2, code: 'missing_number' },
      { row: 3, code: 'invalid_number' },
      { row: 4, code: 'duplicate' },
    ],
  });
  const contacts = await one.get(`/campaigns/${body.campaignId}/contacts`);
  expect(contacts.body.data).toMatchObject([
    { toNumber: '+886912345678', externalId: '1', variables: { first_name: 'Ada' } },
  ]);
  const errors = await one.get(`/contact-imports/${body.id}/errors`);
  expect(errors.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(errors.body.split('\r\n')).toHaveLength(5);
  const report = await one.get(`/campaigns/${body.campaignId}/report`);
  expect(report.body.split('\r\n').slice(0, 2)).toEqual([
    'toNumber,externalId,status,skipReason,outcome,answeredBy,attempts,lastAttemptAt,lastCallId,endReason,durationMs,cost,currency,otherCosts,nextAttemptAt,disposition,success,analysis.summary,variables.first_name',
    expect.stringMatching(/^\+886912345678,1,pending,,,,0,,,,0,,,,[^,]*,,,,Ada$/),
  ]);
  // The same file once more takes none.
  expect((await one.import(list)).body).toMatchObject({ status: 'done', accepted: 0, skipped: 4 });
});

test('The imports of a campaign are listed, newest first, in pages and without their errors', async () => {
  const one = await draft();
  const [first, second] = [await one.import('Phone,Id\n1,1\n'), await one.import('Phone,Id\n0912345678,1\n')];
  await draft();
  const path = `/campaigns/${first.body.campaignId}/contact-imports`;
  const newest = (await one.get(`${path}?limit=1`)).body;
  const { errors: _errors, ...shown } = second.body;
  expect(newest).toMatchObject({ data: [shown], pagination: { total: 2 } });
  expect(Object.keys(newest.data[0]).sort()).toEqual(Object.keys(shown).sort());
  const older = (await one.get(`${path}?limit=1&cursor=${newest.pagination.nextCursor}`)).body;
  expect(older.data).toMatchObject([{ id: first.body.id, skipped: 1 }]);
  const other = (await draft()).path;
  expect((await one.get(`${other.replace(/.*(?=\/campaigns)/, '')}/contact-imports`)).status).toBe(404);
});

test.each(['a project', 'the installation'])(
  'A list of numbers is read into the do-not-call list of %s',
  async (owner) => {
    const { project } = await draft();
    const [path, key] =
      owner === 'a project' ? [project.path, project.developerKey] : ['/v1', gateway().adminToken];
    const body = new FormData();
    body.set('mapping', '{"toNumber":"Number"}');
    body.set('file', new Blob(['Number\n+886 912 345 678\nnone\n+886912345678\n']), 'stop.csv');
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${gateway().url}${path}/do-not-call`, { method: 'POST', headers, body });
    const { importId } = (await answer.json()) as { importId: string };
    const get = async (below: string) => (await gateway().api('GET', `${path}${below}`, { key })).body;
    await expect
      .poll(() => get(`/contact-imports/${importId}`), WAIT)
      .toMatchObject({
        status: 'done',
        accepted: 2,
        skipped: 1,
      });
    expect(await get(`/contact-imports/${importId}/errors`)).toContain('2,invalid_number,');
    expect(await get('/do-not-call/+886912345678')).toMatchObject({ source: 'file' });
    // Each owner sees its own alone.
    const other = owner === 'a project' ? '/v1' : project.path;
    expect((await gateway().api('GET', `${other}/contact-imports/${importId}`)).status).not.toBe(200);
    await gateway().api('DELETE', `${path}/do-not-call/+886912345678`, { key });
  },
);

test('A sheet is read; numbers that lost their plus sign are those of the from number’s country', async () => {
  const one = await draft();
  const sheet = makeXlsx('List', [
    ['Phone', 'Id'],
    ['886912345679', 'a'],
  ]);
  expect((await one.import(sheet, 'list.xlsx')).body).toMatchObject({
    status: 'done',
    accepted: 1,
    skipped: 0,
  });
});

test('Titles may stand above the header; rows count from it, and a number that a spreadsheet has rounded is told', async () => {
  const one = await draft();
  const list = 'Customers,,\n1 November,,\nName,Phone,Id\nAda,0912345678,1\nBob,8.86912E+11,2\n';
  const { body } = await one.import(list);
  expect(body).toMatchObject({ status: 'done', rows: 2, accepted: 1, errors: [{ row: 2 }] });
  expect(body.errors[0].message).toBe(
    '8.86912E+11 was rounded by a spreadsheet: format the column as text before the export',
  );
});

test('A campaign that was canceled takes no file, and ends the import of one', async () => {
  const one = await draft();
  const started = await one.send('Phone,Id\n0912345678,1\n');
  const { importId } = (await started.json()) as { importId: string };
  const key = one.project.developerKey;
  expect((await gateway().api('POST', `${one.path}/cancel`, { key })).status).toBe(200);
  const read = async () => (await one.get(`/contact-imports/${importId}`)).body.status;
  await expect.poll(read, WAIT).not.toBe('running');
  expect((await one.send('Phone,Id\n0912345679,1\n')).status).toBe(409);
});

test('A file without the named column, and one that is damaged, fail with the reason', async () => {
  const one = await draft();
  expect((await one.import('Tel,Id\n0912345678,1\n')).body).toMatchObject({
    status: 'failed',
    reason: 'The file has no column Phone; its columns are Tel, Id',
    endedAt: expect.any(String),
  });
  expect((await one.import('Phone,Id\n"0912345678,1\n0912345679,2\n')).body).toMatchObject({
    status: 'failed',
  });
});

test('A file of more than MAX_IMPORT_BYTES is 413, and none of it is read', async () => {
  const one = await draft();
  const response = await one.send(`Phone,Id\n${'0912345678,1\n'.repeat(1_000)}`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    413,
    'file_too_large',
  ]);
  expect((await one.get(one.path.slice(one.project.path.length))).body.counts.total).toBe(0);
});

test.each<[string, string | Uint8Array, string, unknown, number, string]>([
  ['no table', '%PDF-1.7\n', 'list.pdf', undefined, 400, 'unsupported_file'],
  ['without a mapping', 'Phone\n1\n', 'list.csv', '', 400, 'invalid_mapping'],
  [
    'with an unknown field in its mapping',
    'Phone\n1\n',
    'list.csv',
    '{"toNumber":"Phone","x":"y"}',
    400,
    'invalid_mapping',
  ],
])('A form %s is refused', async (_, content, name, mapping, status, code) => {
  const one = await draft();
  const response = await one.send(content, name, mapping);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});

test.each<[string, string | Uint8Array, string, string]>([
  ['is empty', '', 'list.csv', 'file_empty'],
  ['has bytes that no text has', Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 'list.csv', 'file_encoding_unknown'],
  ['is named like a workbook', 'Phone\n1\n', 'list.xlsx', 'file_type_mismatch'],
  ['is a picture', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13), 'list.png', 'unsupported_file'],
])('A file of contacts that %s is refused by the name of its part', async (_, content, name, code) => {
  const one = await draft();
  const response = await one.send(content, name);
  expect(await response.json()).toMatchObject({ code, details: [{ path: '/file' }] });
});

test.each([
  ['{"toNumber":"Phone","x":"y"}', '/mapping/x', 'x is not a known field'],
  ['{"externalId":"Id"}', '/mapping/toNumber', 'toNumber is required and must be a string'],
  ['{', '/mapping', expect.stringMatching(/^The part mapping must be JSON/)],
])('The mapping %s is refused with the place of the fault', async (mapping, path, message) => {
  const one = await draft();
  const response = await one.send('Phone\n1\n', 'list.csv', mapping);
  expect(((await response.json()) as { details: object[] }).details).toEqual([{ path, message }]);
});
