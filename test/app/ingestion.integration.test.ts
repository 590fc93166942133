import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { type FakeEmbeddings, startFakeEmbeddings } from '../support/fakeEmbeddings.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { createKnowledge } from '../support/knowledge.ts';
import { detectLeaks } from '../support/leaks.ts';
import { startObjectStore } from '../support/objectStore.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { redisDatabase } from '../support/redis.ts';
import { makeTempDir, tempDir } from '../support/tempDir.ts';

/** 16 sentences are requested first, then up to 128 at once. */
const MORE_THAN_A_BATCH = 160;

/** A gateway with a fake embeddings endpoint for the tests of a group; must leave nothing running. */
function useGateway() {
  const folder = makeTempDir();
  const assertNoLeaks = detectLeaks();
  let fake: FakeEmbeddings;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeEmbeddings();
    const env = { EMBEDDING_BASE_URL: fake.baseUrl, EMBEDDING_API_KEY: 'sk-test-0123456789' };
    gateway = await startTestGateway({ env, dataDir: folder.path });
  });
  beforeEach(() => fake.reset());
  afterAll(async () => {
    await gateway.stop();
    await fake.close();
    folder.remove();
    await assertNoLeaks();
  });
  return async () => ({
    fake,
    gateway,
    dataDir: folder.path,
    knowledge: await createKnowledge(gateway, { chunkSize: 60, chunkOverlap: 0 }),
  });
}
const sentences = (count: number) =>
  Array.from({ length: count }, (_, index) => `The article of number ${index} is on the shelf.`);

describe('An embeddings endpoint', () => {
  const start = useGateway();

  test('embeds each chunk once, with the selected model', async () => {
    const { fake, knowledge } = await start();
    const dataset = await knowledge.add('long.txt', sentences(MORE_THAN_A_BATCH).join(' '));
    expect(dataset).toMatchObject({
      status: 'ready',
      chunkCount: MORE_THAN_A_BATCH,
      embeddedCount: MORE_THAN_A_BATCH,
      encoder: 'text-embedding-3-small',
    });
    expect([...fake.embedded.keys()].sort()).toEqual(sentences(MORE_THAN_A_BATCH).sort());
    expect(new Set(fake.embedded.values())).toEqual(new Set([1]));
    expect(new Set(fake.requests.map(({ model }) => model))).toEqual(new Set(['text-embedding-3-small']));
    const { body } = await knowledge.query('article number 117', { topK: '1' });
    expect(body[0].content).toContain('117');
  });

  test.each([
    ['the key', { status: 401 }, /key/],
    ['the model', { status: 404, body: { error: { message: 'no such model' } } }, /model/],
  ])('that rejects %s fails the dataset with the reason, and a query with 500', async (_, answer, reason) => {
    const { fake, knowledge } = await start();
    fake.answerWith(answer);
    const dataset = await knowledge.add('a.txt', 'Some words.');
    expect(dataset).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) });
    expect(JSON.stringify(dataset)).not.toContain('sk-test');

    await knowledge.add('b.txt', 'Other words.');
    fake.answerWith(answer);
    expect(await knowledge.query('words')).toMatchObject({ status: 500, body: { code: 'model_rejected' } });
  });

  test('that is down is named by the dataset, which is tried again on request', async () => {
    const { fake, gateway, knowledge } = await start();
    const key = knowledge.project.developerKey;
    fake.answerWith(...Array<{ status: number }>(100).fill({ status: 503 }));
    const { body } = await knowledge.upload('a.txt', 'Some words.');
    const path = `${knowledge.path}/datasets/${body.datasetId}`;
    const find = async () => (await gateway.api('GET', path, { key })).body;
    await expect.poll(find, { timeout: 60_000 }).toMatchObject({
      status: 'processing',
      error: expect.stringContaining('503'),
      nextAttemptAt: expect.any(String),
    });
    fake.clearPlan();
    expect(await gateway.api('POST', `${path}/retry`, { key })).toMatchObject({ status: 202 });
    const ready = await knowledge.waitUntilProcessed(body.datasetId);
    expect(ready).toMatchObject({ status: 'ready', embeddedCount: 1 });
    expect(ready).not.toHaveProperty('error');
    expect(await gateway.api('POST', `${path}/retry`, { key })).toMatchObject({
      status: 409,
      body: { code: 'dataset_ready' },
    });

    fake.answerWith({ status: 401 });
    const failed = await knowledge.add('b.txt', 'Other words.');
    expect(failed).toMatchObject({ status: 'failed' });
    await gateway.api('POST', `${knowledge.path}/datasets/${failed.id}/retry`, { key });
    expect(await knowledge.waitUntilProcessed(failed.id)).toMatchObject({ status: 'ready', chunkCount: 1 });
    expect((await knowledge.query('Other words')).body[0]).toMatchObject({ content: 'Other words.' });
  });
});

