import { percentile } from '../support/statistics.ts';
import { escaped } from '../support/svg.ts';
import type { Plateau } from './ramp.ts';
import type { Step } from './steps.ts';

/** What was measured of a step. */
export interface Measured {
  readonly step: Step;
  readonly plateaus: readonly Plateau[];
}

const WIDTH = 720;
const HEIGHT = 260;
const LEFT = 60;
const TOP = 50;
const PLOT_WIDTH = WIDTH - LEFT - 190;
const PLOT_HEIGHT = HEIGHT - TOP - 40;
const COLORS = ['#26c', '#292', '#c22'];

/** The panels, one below the other, over the number of calls. */
const PANELS: readonly { title: string; figureOf(plateau: Plateau): number | undefined }[] = [
  { title: 'cores in use', figureOf: ({ cpuPercent, calls }) => (cpuPercent * calls) / 100 },
  { title: 'RTP sent late, p99, ms', figureOf: ({ rtpP99Ms }) => (rtpP99Ms === Infinity ? 100 : rtpP99Ms) },
  {
    title: 'heard latency p95, ms',
    figureOf: ({ heardMs }) => (heardMs.length === 0 ? undefined : percentile(heardMs, 0.95)),
  },
];

/** The curves of all steps: an SVG document. Overloaded plateaus are hollow. */
export function drawDensity(measured: readonly Measured[], title: string): string {
  const most = Math.max(1, ...measured.flatMap(({ plateaus }) => plateaus.map(({ calls }) => calls)));
  const legend = measured.map(
    ({ step }, n) =>
      `<text x="${WIDTH - 180}" y="${TOP + 14 + n * 16}" fill="${COLORS[n]}">${escaped(step.name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${30 + PANELS.length * HEIGHT}" font-family="sans-serif" font-size="11">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="12" y="20" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...PANELS.map(
      (panel, n) => `<g transform="translate(0 ${20 + n * HEIGHT})">${draw(panel, measured, most)}</g>`,
    ),
    ...legend,
    '</svg>\n',
  ].join('\n');
}

function draw(
  { title, figureOf }: (typeof PANELS)[number],
  measured: readonly Measured[],
  most: number,
): string {
  const curves = measured.map(({ plateaus }) =>
    plateaus.flatMap((plateau) => {
      const y = figureOf(plateau);
      return y === undefined ? [] : [{ x: plateau.calls, y, isRefusing: plateau.refused > 0 }];
    }),
  );
  // From 0, so that a small difference looks small.
  const top = Math.max(1, ...curves.flat().map(({ y }) => y)) * 1.1;
  const xOf = (calls: number) => (LEFT + (calls / most) * PLOT_WIDTH).toFixed(1);
  const yOf = (value: number) => (TOP + (1 - value / top) * PLOT_HEIGHT).toFixed(1);
  const [right, bottom] = [LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT];
  return [
    `<text x="${LEFT}" y="${TOP - 12}" font-weight="bold">${escaped(title)}</text>`,
    `<path d="M${LEFT} ${TOP}V${bottom}H${right}" fill="none" stroke="#999"/>`,
    `<text x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${top.toFixed(1)}</text>`,
    `<text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>`,
    `<text x="${right}" y="${bottom + 14}" text-anchor="end">${most} calls</text>`,
    ...curves.flatMap((points, n) => [
      `<polyline points="${points.map(({ x, y }) => `${xOf(x)},${yOf(y)}`).join(' ')}" fill="none" stroke="${COLORS[n]}"/>`,
      ...points.map(
        ({ x, y, isRefusing }) =>
          `<circle cx="${xOf(x)}" cy="${yOf(y)}" r="3" stroke="${COLORS[n]}" fill="${isRefusing ? '#fff' : COLORS[n]}"/>`,
      ),
    ]),
  ].join('');
}
