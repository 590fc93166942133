import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../media/support/signals.ts';
import { makeEncryptedPdf, makeZipBomb } from '../../../support/documents.ts';
import { createKnowledge, multipartForm } from '../../../support/knowledge.ts';
import { useKnowledgeApi } from './support/knowledgeApi.ts';

const rig = useKnowledgeApi();
const { gateway, legacy, ask } = rig;
const random = createRandom(3);

describe('An upload', () => {
  test('is accepted without a project in the path, and listed', async () => {
    const { body, type } = multipartForm('legacy.txt', 'Opening hours are nine to five.');
    const { project, id } = rig.knowledge;
    const answer = await gateway().api('POST', `/knowledgebases/${id}/datasets`, {
      key: null,
      body,
      headers: { 'content-type': type, 'x-api-key': project.secretKey },
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      { message: expect.any(String), success: true, datasetId: expect.any(String) },
    ]);
    expect(await rig.knowledge.waitUntilProcessed(answer.body.datasetId)).toMatchObject({ status: 'ready' });
    const list = (await legacy(project, 'GET', `/knowledgebases/${id}/datasets`)).body;
    expect(list).toContainEqual({
      id: answer.body.datasetId,
      name: 'legacy.txt',
      mimeType: 'text/plain',
      bytes: 31,
      status: 'ready',
      chunkCount: 1,
      embeddedCount: 1,
      encoder: 'energetic-ai-embeddings-en',
      createdAt: expect.any(String),
    });
  });

  test.each<[string, string, Uint8Array | string, string]>([
    ['an empty file', 'a.txt', '', 'dataset_empty'],
    [
      'a picture',
      'a.png',
      Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      'dataset_type_unsupported',
    ],
    ['noise', 'a.txt', Uint8Array.from({ length: 5_000 }, () => 256 * random()), 'dataset_encoding_unknown'],
  ])('of %s is 400 with a reason', async (_, name, content, code) => {
    const before = (await ask('GET', `${rig.knowledge.path}/datasets`)).body.length;
    const { status, body } = await rig.knowledge.upload(name, content);
    expect([status, body.code]).toEqual([400, code]);
    expect((await ask('GET', `${rig.knowledge.path}/datasets`)).body).toHaveLength(before);
  });

  test('that is too large is 413 and leaves no file', async () => {
    const before = (await ask('GET', `${rig.knowledge.path}/datasets`)).body.length;
    expect(await rig.knowledge.upload('a.txt', 'x'.repeat(200_001))).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', error: expect.stringContaining('200000') },
    });
    expect(await rig.knowledge.upload('a.txt', 'x '.repeat(3_000_000))).toMatchObject({ status: 413 });
    expect((await ask('GET', `${rig.knowledge.path}/datasets`)).body).toHaveLength(before);
    const [begin, end] = ['<!doctype html><!--', '--><p>Just as much as may be.'];
    const exact = begin + 'x'.repeat(200_000 - begin.length - end.length) + end;
    expect((await rig.knowledge.upload('exact.html', exact)).status).toBe(201);
  });

  const form = multipartForm('a.txt', 'x');
  const twice = Buffer.concat([form.body.subarray(0, -'--callway-test-form--\r\n'.length), form.body]);
  test.each<[string, string, Uint8Array | string, string]>([
    ['JSON', 'application/json', '{}', 'invalid_content_type'],
    ['text', 'text/plain', 'hello', 'invalid_content_type'],
    ['a form of another kind', 'application/x-www-form-urlencoded', 'dataset=x', 'invalid_content_type'],
    ['another part', form.type, multipartForm('a.txt', 'x', 'file').body, 'missing_file'],
    ['no part', form.type, '--callway-test-form--\r\n', 'missing_file'],
    [
      'a field in place of the file',
      form.type,
      '--callway-test-form\r\ncontent-disposition: form-data; name="dataset"\r\n\r\nx\r\n--callway-test-form--\r\n',
      'missing_file',
    ],
    ['no boundary', 'multipart/form-data', form.body, 'invalid_multipart'],
    ['a form cut off', form.type, form.body.subarray(0, -30), 'invalid_multipart'],
    ['two files', form.type, twice, 'too_many_files'],
  ])('as %s is 400', async (_, type, body, code) => {
    const answer = await gateway().api('POST', `${rig.knowledge.path}/datasets`, {
      key: rig.knowledge.project.developerKey,
      body,
      headers: { 'content-type': type },
    });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });

  test('without a type or a body is 400', async () => {
    const response = await fetch(`${gateway().url}${rig.knowledge.path}/datasets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rig.knowledge.project.developerKey}` },
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      400,
      'invalid_content_type',
    ]);
  });

  test('repeated with one Idempotency-Key is stored once; another file is 409', async () => {
    const headers = { 'idempotency-key': 'upload' };
    const first = await rig.knowledge.upload('once.txt', 'Once.', headers);
    const again = await rig.knowledge.upload('once.txt', 'Once.', headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await rig.knowledge.upload('once.txt', 'Twice.', headers)).toMatchObject({ status: 409 });
    const list = (await ask('GET', `${rig.knowledge.path}/datasets`)).body;
    expect(list.filter(({ name }: { name: string }) => name === 'once.txt')).toHaveLength(1);
  });

  test('stores the file name without folders', async () => {
    const { body } = await rig.knowledge.upload('..\\..\\etc/pass wd.txt', 'x');
    expect(await rig.knowledge.waitUntilProcessed(body.datasetId)).toMatchObject({
      name: 'pass wd.txt',
      status: 'ready',
    });
  });
});

