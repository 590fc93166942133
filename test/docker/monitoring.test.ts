import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { buildMetrics } from '../../src/gateway/metrics.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { playoutLateness } from '../../src/metrics/playout.ts';
import { sipServerCounts } from '../../src/metrics/sip.ts';

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

/** Every name that a node of all roles shows, without the parts of histograms. */
async function names(): Promise<Set<string>> {
  const metrics = buildMetrics();
  metrics.trunks({ publish: async () => undefined }, () => 0);
  metrics.watchNode({
    queues: async () => new Map(),
    talks: () => 0,
    calls: { admission: { inUse: 0, limit: 1 }, mediaSessions: () => 0, ports: { used: () => 0, limit: 2 } },
  });
  const page = await createMetrics({
    ...metrics,
    texts: [async () => playoutLateness([new Float64Array(401)]), async () => sipServerCounts({})],
  }).render();
  return new Set([...page.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name));
}

test.each(queries)('%s asks for numbers that there are', async (_title, expr) => {
  const known = await names();
  const asked = [...expr.matchAll(/\b(?:callway|nodejs|process)_\w+/g)].map(([name]) => name);
  const isKnown = (name: string) => known.has(name) || known.has(name.replace(/_(bucket|sum|count)$/, ''));
  expect(asked.filter((name) => !isKnown(name))).toEqual([]);
  expect(asked.length > 0 || expr.startsWith('up')).toBe(true);
});

describe('alerts', () => {
  test('have names of their own, and say how bad it is and what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule.for).toMatch(/^\d+m$/);
      expect(['page', 'ticket']).toContain(rule.labels.severity);
      expect(rule.annotations.summary.length).toBeGreaterThan(10);
      expect(rule.annotations.runbook.length).toBeGreaterThan(40);
      expect(rule.annotations.runbook).not.toContain('\n\n');
    }
  });
});

describe('the dashboard', () => {
  test('asks the data source that is provisioned', () => {
    const { datasources } = parse(read('grafana/provisioning/datasources/prometheus.yaml'));
    const graphs = dashboard.panels.filter(({ type }) => type === 'timeseries');
    expect(graphs.length).toBeGreaterThan(10);
    for (const { datasource } of graphs) expect(datasource?.uid).toBe(datasources[0].uid);
    const { providers } = parse(read('grafana/provisioning/dashboards/callway.yaml'));
    const { services } = parse(read('compose.yaml'));
    expect(services.grafana.volumes.join()).toContain(`:${providers[0].options.path}:ro`);
    expect(readdirSync(new URL('../../docker/monitoring/grafana/dashboards', import.meta.url))).toEqual([
      'callway.json',
    ]);
  });

  test('has panels that do not lie over each other, within 24 columns', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: h * w }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });
});
