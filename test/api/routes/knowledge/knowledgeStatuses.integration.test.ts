import { beforeAll, describe, expect, test } from 'vitest';

import { uuidV7 } from '../../../../src/base/values/ids.ts';
import { sharedGateway } from '../../../support/gateway.ts';
import { createKnowledge, multipartForm, type TestKnowledge } from '../../../support/knowledge.ts';

const gateway = sharedGateway();
let mine: TestKnowledge;
let others: TestKnowledge;
let datasetId: string;
let othersDatasetId: string;
let chunkId: string;
beforeAll(async () => {
  [mine, others] = [await createKnowledge(gateway()), await createKnowledge(gateway())];
  const [own, theirs] = await Promise.all([
    mine.add('shop.txt', 'The kettle costs 20 euros.'),
    others.add('other.txt', 'The kettle of another shop costs 90 euros.'),
  ]);
  [datasetId, othersDatasetId] = [own.id, theirs.id];
  chunkId = (await mine.chunks(own.id)).body[0].id;
}, 180_000);

/** Placeholders in paths for ids that exist only once the gateway runs. */
const IDS: Readonly<Record<string, () => string>> = {
  KB: () => mine.id,
  OTHER_KB: () => others.id,
  DATASET: () => datasetId,
  OTHER_DATASET: () => othersDatasetId,
  CHUNK: () => chunkId,
  NONE: () => uuidV7(),
};
const withIds = (path: string) => path.replace(/[A-Z_]{2,}/g, (name) => IDS[name]?.() ?? name);

type Body = object | 'form' | undefined;
type Row = readonly [method: string, path: string, body?: Body];
/** Path prefix and credentials of the two knowledge paths. */
interface Family {
  base(): string;
  credential(of: 'mine' | 'others' | 'unknown'): Record<string, string>;
}
const FAMILIES: Readonly<Record<string, Family>> = {
  'x-api-key': {
    base: () => '',
    credential: (of) => ({ 'x-api-key': keyOf(of, 'secretKey') }),
  },
  Bearer: {
    base: () => mine.project.path,
    credential: (of) => ({ authorization: `Bearer ${keyOf(of, 'developerKey')}` }),
  },
};
function keyOf(of: 'mine' | 'others' | 'unknown', kind: 'secretKey' | 'developerKey'): string {
  if (of === 'unknown') return kind === 'secretKey' ? 'sk_unknown' : 'dk_unknown';
  return (of === 'mine' ? mine : others).project[kind];
}

async function send(family: Family, [method, path, body]: Row, headers: Record<string, string>) {
  const form = body === 'form' ? multipartForm('more.txt', 'More words.') : undefined;
  const { status, body: answer } = await gateway().api(method, family.base() + withIds(path), {
    key: null,
    headers: { ...headers, ...(form ? { 'content-type': form.type } : {}) },
    ...(body === undefined ? {} : { body: form?.body ?? body }),
  });
  return { status, answer };
}

