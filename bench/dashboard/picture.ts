import { escaped } from '../support/svg.ts';
import type { Panel } from './panels.ts';

/** A panel with the results of its queries. */
export interface Drawn extends Panel {
  readonly curves: readonly { readonly name: string; readonly points: readonly Point[] }[];
}
interface Point {
  readonly x: number;
  readonly y: number;
}
interface Frame {
  readonly width: number;
  readonly height: number;
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly top: number;
}

const CELL_WIDTH = 60;
const CELL_HEIGHT = 34;
const HEAD = 44;
const GAP = 6;
const LEFT = 58;
const RIGHT = 10;
const PLOT_TOP = 34;
const LEGEND_LINE = 14;
const MOST_IN_LEGEND = 6;
const CURVES = ['#3a7', '#d80', '#27c', '#c33', '#85c', '#0aa', '#a60', '#c4a', '#680', '#468'];

/** The dashboard as an SVG document. */
export function drawDashboard(
  title: string,
  panels: readonly Drawn[],
  time: { readonly fromSeconds: number; readonly toSeconds: number },
): string {
  const rows = Math.max(0, ...panels.map(({ place: { y, h } }) => y + h));
  const [width, height] = [24 * CELL_WIDTH, HEAD + rows * CELL_HEIGHT + GAP];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11">`,
    '<rect width="100%" height="100%" fill="#f4f5f6"/>',
    `<text x="12" y="27" font-size="17" font-weight="bold">${escaped(title)}</text>`,
    ...panels.map((panel) => {
      const { x, y } = panel.place;
      const inside = panel.type === 'row' ? rowTitle(panel) : graph(panel, time);
      return `<g transform="translate(${x * CELL_WIDTH} ${HEAD + y * CELL_HEIGHT})">${inside}</g>`;
    }),
    '</svg>\n',
  ].join('\n');
}

function rowTitle({ title }: Drawn): string {
  return `<text x="12" y="23" font-size="14" fill="#444">▾ ${escaped(title)}</text>`;
}

function graph(panel: Drawn, time: { readonly fromSeconds: number; readonly toSeconds: number }): string {
  const [width, height] = [panel.place.w * CELL_WIDTH - GAP, panel.place.h * CELL_HEIGHT - GAP];
  const curves = panel.curves.filter(({ points }) => points.length > 0);
  const legend = curves.slice(0, MOST_IN_LEGEND).map(({ name }, index) => ({ name, colour: colour(index) }));
  const more = curves.length - legend.length;
  if (more > 0) legend.push({ name: `… and ${more} more`, colour: '#888' });
  const lines = Math.ceil(legend.length / 2);
  const frame = {
    ...time,
    width: width - LEFT - RIGHT,
    height: height - PLOT_TOP - 22 - lines * LEGEND_LINE,
    top: roundUp(Math.max(0, ...curves.flatMap(({ points }) => points.map(({ y }) => y)))),
  };
  const nothing = `<text x="${width / 2}" y="${height / 2}" text-anchor="middle" fill="#999">No data</text>`;
  return [
    `<rect width="${width}" height="${height}" rx="3" fill="#fff" stroke="#ddd"/>`,
    `<text x="10" y="20" font-weight="bold">${escaped(panel.title)}</text>`,
    ...(curves.length === 0
      ? [nothing]
      : [
          `<g transform="translate(${LEFT} ${PLOT_TOP})">`,
          axes(frame, panel.unit),
          ...curves.map(({ points }, index) => curve(points, frame, colour(index))),
          '</g>',
          ...legend.map(({ name, colour }, index) => {
            const [x, y] = [
              10 + (index % 2) * (width / 2),
              height - (lines - Math.floor(index / 2)) * LEGEND_LINE + 6,
            ];
            const room = Math.floor((width / 2 - 26) / 5.6);
            const shown = name.length > room ? `${name.slice(0, room - 1)}…` : name;
            return `<rect x="${x}" y="${y - 4}" width="10" height="3" fill="${colour}"/><text x="${x + 14}" y="${y}" font-size="10" fill="#555">${escaped(shown)}</text>`;
          }),
        ]),
  ].join('');
}

function axes({ width, height, fromSeconds, toSeconds, top }: Frame, unit: string): string {
  const values = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const y = (height * (1 - part)).toFixed(1);
    return `<path d="M0 ${y}H${width}" stroke="#eee"/><text x="-5" y="${Number(y) + 4}" text-anchor="end" fill="#666" font-size="10">${escaped(shown(top * part, unit))}</text>`;
  });
  const times = [0, 0.5, 1].map((part) => {
    const anchor = part === 0 ? 'start' : part === 1 ? 'end' : 'middle';
    const minutes = (((toSeconds - fromSeconds) * part) / 60).toFixed(1);
    return `<text x="${width * part}" y="${height + 14}" text-anchor="${anchor}" fill="#666" font-size="10">${minutes} min</text>`;
  });
  return [...values, ...times].join('');
}

function curve(points: readonly Point[], frame: Frame, colour: string): string {
  const { width, height, fromSeconds, toSeconds, top } = frame;
  const places = points.map(({ x, y }) => [
    (((x - fromSeconds) / (toSeconds - fromSeconds)) * width).toFixed(1),
    (height * (1 - y / top)).toFixed(1),
  ]);
  if (places.length === 1)
    return `<circle cx="${places[0]?.[0]}" cy="${places[0]?.[1]}" r="2" fill="${colour}"/>`;
  return `<polyline points="${places.map((place) => place.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="1.3"/>`;
}

function colour(index: number): string {
  return CURVES[index % CURVES.length] ?? '#888';
}

/** Rounds up to 1, 2, 4 or 8 times a power of ten, so that quarters of it are short numbers. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 8].find((factor) => factor * power >= value) ?? 10);
}

/** A value in Grafana's unit, as short as it stays readable. */
export function shown(value: number, unit: string): string {
  const short = (number: number) => String(Number(number.toPrecision(3)));
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit === 'cpm') return `${short(value)} /min`;
  if (unit === 'bytes') return value >= 2 ** 20 ? `${short(value / 2 ** 20)} MiB` : `${short(value)} B`;
  if (unit === 's' && value > 0 && value < 1) return `${short(value * 1000)} ms`;
  return unit === 's' ? `${short(value)} s` : short(value);
}
