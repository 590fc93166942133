import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { freshConsole } from '../scripts/lib/consoleBuild.mjs';
import { freshBuild } from '../scripts/lib/serviceBuild.mjs';
import { startChromium } from '../test/console/support/chromium.ts';
import { createClient } from '../test/support/gateway.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { startService } from '../test/support/processes.ts';
import { startRedis } from '../test/support/redis.ts';
import { largePathway, seedCalls, seedLongCall, writeRecording } from './console/seed.ts';
import { median, rangeOf } from './support/statistics.ts';

/**
 * `npm run bench:console`: the pages of the console that show much, in Chromium on loopback. The page of a two-hour call is
 * to open within 1.5 s, a canvas of 300 nodes to pan at 55 frames a second, and a list of 100,000 calls to page in 100 ms.
 * On a machine that does other work, compare with the simple page of the same run.
 */
const CALL_SECONDS = 7_200;
const CALLS = 100_000;
const NODES = 300;
const ROUNDS = 5;
const PAN_MS = 3_000;
const READY_TIMEOUT_MS = 120_000;

const entry = await freshBuild();
if (entry === undefined) throw new Error('the service could not be built: npm run build tells why');
await freshConsole();
const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '1000000' };
const service = await startService({ entry, env, readyTimeoutMs: READY_TIMEOUT_MS });
const database = new pg.Client({ connectionString: postgres.url });
const browser = await startChromium();
try {
  await measure();
} finally {
  await browser.close();
  await database.end();
  await service.close();
  await Promise.all([postgres.close(), redis.close()]);
}

async function measure(): Promise<void> {
  const token = readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim();
  const client = await createClient(service.url, token);
  const project = await client.createProject('Measured');
  await database.connect();
  const { callId, key } = await seedLongCall(database, project.id, CALL_SECONDS);
  writeRecording(join(service.dataDir, 'recordings', key), CALL_SECONDS);
  await seedCalls(database, project.id, CALLS);
  await client.api('PUT', `${project.path}/pathway`, {
    key: project.developerKey,
    body: largePathway(NODES),
  });

  const shown = await client.api('GET', `${project.path}/calls/${callId}/timeline`, {
    key: project.developerKey,
  });
  if (shown.status !== 200) throw new Error(service.lines.slice(-5).join('\n'));

  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.request.post(`${service.url}/console/session`, { data: { token } });
  const base = `${service.url}/console/projects/${project.id}`;
  await page.goto(`${base}/webhooks`);

  const simple = await opened(page, `${base}/webhooks`, 'h1');
  tell('simple page', simple, 'ms');
  tell(
    'page of a two-hour call',
    await opened(page, `${base}/calls/${callId}`, 'section[aria-label="Transcript"] button'),
    'ms',
  );
  tell(
    'page of a two-hour call, with its waveform',
    await opened(page, `${base}/calls/${callId}`, 'canvas'),
    'ms',
  );
  await page.goto(`${base}/agent`);
  await page.locator('.react-flow__node').first().waitFor();
  tell('canvas of 300 nodes', await framesWhilePanning(page), 'frames/s');
  await page.setContent('<p style="height: 5000px">A simple page</p>');
  tell('simple page', await framesWhilePanning(page), 'frames/s');

  const list = `${project.path}/calls?limit=50`;
  const ask = (query: string) => client.api('GET', `${list}${query}`, { key: project.developerKey });
  tell('list of 100,000 calls, first page', await timed(() => ask('')), 'ms');
  tell('list of 100,000 calls, in the middle', await timed(() => ask('&offset=50000')), 'ms');
  const { body } = await ask('&offset=50000');
  const cursor = encodeURIComponent(body.pagination.nextCursor);
  tell('list of 100,000 calls, by cursor', await timed(() => ask(`&cursor=${cursor}`)), 'ms');
  tell('simple request', await timed(() => client.api('GET', project.path, {})), 'ms');
}

/** From the navigation until the element is there. The scripts are in the browser's cache. */
async function opened(page: Page, url: string, selector: string): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator(selector).first().waitFor();
    times.push(performance.now() - startedMs);
  }
  return times;
}

/** Moves the mouse with its button down, and counts the frames. */
async function framesWhilePanning(page: Page): Promise<number[]> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { x, y } = await placeToPanFrom(page);
    await page.mouse.move(x, y);
    await page.mouse.down();
    const counting = page.evaluate(
      `new Promise((done) => {
        const startedMs = performance.now();
        let frames = 0;
        const next = () => {
          frames += 1;
          const passedMs = performance.now() - startedMs;
          passedMs < ${PAN_MS} ? requestAnimationFrame(next) : done((frames / passedMs) * 1000);
        };
        requestAnimationFrame(next);
      })`,
    );
    const pan = { isOver: false };
    const moving = (async () => {
      for (let step = 0; !pan.isOver; step += 1) {
        await page.mouse.move(x + 250 * Math.sin(step / 12), y + 150 * Math.sin(step / 17));
        await sleep(8);
      }
    })();
    rates.push(Number(await counting));
    pan.isOver = true;
    await moving;
    await page.mouse.up();
  }
  return rates;
}

/** Beside the nodes, which would be dragged in place of the canvas. */
async function placeToPanFrom(page: Page): Promise<{ readonly x: number; readonly y: number }> {
  return await page.evaluate(
    `(() => {
      for (let x = 700; x < 800; x += 4)
        for (let y = 500; y < 600; y += 4)
          if (!document.elementFromPoint(x, y).closest('.react-flow__node, .react-flow__edge')) return { x, y };
      throw new Error('the canvas has no free place');
    })()`,
  );
}

async function timed(work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 4 * ROUNDS; round += 1) {
    const startedMs = performance.now();
    await work();
    times.push(performance.now() - startedMs);
  }
  return times;
}

function tell(what: string, values: readonly number[], unit: string): void {
  console.log(`${what}: ${median(values).toFixed(0)} ${unit} (${rangeOf(values, 0)})`);
}
