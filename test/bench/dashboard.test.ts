import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { metricsIn, nameOf, readDashboard, withInterval } from '../../bench/dashboard/panels.ts';
import { type Drawn, drawDashboard, roundUp, shown } from '../../bench/dashboard/picture.ts';

const TIME = { fromSeconds: 100, toSeconds: 200 };
const panel = (more: Partial<Drawn> = {}): Drawn => ({
  type: 'timeseries',
  title: 'Calls <now>',
  place: { x: 0, y: 0, w: 6, h: 8 },
  unit: 'short',
  targets: [],
  curves: [],
  ...more,
});

describe('the dashboard of docker/', () => {
  const path = new URL('../../docker/monitoring/grafana/dashboards/callway.json', import.meta.url);

  test('is parsed with its rows, units and queries', () => {
    const { title, panels } = readDashboard(readFileSync(path, 'utf8'));
    expect(title).toBe('Callway');
    expect(panels[0]).toMatchObject({ type: 'row', title: 'Calls', targets: [] });
    expect(panels[1]).toMatchObject({
      title: 'Calls now',
      place: { x: 0, y: 1, w: 6, h: 8 },
      unit: 'short',
      targets: [
        { expr: 'sum by (direction) (callway_calls_active)', legend: '{{direction}}' },
        { expr: 'sum(callway_media_sessions_active)', legend: 'sessions of audio' },
      ],
    });
  });

  test('with unsupported kinds of panels is refused', () => {
    const gauge = { type: 'gauge', title: 'x', gridPos: { x: 0, y: 0, w: 1, h: 1 } };
    expect(() => readDashboard(JSON.stringify({ title: 't', panels: [gauge] }))).toThrow(/type/);
  });
});

test('a query has its interval filled in, and names its metrics', () => {
  const expr =
    'rate(callway_calls_total[$__rate_interval]) / rate(process_cpu_seconds_total[$__rate_interval])';
  expect(withInterval(expr, 30)).toBe(
    'rate(callway_calls_total[30s]) / rate(process_cpu_seconds_total[30s])',
  );
  expect(metricsIn(expr)).toEqual(['callway_calls_total', 'process_cpu_seconds_total']);
});

test.each([
  ['{{status}} {{ end_reason }}', { status: 'failed', end_reason: 'trunk_error' }, 'failed trunk_error'],
  ['{{absent}} p95', {}, 'p95'],
  ['', { le: '1', route: '/v1' }, 'le=1 route=/v1'],
])('a curve is named by its labels: %j', (format, labels, name) => {
  expect(nameOf(format, labels)).toBe(name);
});

test.each([
  [0, 1],
  [0.03, 0.04],
  [1, 1],
  [4.1, 8],
  [9, 10],
  [812, 1000],
])('the axis of %d ends at %d', (value, top) => {
  expect(roundUp(value)).toBeCloseTo(top, 9);
});

test.each([
  [0.25, 'percentunit', '25 %'],
  [12, 'cpm', '12 /min'],
  [0.004, 's', '4 ms'],
  [2.5, 's', '2.5 s'],
  [0, 's', '0 s'],
  [157_286_400, 'bytes', '150 MiB'],
  [12, 'bytes', '12 B'],
  [1234, 'short', '1230'],
])('%d in %s reads %s', (value, unit, text) => {
  expect(shown(value, unit)).toBe(text);
});

describe('the picture', () => {
  test('has a curve from its first second to its last, within the panel', () => {
    const points = [
      { x: 100, y: 0 },
      { x: 150, y: 5 },
      { x: 200, y: 8 },
    ];
    const svg = drawDashboard('t', [panel({ curves: [{ name: 'in & out', points }] })], TIME);
    // 6 cells of 60, less the gap and the margins; 8 cells of 34, less title, axis and one line of legend.
    expect(svg).toContain('points="0.0,196.0 143.0,73.5 286.0,0.0"');
    expect(svg).toContain('Calls &lt;now>');
    expect(svg).toContain('in &amp; out');
    expect(svg).not.toContain('No data');
  });

  test('says when there is no data, marks a single point, and reports what its legend leaves out', () => {
    expect(drawDashboard('t', [panel()], TIME)).toContain('No data');
    const lonely = { name: 'once', points: [{ x: 150, y: 1 }] };
    expect(drawDashboard('t', [panel({ curves: [lonely] })], TIME)).toContain('<circle cx="143.0" cy="0.0"');
    const many = Array.from({ length: 9 }, (_, index) => ({ ...lonely, name: `curve ${index}` }));
    const svg = drawDashboard('t', [panel({ curves: many })], TIME);
    expect(svg).toContain('>curve 5<');
    expect(svg).not.toContain('>curve 6<');
    expect(svg).toContain('… and 3 more');
  });

  test('has a line for each row of panels', () => {
    expect(drawDashboard('t', [panel({ type: 'row', title: 'Calls' })], TIME)).toContain('▾ Calls');
  });
});