const KNOWLEDGEBASE = { name: 'kb', type: 'pgvector', embeddingModelName: 'text-embedding-3-small' };
/** Each with a valid request. */
const ROUTES: readonly (readonly [...Row, status: number])[] = [
  ['GET', '/knowledgebases', undefined, 200],
  // Valid, but the project already has a knowledgebase.
  ['POST', '/knowledgebases', KNOWLEDGEBASE, 400],
  ['GET', '/knowledgebases/KB/datasets', undefined, 200],
  ['POST', '/knowledgebases/KB/datasets', 'form', 201],
  ['GET', '/knowledgebases/KB/datasets/DATASET', undefined, 200],
  ['GET', '/knowledgebases/KB/datasets/DATASET/chunks', undefined, 200],
  ['PATCH', '/knowledgebases/KB/datasets/DATASET/chunks/CHUNK', { isEnabled: true }, 200],
  ['GET', '/knowledgebases/KB/query?q=kettle', undefined, 200],
  ['DELETE', '/knowledgebases/KB/datasets/NONE', undefined, 404],
];
/** The documented errors of each route. */
const REFUSALS: readonly (readonly [...Row, status: number, code: string])[] = [
  ['POST', '/knowledgebases', {}, 400, 'invalid_request'],
  ['POST', '/knowledgebases', KNOWLEDGEBASE, 400, 'knowledgebase_exists'],
  ['POST', '/knowledgebases/KB/datasets', {}, 400, 'invalid_content_type'],
  ['POST', '/knowledgebases/rubbish/datasets', 'form', 400, 'invalid_knowledgebase_id'],
  ['POST', '/knowledgebases/NONE/datasets', 'form', 404, 'knowledgebase_not_found'],
  ['POST', '/knowledgebases/OTHER_KB/datasets', 'form', 404, 'knowledgebase_not_found'],
  ['GET', '/knowledgebases//datasets/DATASET/chunks', undefined, 400, 'invalid_request'],
  ['GET', '/knowledgebases/KB/datasets//chunks', undefined, 400, 'invalid_request'],
  [
    'GET',
    '/knowledgebases/KB/datasets/OTHER_DATASET/chunks',
    undefined,
    403,
    'dataset_of_another_knowledgebase',
  ],
  ['GET', '/knowledgebases/NONE/datasets/DATASET/chunks', undefined, 404, 'knowledgebase_not_found'],
  [
    'GET',
    '/knowledgebases/OTHER_KB/datasets/OTHER_DATASET/chunks',
    undefined,
    404,
    'knowledgebase_not_found',
  ],
  ['GET', '/knowledgebases/KB/datasets/NONE/chunks', undefined, 404, 'dataset_not_found'],
  ['GET', '/knowledgebases/OTHER_KB/datasets', undefined, 404, 'knowledgebase_not_found'],
  ['GET', '/knowledgebases/KB/datasets/OTHER_DATASET', undefined, 404, 'dataset_not_found'],
  ['DELETE', '/knowledgebases/KB/datasets/OTHER_DATASET', undefined, 404, 'dataset_not_found'],
  [
    'PATCH',
    '/knowledgebases/KB/datasets/OTHER_DATASET/chunks/CHUNK',
    { isEnabled: false },
    404,
    'dataset_not_found',
  ],
  ['PATCH', '/knowledgebases/KB/datasets/DATASET/chunks/NONE', { isEnabled: false }, 404, 'chunk_not_found'],
  ['PATCH', '/knowledgebases/KB/datasets/DATASET/chunks/CHUNK', {}, 400, 'invalid_request'],
  ['GET', '/knowledgebases/KB/query', undefined, 400, 'invalid_request'],
  ['GET', '/knowledgebases/KB/query?q=x&topK=51', undefined, 400, 'invalid_request'],
  ['GET', '/knowledgebases/OTHER_KB/query?q=x', undefined, 404, 'knowledgebase_not_found'],
];

describe.each(Object.entries(FAMILIES))('Knowledge routes with %s', (_name, family) => {
  test.each(ROUTES)('%s %s accepts only its own key', async (method, path, body, status) => {
    const row: Row = [method, path, body];
    expect((await send(family, row, family.credential('mine'))).status).toBe(status);
    for (const headers of [{}, family.credential('unknown')]) {
      const { status: refused, answer } = await send(family, row, headers);
      expect([refused, typeof answer.error.message]).toEqual([401, 'string']);
    }
    // Refused on a path with another project; without a project in the path it has its own project.
    const { status: strangers } = await send(family, row, family.credential('others'));
    if (family.base() !== '') expect(strangers).toBe(401);
    else if (path.includes('KB')) expect(strangers).toBe(404);
  });

  test.each(REFUSALS)('%s %s with %j is %i %s', async (method, path, body, status, code) => {
    const refused = await send(family, [method, path, body], family.credential('mine'));
    expect([refused.status, refused.answer.code, typeof refused.answer.error]).toEqual([
      status,
      code,
      'string',
    ]);
  });
});
