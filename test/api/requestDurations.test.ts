import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createHttpMetrics } from '../../src/api/metrics.ts';
import { createRequestDurations } from '../../src/api/requestDurations.ts';
import { buildMetrics } from '../../src/app/metrics.ts';

const NAME = 'callway_http_request_duration_seconds';
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const REQUESTS = [
  [{ method: 'GET', route: '/healthz', status: 200 }, 0.0004],
  [{ method: 'GET', route: '/healthz', status: 200 }, 0.001],
  [{ method: 'GET', route: '/healthz', status: 503 }, 0.0025],
  [{ method: 'PATCH', route: '/v1/projects/:projectId/agent', status: 200 }, 0.3],
  [{ method: 'PATCH', route: '/v1/projects/:projectId/agent', status: 200 }, 31],
  [{ method: 'PATCH', route: '/v1/projects/:projectId/agent', status: 200 }, 0],
  [{ method: 'GET', route: 'a "quoted"\\path\n', status: 404 }, 29.999],
] as const;

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(NAME))
    .sort();

it('counts and writes what prom-client’s histogram does', async () => {
  const peer = new Histogram({
    name: NAME,
    help: 'x',
    labelNames: ['method', 'route', 'status'],
    buckets: BOUNDS,
    registers: [],
  });
  const registry = new Registry();
  registry.registerMetric(peer);
  const own = createRequestDurations();
  for (const [labels, seconds] of REQUESTS) {
    own.observe(labels, seconds);
    peer.observe(labels, seconds);
  }

  // The order of labels means nothing to Prometheus.
  const sorted = (line: string) =>
    line.replace(
      /\{(.*)\}/s,
      (_, labels: string) =>
        `{${labels
          .split(/,(?=\w+=")/)
          .sort()
          .join(',')}}`,
    );
  expect(linesOf(own.render()).map(sorted).sort()).toEqual(
    linesOf(await registry.metrics())
      .map(sorted)
      .sort(),
  );
});

it('stands among the other metrics, each line of its own', async () => {
  const metrics = createHttpMetrics(buildMetrics());
  metrics.requestDone({ method: 'GET', route: '/healthz', status: 200 }, 0.002);

  const text = await metrics.render();

  expect(text).toMatch(/^# TYPE callway_http_request_duration_seconds histogram$/m);
  expect(text).toContain(`${NAME}_bucket{method="GET",route="/healthz",status="200",le="0.0025"} 1\n`);
  expect(text).toMatch(/^process_cpu_seconds_total /m);
  expect(text.endsWith('\n')).toBe(true);
});
