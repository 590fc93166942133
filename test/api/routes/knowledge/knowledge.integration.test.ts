import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/ids.ts';
import {
  makeCompoundFile,
  makeDocx,
  makeEncryptedPdf,
  makePdf,
  makeZipBomb,
} from '../../../support/documents.ts';
import { sharedGateway, type TestProject } from '../../../support/gateway.ts';
import { createKnowledge, multipartForm, type TestKnowledge } from '../../../support/knowledge.ts';

const gateway = sharedGateway({
  env: { MAX_UPLOAD_BYTES: '200000', RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '0' },
});
let knowledge: TestKnowledge;
let others: TestKnowledge;
let datasetId: string;
let othersDatasetId: string;
beforeAll(async () => {
  [knowledge, others] = [await createKnowledge(gateway()), await createKnowledge(gateway())];
  const [mine, theirs] = await Promise.all([
    knowledge.add('shop.txt', 'The kettle costs 20 euros. It is blue.'),
    others.add('other.txt', 'The kettle of another shop costs 90 euros.'),
  ]);
  [datasetId, othersDatasetId] = [mine.id, theirs.id];
}, 120_000);

const BODY = { name: 'kb', type: 'pgvector', embeddingModelName: 'text-embedding-3-small' };
/** Sends a request to the path without a project, with `x-api-key`. */
const legacy = (project: TestProject, method: string, path: string, body?: unknown) =>
  gateway().api(method, path, {
    key: null,
    headers: { 'x-api-key': project.secretKey },
    ...(body === undefined ? {} : { body }),
  });
const ask = (method: string, path: string, body?: unknown) =>
  gateway().api(method, path, {
    key: knowledge.project.developerKey,
    ...(body === undefined ? {} : { body }),
  });

describe('A knowledgebase', () => {
  test('is created with defaults and readable on both paths', async () => {
    for (const family of ['x-api-key', 'v1'] as const) {
      const project = await gateway().createProject();
      const key = project.developerKey;
      const post = (body: unknown) =>
        family === 'v1'
          ? gateway().api('POST', `${project.path}/knowledgebases`, { key, body })
          : legacy(project, 'POST', '/knowledgebases', body);
      expect((await gateway().api('GET', `${project.path}/knowledgebases`, { key })).body).toEqual([]);
      const created = await post(BODY);
      expect([created.status, created.body]).toEqual([
        201,
        { id: expect.any(String), message: expect.any(String) },
      ]);
      const shown = [{ id: expect.any(String), ...BODY, chunkSize: 500, chunkOverlap: 50 }];
      expect((await legacy(project, 'GET', '/knowledgebases')).body).toEqual(shown);
      expect((await gateway().api('GET', `${project.path}/knowledgebases`, { key })).body).toEqual(shown);
      expect(await post(BODY)).toMatchObject({ status: 400, body: { code: 'knowledgebase_exists' } });
    }
  });

  test.each<[string, unknown]>([
    ['no name', { ...BODY, name: undefined }],
    ['an empty name', { ...BODY, name: '' }],
    ['too long a name', { ...BODY, name: 'x'.repeat(129) }],
    ['another type', { ...BODY, type: 'faiss' }],
    ['another model', { ...BODY, embeddingModelName: 'gpt-4' }],
    ['no model', { ...BODY, embeddingModelName: undefined }],
    ['too small chunks', { ...BODY, chunkSize: 49, chunkOverlap: 0 }],
    ['too large chunks', { ...BODY, chunkSize: 8001 }],
    ['half a chunk', { ...BODY, chunkSize: 99.5 }],
    ['a size as text', { ...BODY, chunkSize: '500' }],
    ['as much overlap as chunk', { ...BODY, chunkSize: 100, chunkOverlap: 100 }],
    ['more overlap than the default chunk', { ...BODY, chunkOverlap: 500 }],
    ['a negative overlap', { ...BODY, chunkOverlap: -1 }],
    ['an unknown field', { ...BODY, dimensions: 3 }],
  ])('with %s is 400', async (_, body) => {
    const project = await gateway().createProject();
    expect(await legacy(project, 'POST', '/knowledgebases', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path: expect.any(String) }] },
    });
  });

  test('created twice with one Idempotency-Key is created once', async () => {
    const project = await gateway().createProject();
    const create = () =>
      gateway().api('POST', '/knowledgebases', {
        key: null,
        body: BODY,
        headers: { 'x-api-key': project.secretKey, 'idempotency-key': 'once' },
      });
    expect((await create()).status).toBe(201);
    const again = await create();
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  });
});

