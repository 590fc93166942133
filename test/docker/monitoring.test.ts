import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createHttpMetrics } from '../../src/api/metrics.ts';
import { buildMetrics } from '../../src/app/node/metrics.ts';
import { systemClock } from '../../src/base/values/clock.ts';
import type { NodeCapacity } from '../../src/calls/limits/nodeCapacity.ts';
import type { OverloadMonitor } from '../../src/calls/limits/overloadMonitor.ts';
import { ProviderHealth } from '../../src/models/failover/providerHealth.ts';
import { renderPlayoutDelay } from '../../src/observability/metrics/playout.ts';
import { renderSipServerMetrics } from '../../src/observability/metrics/sip.ts';
import type { VoiceThreads } from '../../src/voice/threads/voiceThreads.ts';
import { unused } from '../support/unused.ts';

const read = (path: string) =>
  readFileSync(new URL(`../../docker/monitoring/${path}`, import.meta.url), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
interface Panel {
  type: string;
  title: string;
  gridPos: { h: number; w: number; x: number; y: number };
  datasource?: { uid: string };
  targets?: { expr: string }[];
}

const rules: Rule[] = parse(read('alerts.yaml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const dashboard: { panels: Panel[] } = JSON.parse(read('grafana/dashboards/callway.json'));
const queries = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** The metrics of a node with all roles. */
async function page(): Promise<string> {
  const parts = new Map([['main', { isLate: false, streak: 0, delayMs: 0 }]]);
  const overload = unused<OverloadMonitor>('overload', { parts });
  const metrics = buildMetrics(
    new ProviderHealth({
      expected: [{ model: 'chat', provider: 'openai' }],
      clock: systemClock,
      onChange: () => undefined,
    }),
  );
  metrics.trunks({ publish: async () => undefined, read: async () => new Map() }, () => 0);
  metrics.watchNode({ queues: async () => new Map(), sessions: () => 0, overload });
  metrics.watchSurroundings({
    dependencies: async () => new Map([['database', true]]),
    disk: async () => ({ freeBytes: 1, sizeBytes: 2 }),
    clockOffsetMs: async () => 0,
    webhookDelayMs: async () => 0,
    certificateEndMs: async () => 0,
  });
  const thread = {
    number: 1,
    nodeId: 'node/voice-1',
    port: 1,
    sessions: 0,
    delay: { waitMs: 0, p99Ms: 1, maxMs: 2 },
  };
  metrics.watchVoiceThreads(unused<VoiceThreads<unknown>>('threads', { running: [thread] }));
  metrics.watchCalls({
    capacity: unused<NodeCapacity>('capacity', { inUse: 0, limit: 1 }),
    mediaSessions: () => 0,
    ports: { used: () => 0, limit: 2 },
  });
  const texts = [
    async () => renderPlayoutDelay([new Float64Array(401)]),
    async () => renderSipServerMetrics({}),
  ];
  const shown = createHttpMetrics({ ...metrics, texts });
  shown.countLegacyRequest({ project: 'p', route: '/project' });
  shown.observeRequest({ method: 'GET', route: '/v1/projects', status: 200 }, 0.1);
  return await shown.render();
}

/** Every metric by its type, without the parts of histograms. */
async function types(): Promise<Map<string, string>> {
  const lines = (await page()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  return new Map([...lines].map(([, name = '', type = '']) => [name, type]));
}

test.each(queries)('%s queries metrics that exist', async (_title, expr) => {
  const known = await types();
  const asked = [...expr.matchAll(/\b(?:callway|nodejs|process)_\w+/g)].map(([name]) => name);
  const isKnown = (name: string) => known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, ''));
  expect(asked.filter((name) => !isKnown(name))).toEqual([]);
  expect(asked.length > 0 || expr.startsWith('up')).toBe(true);
});

describe('metrics', () => {
  /** @see https://prometheus.io/docs/practices/naming/ */
  test('follow the naming rules: prefix, base units, and _total for counters', async () => {
    for (const [name, type] of await types()) {
      expect(name).toMatch(/^(callway|nodejs|process)(_[a-z0-9]+)+$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      expect(name).not.toMatch(/_(bucket|sum|count|ms|milliseconds|minutes|kb|mb|megabytes|percent)(_|$)/);
    }
  });

  test('have help texts, and labels in the same style', async () => {
    const text = await page();
    for (const name of (await types()).keys())
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.{8}`, 'm'));
    const labels = [...text.matchAll(/[{,](\w+)="/g)].map(([, label = '']) => label);
    expect(labels.length).toBeGreaterThan(50);
    for (const label of new Set(labels)) expect(label).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
  });
});

describe('alerts', () => {
  test('have series for the SIP server’s counters before the first event', async () => {
    const watched = rules.flatMap(({ expr }) => /event=~"([^"]+)"/.exec(expr)?.[1]?.split('|') ?? []);
    expect(watched.length).toBeGreaterThan(0);
    const text = await page();
    for (const event of watched) expect(text).toContain(`callway_sip_events_total{event="${event}"} 0`);
  });
});