describe('An unreadable document', () => {
  test.each<[string, string, Uint8Array | string, RegExp]>([
    ['is encrypted', 'a.pdf', makeEncryptedPdf(), /password/],
    ['is a zip bomb', 'a.docx', makeZipBomb(12_000_000), /unpacks to far more/],
  ])(
    '(%s) fails with a reason and does not affect others',
    { timeout: 120_000 },
    async (_, name, content, reason) => {
      const good = rig.knowledge.upload('good.txt', 'A good document beside a bad one.');
      const bad = await rig.knowledge.add(name, content);
      expect(bad).toMatchObject({ status: 'failed', chunkCount: 0, error: expect.stringMatching(reason) });
      expect(await rig.knowledge.waitUntilProcessed((await good).body.datasetId)).toMatchObject({
        status: 'ready',
      });
      expect(await rig.knowledge.chunks(bad.id)).toMatchObject({
        status: 404,
        body: { code: 'chunks_not_found' },
      });
    },
  );
});

describe('Chunks', () => {
  const path = () => `${rig.knowledge.path}/datasets/${rig.datasetId}/chunks`;

  test('are listed in document order, all or by page', { timeout: 300_000 }, async () => {
    const sentences = Array.from(
      { length: 520 },
      (_, index) => `This is the sentence of number ${index}, all of it.`,
    );
    const long = await createKnowledge(gateway(), { chunkSize: 60, chunkOverlap: 0 });
    const key = long.project.developerKey;
    const path = `${long.path}/datasets/${(await long.upload('long.txt', sentences.join(' '))).body.datasetId}`;
    // Chunks are there before their embeddings.
    await expect
      .poll(async () => (await gateway().api('GET', path, { key })).body.chunkCount, { timeout: 60_000 })
      .toBe(sentences.length);
    const get = async (query = '') =>
      (await gateway().api('GET', `${path}/chunks${query}`, { key })).body.map(
        ({ content }: { content: string }) => content,
      );
    expect(await get()).toEqual(sentences);
    expect(await get('?limit=2&offset=3')).toEqual(sentences.slice(3, 5));
    expect(await get('?offset=519')).toEqual(sentences.slice(519));
    expect(await get('?offset=5000')).toEqual([]);
    expect((await gateway().api('DELETE', path, { key })).status).toBe(204);
  });

  test('that are off are not found until they are on again', async () => {
    const [chunk] = (await ask('GET', path())).body;
    const found = async () =>
      (await rig.knowledge.query('What does the kettle cost?')).body.map(({ id }: { id: string }) => id);
    expect(await found()).toContain(chunk.id);
    const off = await ask('PATCH', `${path()}/${chunk.id}`, { isEnabled: false });
    expect([off.status, off.body]).toEqual([200, { ...chunk, isEnabled: false }]);
    expect(await found()).not.toContain(chunk.id);
    expect((await ask('GET', path())).body[0].isEnabled).toBe(false);
    await legacy(
      rig.knowledge.project,
      'PATCH',
      `/knowledgebases/${rig.knowledge.id}/datasets/${rig.datasetId}/chunks/${chunk.id}`,
      { isEnabled: true },
    );
    expect(await found()).toContain(chunk.id);
  });
});