describe('A credential', () => {
  test.each<[string, Record<string, string>]>([
    ['is missing', {}],
    ['is unknown', { 'x-api-key': 'sk_unknown' }],
    ['is empty', { 'x-api-key': '' }],
    ['comes in the other header', { authorization: 'Bearer KEY' }],
  ])('that %s is 401 without a project in the path', async (_, headers) => {
    const { secretKey } = knowledge.project;
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('KEY', secretKey)]),
    );
    const { status, body } = await gateway().api('GET', '/knowledgebases', { key: null, headers: sent });
    expect([status, typeof body.error.message]).toEqual([401, 'string']);
  });

  test('of a developer or the operator is 401 there, and x-api-key is refused elsewhere', async () => {
    const get = (path: string, headers: Record<string, string>) =>
      gateway().api('GET', path, { key: null, headers });
    const { developerKey, secretKey } = knowledge.project;
    expect((await get('/knowledgebases', { 'x-api-key': developerKey })).status).toBe(401);
    expect((await get('/knowledgebases', { 'x-api-key': gateway().adminToken })).status).toBe(401);
    expect((await get(knowledge.path.replace(/\/[^/]+$/, ''), { 'x-api-key': secretKey })).status).toBe(401);
  });

  test('of another project has no access', async () => {
    const base = `/knowledgebases/${knowledge.id}`;
    const dataset = `${base}/datasets/${datasetId}`;
    for (const [method, path] of [
      ['GET', `${base}/datasets`],
      ['GET', dataset],
      ['GET', `${dataset}/chunks`],
      ['GET', `${base}/query?q=kettle`],
      ['DELETE', dataset],
      ['PATCH', `${dataset}/chunks/${uuidV7()}`],
    ] as const) {
      const body = method === 'PATCH' ? { isEnabled: false } : undefined;
      const answer = await legacy(others.project, method, path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'knowledgebase_not_found']);
    }
  });

  test('with the scope read cannot write', async () => {
    const { key } = await gateway().createKey(knowledge.project, { scopes: ['read'] });
    const { body, type } = multipartForm('a.txt', 'x');
    const upload = await gateway().api('POST', `${knowledge.path}/datasets`, {
      key,
      body,
      headers: { 'content-type': type },
    });
    expect([upload.status, upload.body.code]).toEqual([403, 'missing_scope']);
    expect((await gateway().api('DELETE', `${knowledge.path}/datasets/${datasetId}`, { key })).status).toBe(
      403,
    );
    expect((await gateway().api('GET', `${knowledge.path}/datasets`, { key })).status).toBe(200);
  });
});

