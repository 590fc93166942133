import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openBucket } from '../../../src/infra/objectStore/bucket.ts';
import { HOSTILE_ANSWERS, HOSTILE_ERRORS, startHostileServer } from '../../support/hostileAnswers.ts';
import { serveOnLoopback } from '../../support/loopbackServer.ts';

function bucketAt(port: number, silenceMs?: number) {
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = openBucket({
    bucket: 'b',
    region: 'r',
    endpoint,
    credentials,
    forcePathStyle: true,
    silenceMs,
  });
  onTestFinished(() => bucket.close());
  return bucket;
}

/** Of three attempts. */
const MAX_SENT_BYTES = 64 * 1024 * 1024;

describe('A store that answers without end', () => {
  test.each(
    Object.entries({
      ...HOSTILE_ERRORS,
      document: HOSTILE_ANSWERS['of no type'] ?? HOSTILE_ERRORS['in chunks'],
    }),
  )('is read to a bound: %s', async (_, answer) => {
    if (!answer) throw new Error('there is no such answer');
    const server = await startHostileServer(answer());
    onTestFinished(() => server.close());
    const bucket = bucketAt(server.port);
    const before = process.memoryUsage().rss;
    await bucket.remove('key').catch(() => undefined);
    await bucket.read('key').then(
      (object) => object?.destroy(),
      () => undefined,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect(server.sentBytes()).toBeLessThan(MAX_SENT_BYTES);
    await expect.poll(() => server.open()).toBe(0);
  });
});

test('A store that does not answer fails what is asked of it', async () => {
  const server = await serveOnLoopback(() => undefined);
  onTestFinished(() => server.close());
  const bucket = bucketAt(server.port, 50);
  const asked = [
    bucket.put('key', Readable.from(['text']), 'text/plain'),
    bucket.lengthOf('key'),
    bucket.read('key'),
    bucket.remove('key'),
  ];
  for (const { status } of await Promise.allSettled(asked)) expect(status).toBe('rejected');
});
