import Fastify, { type FastifyContextConfig } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { replyWithError } from '../../../src/api/errors.ts';
import { shareFairly } from '../../../src/api/plugins/fairness.ts';
import type { App } from '../../../src/api/ports.ts';
import { ComputeShares } from '../../../src/base/async/computeShares.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

let app: App;
let clock: SimulatedClock;
let running: { readonly projectId: string; readonly finish: () => void }[];

beforeEach(() => {
  clock = createSimulatedClock();
  running = [];
  app = Fastify().withTypeProvider<ZodTypeProvider>();
  app.removeAllContentTypeParsers();
  app.setErrorHandler(replyWithError);
  app.decorateRequest('principal', undefined);
  app.addHook('onRequest', async (request) => {
    const projectId = String(request.headers.project);
    request.principal = { kind: 'secret', keyId: 'k', hint: '', projectId, scopes: [] };
  });
  // Each body takes 40 ms.
  const startStopwatch = () => ({ elapsedMs: () => 40 });
  shareFairly(app, { shares: new ComputeShares({ clock, startStopwatch }) });
  const routes: Record<string, FastifyContextConfig> = {
    '/': {},
    '/search': { isSearch: true },
    '/chat': { isLong: true },
  };
  for (const [url, config] of Object.entries(routes))
    app.post(url, { config }, async ({ principal }) => {
      const projectId = principal && principal.kind !== 'admin' ? principal.projectId : '';
      await new Promise<void>((finish) => running.push({ projectId, finish }));
      return {};
    });
});
afterEach(() => app.close());

const send = (project: string, url = '/', body: object = {}) =>
  app
    .inject({ method: 'POST', url, headers: { project }, payload: body })
    .then(({ statusCode }) => statusCode);
const runningOf = (project: string) => running.filter(({ projectId }) => projectId === project).length;
const untilRunning = (project: string, count: number) =>
  vi.waitFor(() => expect(runningOf(project)).toBe(count));

test.each([
  ['/', 8],
  ['/search', 2],
])(
  'A project has few requests to %s at work; its others wait, and those of other projects do not',
  async (url, atOnce) => {
    const busy = Array.from({ length: 20 }, () => send('busy', url));
    await untilRunning('busy', atOnce);
    const quiet = send('quiet', url);
    await untilRunning('quiet', 1);
    for (let finished = 0; finished < 21; finished += 1) {
      await vi.waitFor(() => expect(running.length).toBeGreaterThan(0));
      expect(runningOf('busy')).toBeLessThanOrEqual(atOnce);
      running.shift()?.finish();
    }
    expect(await Promise.all([...busy, quiet])).toEqual(Array(21).fill(200));
  },
);

test('Requests that wait for a model are not counted', async () => {
  const chats = Array.from({ length: 20 }, () => send('p', '/chat'));
  await untilRunning('p', 20);
  const other = send('p');
  await untilRunning('p', 21);
  for (const { finish } of running) finish();
  expect(await Promise.all([...chats, other])).toEqual(Array(21).fill(200));
});

test('Too many requests that wait are refused', async () => {
  const sent = Array.from({ length: 509 }, () => send('p'));
  expect(await Promise.race(sent)).toBe(429);
  await untilRunning('p', 8);
  for (let finished = 0; finished < 508; finished += 1) {
    await vi.waitFor(() => expect(running.length).toBeGreaterThan(0));
    running.shift()?.finish();
  }
  expect((await Promise.all(sent)).filter((status) => status === 200)).toHaveLength(508);
});

test('Large bodies take turns by what the project has taken of the event loop', async () => {
  const large = { text: 'x'.repeat(100_000) };
  // A first one may have met a garbage collection.
  const first = send('p', '/', large);
  await untilRunning('p', 1);
  const second = send('p', '/', large);
  await untilRunning('p', 2);
  const third = send('p', '/', large);
  const [small, others] = [send('p'), send('q', '/', large)];
  await untilRunning('q', 1);
  await untilRunning('p', 3);
  clock.advance(60_000);
  await untilRunning('p', 4);
  for (const { finish } of running) finish();
  expect(await Promise.all([first, second, third, small, others])).toEqual(Array(5).fill(200));
});