describe('An upload', () => {
  test('is accepted without a project in the path, and listed', async () => {
    const { body, type } = multipartForm('legacy.txt', 'Opening hours are nine to five.');
    const { project, id } = knowledge;
    const answer = await gateway().api('POST', `/knowledgebases/${id}/datasets`, {
      key: null,
      body,
      headers: { 'content-type': type, 'x-api-key': project.secretKey },
    });
    expect([answer.status, answer.body]).toEqual([
      201,
      { message: expect.any(String), success: true, datasetId: expect.any(String) },
    ]);
    expect(await knowledge.waitUntilProcessed(answer.body.datasetId)).toMatchObject({ status: 'ready' });
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
    ['an empty PDF', 'a.pdf', '', 'dataset_empty'],
    [
      'a picture',
      'a.png',
      Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      'dataset_type_unsupported',
    ],
    ['a text named like a PDF', 'a.pdf', 'hello', 'dataset_type_mismatch'],
    ['a PDF named like a Word document', 'a.docx', makePdf([['x']]), 'dataset_type_mismatch'],
    ['an encrypted Word document', 'a.docx', makeCompoundFile('EncryptedPackage'), 'dataset_encrypted'],
    ['a Word document cut off', 'a.docx', makeDocx(['x']).subarray(0, 400), 'dataset_truncated'],
    ['random bytes', 'a.txt', randomBytes(5_000), 'dataset_encoding_unknown'],
  ])('of %s is 400 with a reason', async (_, name, content, code) => {
    const before = (await ask('GET', `${knowledge.path}/datasets`)).body.length;
    const { status, body } = await knowledge.upload(name, content);
    expect([status, body.code]).toEqual([400, code]);
    expect((await ask('GET', `${knowledge.path}/datasets`)).body).toHaveLength(before);
  });

  test('that is too large is 413 and leaves no file', async () => {
    const before = (await ask('GET', `${knowledge.path}/datasets`)).body.length;
    expect(await knowledge.upload('a.txt', 'x'.repeat(200_001))).toMatchObject({
      status: 413,
      body: { code: 'file_too_large', error: expect.stringContaining('200000') },
    });
    expect(await knowledge.upload('a.txt', 'x '.repeat(3_000_000))).toMatchObject({ status: 413 });
    expect((await ask('GET', `${knowledge.path}/datasets`)).body).toHaveLength(before);
    const [begin, end] = ['<!doctype html><!--', '--><p>Just as much as may be.'];
    const exact = begin + 'x'.repeat(200_000 - begin.length - end.length) + end;
    expect((await knowledge.upload('exact.html', exact)).status).toBe(201);
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
    const answer = await gateway().api('POST', `${knowledge.path}/datasets`, {
      key: knowledge.project.developerKey,
      body,
      headers: { 'content-type': type },
    });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });

  test('without a type or a body is 400', async () => {
    const response = await fetch(`${gateway().url}${knowledge.path}/datasets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${knowledge.project.developerKey}` },
    });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      400,
      'invalid_content_type',
    ]);
  });

  test('into an unknown knowledgebase is 404, with an invalid id 400', async () => {
    const { body, type } = form;
    const send = (id: string) =>
      gateway().api('POST', `${knowledge.project.path}/knowledgebases/${id}/datasets`, {
        key: knowledge.project.developerKey,
        body,
        headers: { 'content-type': type },
      });
    expect(await send(uuidV7())).toMatchObject({ status: 404, body: { code: 'knowledgebase_not_found' } });
    expect(await send(others.id)).toMatchObject({ status: 404 });
    expect(await send('rubbish')).toMatchObject({ status: 400, body: { code: 'invalid_knowledgebase_id' } });
  });

  test('repeated with one Idempotency-Key is stored once; another file is 409', async () => {
    const headers = { 'idempotency-key': 'upload' };
    const first = await knowledge.upload('once.txt', 'Once.', headers);
    const again = await knowledge.upload('once.txt', 'Once.', headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await knowledge.upload('once.txt', 'Twice.', headers)).toMatchObject({ status: 409 });
    const list = (await ask('GET', `${knowledge.path}/datasets`)).body;
    expect(list.filter(({ name }: { name: string }) => name === 'once.txt')).toHaveLength(1);
  });

  test('stores the file name without folders', async () => {
    const { body } = await knowledge.upload('..\\..\\etc/pass wd.txt', 'x');
    expect(await knowledge.waitUntilProcessed(body.datasetId)).toMatchObject({
      name: 'pass wd.txt',
      status: 'ready',
    });
  });
});

