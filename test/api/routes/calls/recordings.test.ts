import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseRange } from '../../../../src/api/routes/calls/recordings.ts';
import { systemClock } from '../../../../src/base/values/clock.ts';
import type { ByteRange } from '../../../../src/calls/recording/recordingStore.ts';
import { createRecordingUrls } from '../../../../src/calls/recording/recordingUrls.ts';
import { localRecordings } from '../../../../src/infra/objectStore/recordings/localRecordings.ts';
import { nodeRecordings } from '../../../../src/infra/objectStore/recordings/nodeRecordings.ts';
import { startTestServer, type TestServer } from '../../../support/httpServer.ts';
import { reservePort } from '../../../support/ports.ts';
import { makeTempDir } from '../../../support/tempDir.ts';

const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251));

const folder = makeTempDir();
let nowMs: number;
const signed = createRecordingUrls({
  secretsKey: new Uint8Array(32).fill(7),
  publicUrl: () => 'http://callway.test',
  now: () => nowMs,
});
let server: TestServer;
let path: string;

beforeAll(async () => {
  const store = localRecordings(join(folder.path, 'kept'));
  const part = join(folder.path, 'call.wav');
  writeFileSync(part, BYTES);
  await store.save(part, 'project/call.wav');
  server = await startTestServer({ recordings: { store, urls: signed } });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  path = new URL(signed.sign('project/call.wav')).pathname;
});

const get = (at: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.url + at, { headers, method });

describe('GET /v1/recordings/{token}', () => {
  it('returns the whole recording without a key', async () => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      'content-disposition': 'inline; filename="call.wav"',
      'cache-control': 'no-store',
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES);
  });

  it.each([
    ['bytes=100-199', 100, 199],
    ['bytes=-10', 990, 999],
  ])('returns %s as bytes %d to %d', async (range, first, last) => {
    const answer = await get(path, { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${last}/1000`);
    expect(answer.headers.get('content-length')).toBe(String(last - first + 1));
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(BYTES.subarray(first, last + 1));
  });

  it.each(['bytes=1000-', 'bytes=-0'])('returns 416 and the length for %s', async (range) => {
    const answer = await get(path, { range });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */1000');
    expect(await answer.json()).toEqual({
      error: 'The recording has 1000 bytes',
      code: 'range_not_satisfiable',
    });
  });

  it.each<Record<string, string>>([{ range: 'bytes=0-1,5-6' }, { range: 'bytes=0-9', 'if-range': '"tag"' }])(
    'returns the whole recording for %o',
    async (headers) => {
      const answer = await get(path, headers);
      expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 1000]);
    },
  );

  it('answers HEAD with headers only', async () => {
    const answer = await get(path, {}, 'HEAD');
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '1000']);
  });

  it('refuses a link that is changed, expired, or signed with another key', async () => {
    const token = path.split('/').at(-1) ?? '';
    const [name = '', expires = '', signature = ''] = token.split('.');
    const other = Buffer.from('project/other.wav').toString('base64url');
    const stranger = createRecordingUrls({
      secretsKey: new Uint8Array(32).fill(8),
      publicUrl: () => '',
      now: () => nowMs,
    });
    for (const wrong of [
      `/v1/recordings/${other}.${expires}.${signature}`,
      `/v1/recordings/${name}.${Number(expires) + 1}.${signature}`,
      '/v1/recordings/x',
      stranger.sign('project/call.wav'),
    ]) {
      const answer = await get(wrong);
      expect([wrong, answer.status, await answer.json()]).toMatchObject([
        wrong,
        403,
        { code: 'recording_url_invalid' },
      ]);
    }
    nowMs += 3_599_000;
    expect((await get(path)).status).toBe(200);
    nowMs += 1_000;
    const late = await get(path);
    expect([late.status, await late.json()]).toMatchObject([403, { code: 'recording_url_expired' }]);
  });

  it('accepts a link signed with a previous key', () => {
    const options = { publicUrl: () => '', now: () => nowMs };
    const [older, newer] = [7, 8].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
    const token =
      createRecordingUrls({ ...options, secretsKey: older })
        .sign('a.wav')
        .split('/')
        .at(-1) ?? '';
    const turning = createRecordingUrls({ ...options, secretsKey: newer, previousKeys: [older] });
    expect(turning.verify(token)).toBe('a.wav');
    expect(() => createRecordingUrls({ ...options, secretsKey: newer }).verify(token)).toThrow('not valid');
  });

  it('returns 404 for a deleted recording', async () => {
    const gone = new URL(signed.sign('project/gone.wav')).pathname;
    expect((await get(gone)).status).toBe(404);
  });
});

describe('The Range header', () => {
  it.each([
    [undefined, undefined],
    ['bytes=0-99', { first: 0, last: 99 }],
    ['bytes=100-', { first: 100 }],
    ['bytes=-50', { suffixLength: 50 }],
    ['bytes=5-4', undefined],
    ['bytes=0-1,5-6', undefined],
    ['bytes=-', undefined],
    ['bytes=a-b', undefined],
    ['lines=0-9', undefined],
    ['bytes=0-99999999999999999', undefined],
  ])('is parsed: %s', (header, range) => {
    expect(parseRange(header)).toEqual(range);
  });
});

describe('A node without the recording', () => {
  const local = localRecordings(join(folder.path, 'of this node'));
  const deps = { local, isKept: async (key: string) => key !== 'project/erased.wav', clock: systemClock };
  const opened = (key: string, range?: ByteRange) => {
    const locate = async () => server.url + new URL(signed.sign(key)).pathname;
    return nodeRecordings({ ...deps, locate }).open(key, range);
  };

  it.each([
    [{ first: 100, last: 199 }, 100, 199],
    [{ suffixLength: 10 }, 990, 999],
  ])('reads %o from the node that has it', async (range, first, last) => {
    const recording = await opened('project/call.wav', range);
    expect(recording).toMatchObject({ totalBytes: 1000, first, last });
    expect(recording && (await buffer(recording.stream))).toEqual(BYTES.subarray(first, last + 1));
  });

  it('tells what the other node refuses', async () => {
    expect(await opened('project/gone.wav')).toBeUndefined();
    expect(await opened('project/erased.wav')).toBeUndefined();
    const refused = opened('project/call.wav', { first: 1000 });
    await expect(refused).rejects.toMatchObject({ name: 'RangeNotSatisfiableError', totalBytes: 1000 });
  });

  it.each([
    ['is unknown', async () => undefined],
    ['has failed', async () => `http://127.0.0.1:${await reservePort()}/v1/recordings/x`],
    ['refuses the link', async () => `${server.url}/v1/recordings/x`],
  ])('is 503 where the node that has it %s', async (_what, locate) => {
    const store = nodeRecordings({ ...deps, locate });
    const failure = { category: 'unavailable', code: 'recording_unavailable' };
    await expect(store.open('project/call.wav')).rejects.toMatchObject(failure);
  });
});
