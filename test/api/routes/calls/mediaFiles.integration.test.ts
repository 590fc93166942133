import { request } from 'node:http';
import { describe, expect, test, vi } from 'vitest';

import { wavHeader } from '../../../../src/media/wav.ts';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';

const gateway = sharedGateway();
const FORMAT = { sampleRateHz: 8000, channels: 1 } as const;
/** Half a second. */
const WAV = Buffer.concat([wavHeader(FORMAT, 8000), Buffer.alloc(8000, 7)]);

const send = (project: TestProject, body: Buffer, headers: Record<string, string>, query = '') =>
  gateway().api('POST', `${project.path}/media${query}`, { key: project.developerKey, body, headers });
const asWav = (project: TestProject, body: Buffer = WAV, query = '') =>
  send(project, body, { 'content-type': 'audio/wav' }, query);
const ask = (project: TestProject, method: string, path = '') =>
  gateway().api(method, `${project.path}/media${path}`, { key: project.developerKey });

/** Sends the first half of a file. */
function beginUpload({ path, developerKey }: TestProject) {
  const headers = {
    authorization: `Bearer ${developerKey}`,
    'content-type': 'audio/wav',
    'content-length': WAV.length,
  };
  const half = WAV.length / 2;
  const sent = request(`${gateway().url}${path}/media`, { method: 'POST', headers });
  const upload = { status: undefined as number | undefined, finish: () => sent.end(WAV.subarray(half)) };
  sent.once('response', (answer) => {
    upload.status = answer.statusCode;
    answer.resume();
    if (upload.status === 429) sent.destroy();
  });
  sent.on('error', () => undefined);
  sent.write(WAV.subarray(0, half));
  return upload;
}

describe('Media files', () => {
  test('are uploaded as a form or as they are, listed, read and deleted', async () => {
    const project = await gateway().createProject();
    const form = new FormData();
    form.set('file', new Blob([WAV]), 'folder/waiting.wav');
    const request = new Request('http://x/', { method: 'POST', body: form });
    const type = request.headers.get('content-type') ?? '';
    const first = await send(project, Buffer.from(await request.arrayBuffer()), { 'content-type': type });
    const second = await asWav(project, WAV, '?name=other.wav');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body).toEqual({
      id: expect.any(String),
      name: 'waiting.wav',
      bytes: WAV.length,
      durationMs: 500,
      createdAt: expect.any(String),
    });
    expect((await ask(project, 'GET')).body.data).toEqual([first.body, second.body]);
    expect((await ask(project, 'GET', `/${first.body.id}`)).body).toEqual(first.body);
    const other = await gateway().createProject();
    expect((await ask(other, 'GET', `/${first.body.id}`)).status).toBe(404);
    expect((await ask(other, 'DELETE', `/${first.body.id}`)).status).toBe(404);
    expect((await ask(project, 'DELETE', `/${first.body.id}`)).status).toBe(204);
    expect((await ask(project, 'GET', `/${first.body.id}`)).body.code).toBe('media_file_not_found');
    const usage = await gateway().api('GET', `${project.path}/usage`, { key: project.developerKey });
    expect(usage.body.quotas).toMatchObject({ mediaFiles: { used: 1 }, storedBytes: { used: WAV.length } });
  });

  test.each<[string, Buffer, string, number, string]>([
    ['no WAV file', Buffer.from('a song'), 'audio/wav', 400, 'wav_invalid'],
    ['another type', WAV, 'audio/mpeg', 415, 'unsupported_media_type'],
    ['no file', Buffer.from('--x--\r\n'), 'multipart/form-data; boundary=x', 400, 'missing_file'],
    ['more than 10 MiB', Buffer.alloc(10 * 1024 * 1024 + 1), 'audio/wav', 413, 'body_too_large'],
  ])('are refused where there is %s', async (_what, body, type, status, code) => {
    const project = await gateway().createProject();
    const answer = await send(project, body, { 'content-type': type });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await ask(project, 'GET')).body.pagination.total).toBe(0);
  });

  test('are uploaded four at once by a project', async () => {
    const project = await gateway().createProject();
    const uploads = Array.from({ length: 6 }, () => beginUpload(project));
    await vi.waitFor(() => expect(uploads.filter(({ status }) => status === 429)).toHaveLength(2));
    expect((await asWav(await gateway().createProject())).status).toBe(201);
    const accepted = uploads.filter(({ status }) => status === undefined);
    for (const { finish } of accepted) finish();
    await vi.waitFor(() => expect(accepted.map(({ status }) => status)).toEqual([201, 201, 201, 201]));
    await vi.waitFor(async () => expect((await asWav(project)).status).toBe(201));
  });

  test('are limited in number by a quota', async () => {
    const project = await gateway().createProject();
    await gateway().api('PATCH', project.path, { body: { quotas: { mediaFiles: 1 } } });
    expect((await asWav(project)).status).toBe(201);
    expect((await asWav(project)).body).toMatchObject({ code: 'quota_exceeded', quota: 'mediaFiles' });
  });
});