describe('An unreadable document', () => {
  test.each<[string, string, Uint8Array | string, RegExp]>([
    ['is encrypted', 'a.pdf', makeEncryptedPdf(), /password/],
    ['is cut off', 'a.pdf', makePdf([['x'], ['y']]).subarray(0, 300), /damaged or cut off/],
    ['has pictures alone', 'a.pdf', makePdf([[], []]), /no text.*pictures/],
    ['is a zip bomb', 'a.docx', makeZipBomb(60_000_000), /unpacks to far more/],
    ['is no JSON', 'a.json', '{"a": ', /named like JSON/],
    ['has no text', 'a.html', '<!doctype html><script>x</script>', /no text/],
    ['has only spaces', 'a.txt', ' \n\n \t ', /no text/],
  ])(
    '(%s) fails with a reason and does not affect others',
    { timeout: 120_000 },
    async (_, name, content, reason) => {
      const good = knowledge.upload('good.txt', 'A good document beside a bad one.');
      const bad = await knowledge.add(name, content);
      expect(bad).toMatchObject({ status: 'failed', chunkCount: 0, error: expect.stringMatching(reason) });
      expect(await knowledge.waitUntilProcessed((await good).body.datasetId)).toMatchObject({
        status: 'ready',
      });
      expect(await knowledge.chunks(bad.id)).toMatchObject({
        status: 404,
        body: { code: 'chunks_not_found' },
      });
    },
  );
});

describe('Chunks', () => {
  const path = () => `${knowledge.path}/datasets/${datasetId}/chunks`;

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

  test('of another knowledgebase’s dataset are 403, of an unknown one 404', async () => {
    const of = (id: string) => ask('GET', `${knowledge.path}/datasets/${id}/chunks`);
    expect(await of(othersDatasetId)).toMatchObject({
      status: 403,
      body: { code: 'dataset_of_another_knowledgebase' },
    });
    expect(await of(uuidV7())).toMatchObject({ status: 404, body: { code: 'dataset_not_found' } });
    expect(await of('rubbish')).toMatchObject({ status: 404 });
    expect(await ask('GET', `${knowledge.path}/datasets/${othersDatasetId}`)).toMatchObject({ status: 404 });
    expect(
      await legacy(knowledge.project, 'GET', `/knowledgebases//datasets/${datasetId}/chunks`),
    ).toMatchObject({
      status: 400,
    });
    expect(
      await legacy(knowledge.project, 'GET', `/knowledgebases/${knowledge.id}/datasets//chunks`),
    ).toMatchObject({
      status: 400,
    });
  });

  test('that are off are not found until they are on again', async () => {
    const [chunk] = (await ask('GET', path())).body;
    const found = async () =>
      (await knowledge.query('What does the kettle cost?')).body.map(({ id }: { id: string }) => id);
    expect(await found()).toContain(chunk.id);
    const off = await ask('PATCH', `${path()}/${chunk.id}`, { isEnabled: false });
    expect([off.status, off.body]).toEqual([200, { ...chunk, isEnabled: false }]);
    expect(await found()).not.toContain(chunk.id);
    expect((await ask('GET', path())).body[0].isEnabled).toBe(false);
    await legacy(
      knowledge.project,
      'PATCH',
      `/knowledgebases/${knowledge.id}/datasets/${datasetId}/chunks/${chunk.id}`,
      { isEnabled: true },
    );
    expect(await found()).toContain(chunk.id);
  });

  test.each([[{}], [{ isEnabled: 'no' }], [{ isEnabled: true, content: 'x' }], [[]]])(
    'refuse the change %j',
    async (body) => {
      const [chunk] = (await ask('GET', path())).body;
      expect((await ask('PATCH', `${path()}/${chunk.id}`, body)).status).toBe(400);
    },
  );

  test('that do not exist are 404', async () => {
    const patch = (id: string) => ask('PATCH', `${path()}/${id}`, { isEnabled: true });
    expect(await patch(uuidV7())).toMatchObject({ status: 404, body: { code: 'chunk_not_found' } });
    expect((await patch('rubbish')).status).toBe(404);
  });
});