describe('The removal of a dataset', () => {
  const start = useGateway();

  test('of a project removes its files', async () => {
    const { gateway, dataDir, knowledge } = await start();
    const kept = await createKnowledge(gateway);
    await knowledge.add('a.txt', 'Some words.');
    const { body } = await kept.upload('b.txt', 'Other words.');
    await kept.waitUntilProcessed(body.datasetId);
    expect((await gateway.api('DELETE', knowledge.project.path)).status).toBe(204);
    // The next removal or the sweep removes it.
    await gateway.api('DELETE', `${kept.path}/datasets/${body.datasetId}`, {
      key: kept.project.developerKey,
    });
    expect(readdirSync(join(dataDir, 'uploads'))).toEqual([]);
  });

  test('removes the file and stops a running ingestion', async () => {
    const { fake, gateway, dataDir, knowledge } = await start();
    const files = () => readdirSync(join(dataDir, 'uploads'));
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    fake.onRequest = () => held;
    const { body } = await knowledge.upload('a.txt', sentences(300).join(' '));
    await expect.poll(() => fake.requests.length, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(files()).toHaveLength(1);

    const key = knowledge.project.developerKey;
    expect(
      (await gateway.api('DELETE', `${knowledge.path}/datasets/${body.datasetId}`, { key })).status,
    ).toBe(204);
    expect(files()).toEqual([]);
    goOn();

    // The next one is not delayed.
    expect(await knowledge.add('b.txt', 'Some words.')).toMatchObject({ status: 'ready' });
    expect((await gateway.api('GET', `${knowledge.path}/datasets`, { key })).body).toHaveLength(1);
    expect(files()).toHaveLength(1);
  });
});

test('a worker node ingests a document that another node received, from their shared bucket', async () => {
  const [fake, objects] = await Promise.all([startFakeEmbeddings(), startObjectStore()]);
  onTestFinished(() => fake.close());
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  onTestFinished(async () => {
    await Promise.all([database.drop(), redis.drop()]);
  });
  const shared = {
    ...objects.env,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    EMBEDDING_BASE_URL: fake.baseUrl,
    CALLWAY_ADMIN_TOKEN: 'the-token-of-the-operator',
    SECRETS_KEY: Buffer.alloc(32, 5).toString('base64'),
  };
  const [takingDir, workingDir] = [tempDir(), tempDir()];
  const taking = await startTestGateway({ env: { ...shared, ROLES: 'api' }, dataDir: takingDir });
  onTestFinished(() => taking.stop());
  const working = await startTestGateway({ env: { ...shared, ROLES: 'api,worker' }, dataDir: workingDir });
  onTestFinished(() => working.stop());
  const knowledge = await createKnowledge(taking, { chunkSize: 60, chunkOverlap: 0 });
  const dataset = await knowledge.add('a.txt', sentences(20).join(' '));
  expect(dataset).toMatchObject({ status: 'ready', chunkCount: 20, embeddedCount: 20 });
  expect(existsSync(join(takingDir, 'uploads'))).toBe(false);
  expect(readdirSync(join(workingDir, 'documents-in-use'))).toEqual([]);
  const removed = await taking.api('DELETE', `${knowledge.path}/datasets/${dataset.id}`, {
    key: knowledge.project.developerKey,
  });
  expect(removed.status).toBe(204);
});
