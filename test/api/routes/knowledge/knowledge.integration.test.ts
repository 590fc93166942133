import { describe, expect, test } from 'vitest';
import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { createKnowledge } from '../../../support/knowledge.ts';
import { useKnowledgeApi } from './support/knowledgeApi.ts';

const rig = useKnowledgeApi();
const { gateway, legacy, ask } = rig;

const BODY = { name: 'kb', type: 'pgvector', embeddingModelName: 'text-embedding-3-small' };

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
    ['another type', { ...BODY, type: 'faiss' }],
    ['another model', { ...BODY, embeddingModelName: 'gpt-4' }],
    ['too small chunks', { ...BODY, chunkSize: 49, chunkOverlap: 0 }],
    ['too large chunks', { ...BODY, chunkSize: 8001 }],
    ['as much overlap as chunk', { ...BODY, chunkSize: 100, chunkOverlap: 100 }],
    ['an unknown field', { ...BODY, dimensions: 3 }],
  ])('with %s is 400', async (_, body) => {
    const project = await gateway().createProject();
    expect(await legacy(project, 'POST', '/knowledgebases', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', details: [{ path: expect.any(String) }] },
    });
  });
});

describe('A query', () => {
  test('returns the project’s best matches first, on both paths', async () => {
    const { status, body } = await rig.knowledge.query('What does the kettle cost?');
    expect(status).toBe(200);
    expect(body[0]).toEqual({
      id: expect.any(String),
      content: 'The kettle costs 20 euros. It is blue.',
      contentLength: 38,
      isEnabled: true,
      startOffset: 0,
      endOffset: 38,
      score: expect.any(Number),
      datasetId: rig.datasetId,
      datasetName: 'shop.txt',
    });
    expect(JSON.stringify(body)).not.toContain('90 euros');
    const path = `/knowledgebases/${rig.knowledge.id}/query?q=What+does+the+kettle+cost%3F`;
    expect((await legacy(rig.knowledge.project, 'GET', path)).body).toEqual(body);
  });

  test('accepts a threshold and a maximum count', async () => {
    for (const { score } of (await rig.knowledge.query('kettle', { scoreThreshold: '0.35', topK: '50' }))
      .body) {
      expect(score).toBeGreaterThanOrEqual(0.35);
    }
    expect((await rig.knowledge.query('kettle', { scoreThreshold: '1' })).body).toEqual([]);
    expect((await rig.knowledge.query('kettle', { scoreThreshold: '0', topK: '1' })).body).toHaveLength(1);
  });

  test('in hybrid mode finds chunks by words, unless the threshold excludes them', async () => {
    await rig.knowledge.add('parts.txt', 'Zubehör XK-4821: Ersatzdeckel, nicht lieferbar.');
    const names = async (more: Record<string, string>) =>
      (await rig.knowledge.query('XK-4821', more)).body.map(
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
    expect((await ask('GET', `${rig.knowledge.path}/query?${query.slice(0, 3000)}`)).status).toBe(400);
  });

  test('of an empty knowledgebase finds nothing, of an unknown one is 404', async () => {
    expect((await (await createKnowledge(gateway())).query('kettle')).body).toEqual([]);
    const path = `${rig.knowledge.project.path}/knowledgebases/${uuidV7()}/query?q=x`;
    expect(await ask('GET', path)).toMatchObject({ status: 404, body: { code: 'knowledgebase_not_found' } });
  });
});