describe('A query', () => {
  test('returns the project’s best matches first, on both paths', async () => {
    const { status, body } = await knowledge.query('What does the kettle cost?');
    expect(status).toBe(200);
    expect(body[0]).toEqual({
      id: expect.any(String),
      content: 'The kettle costs 20 euros. It is blue.',
      contentLength: 38,
      isEnabled: true,
      startOffset: 0,
      endOffset: 38,
      score: expect.any(Number),
      datasetId,
      datasetName: 'shop.txt',
    });
    expect(JSON.stringify(body)).not.toContain('90 euros');
    const path = `/knowledgebases/${knowledge.id}/query?q=What+does+the+kettle+cost%3F`;
    expect((await legacy(knowledge.project, 'GET', path)).body).toEqual(body);
  });

  test('accepts a threshold and a maximum count', async () => {
    for (const { score } of (await knowledge.query('kettle', { scoreThreshold: '0.35', topK: '50' })).body) {
      expect(score).toBeGreaterThanOrEqual(0.35);
    }
    expect((await knowledge.query('kettle', { scoreThreshold: '1' })).body).toEqual([]);
    expect((await knowledge.query('kettle', { scoreThreshold: '0', topK: '1' })).body).toHaveLength(1);
  });

  test('in hybrid mode finds chunks by words, unless the threshold excludes them', async () => {
    await knowledge.add('parts.txt', 'Zubehör XK-4821: Ersatzdeckel, nicht lieferbar.');
    const names = async (more: Record<string, string>) =>
      (await knowledge.query('XK-4821', more)).body.map(
        ({ datasetName }: { datasetName: string }) => datasetName,
      );
    expect(await names({ mode: 'hybrid' })).toContain('parts.txt');
    expect(await names({ mode: 'hybrid', scoreThreshold: '1' })).toEqual([]);
  });

  test.each([
    'q=',
    '',
    'q=%20',
    `q=${'x'.repeat(2001)}`,
    'q=x&topK=0',
    'q=x&topK=51',
    'q=x&topK=two',
    'q=x&scoreThreshold=1.1',
    'q=x&scoreThreshold=-1',
    'q=x&scoreThreshold=1e1',
    'q=x&scoreThreshold=0x1',
    'q=x&scoreThreshold=',
    'q=x&mode=best',
    'q=a&q=b',
  ])('with ?%s is 400', async (query) => {
    expect((await ask('GET', `${knowledge.path}/query?${query.slice(0, 3000)}`)).status).toBe(400);
  });

  test('of an empty knowledgebase finds nothing, of an unknown one is 404', async () => {
    expect((await (await createKnowledge(gateway())).query('kettle')).body).toEqual([]);
    const path = `${knowledge.project.path}/knowledgebases/${uuidV7()}/query?q=x`;
    expect(await ask('GET', path)).toMatchObject({ status: 404, body: { code: 'knowledgebase_not_found' } });
  });
});

test('A deleted dataset is no longer found', async () => {
  const { id } = await knowledge.add('gone.txt', 'The secret ingredient is cinnamon.');
  const names = async () =>
    (await knowledge.query('What is the secret ingredient?', { mode: 'hybrid' })).body.map(
      ({ datasetName }: { datasetName: string }) => datasetName,
    );
  expect(await names()).toContain('gone.txt');
  expect((await ask('DELETE', `${knowledge.path}/datasets/${id}`)).status).toBe(204);
  expect(await names()).not.toContain('gone.txt');
  expect((await ask('DELETE', `${knowledge.path}/datasets/${id}`)).status).toBe(404);
  expect(await knowledge.chunks(id)).toMatchObject({ status: 404, body: { code: 'dataset_not_found' } });
});
