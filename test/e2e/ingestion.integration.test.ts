import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startFakeEmbeddings } from '../support/fakeEmbeddings.ts';
import { createClient } from '../support/gateway.ts';
import { createKnowledge } from '../support/knowledge.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startService } from '../support/processes.ts';
import { redisDatabase } from '../support/redis.ts';
import { tempDir } from '../support/tempDir.ts';

const CHUNKS = 1000;
const SENTENCES = Array.from(
  { length: CHUNKS },
  (_, index) => `The article of number ${index} is on the shelf.`,
);

test('ingestion resumes after kill -9 and embeds no stored chunk again', {
  timeout: 240_000,
}, async () => {
  const fake = await startFakeEmbeddings();
  onTestFinished(() => fake.close());
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  onTestFinished(async () => {
    await Promise.all([database.drop(), redis.drop()]);
  });
  const dataDir = tempDir();
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    EMBEDDING_BASE_URL: fake.baseUrl,
    ROLES: 'api,worker',
  };
  const start = async () => {
    const service = await startService({ dataDir, env });
    onTestFinished(() => service.close());
    const token = readFileSync(join(dataDir, 'admin-token'), 'utf8').trim();
    return { service, client: await createClient(service.url, token) };
  };
  const first = await start();
  const knowledge = await createKnowledge(first.client, { chunkSize: 60, chunkOverlap: 0 });
  const find = async (client: typeof first.client, id: string) =>
    (await client.api('GET', `${knowledge.path}/datasets/${id}`, { key: knowledge.project.developerKey }))
      .body;
  // Slow enough to be killed midway.
  fake.onRequest = () => new Promise((resolve) => setTimeout(resolve, 300));
  const { body } = await knowledge.upload('long.txt', SENTENCES.join(' '));
  await expect
    .poll(async () => (await find(first.client, body.datasetId)).embeddedCount, { timeout: 60_000 })
    .toBeGreaterThan(300);
  const { embeddedCount } = await find(first.client, body.datasetId);
  await first.service.kill();
  // The endpoint keeps answering and counting the dead process's requests.
  await expect.poll(() => fake.pendingRequests).toBe(0);
  const paidBefore = new Map(fake.embedded);

  const second = await start();
  await expect
    .poll(async () => (await find(second.client, body.datasetId)).status, { timeout: 120_000, interval: 500 })
    .toBe('ready');
  expect(await find(second.client, body.datasetId)).toMatchObject({
    chunkCount: CHUNKS,
    embeddedCount: CHUNKS,
  });
  expect(fake.embedded.size).toBe(CHUNKS);
  const twice = [...fake.embedded.values()].filter((count) => count > 1).length;
  // Only chunks that were answered but not stored at the kill may be embedded again.
  expect(twice).toBeLessThanOrEqual(paidBefore.size - embeddedCount);
  expect(Math.max(...fake.embedded.values())).toBeLessThanOrEqual(2);
});
