import { escaped } from '../support/svg.ts';
import { driftOf, FIGURES, type FigureName, pointsOf, type Sample } from './drift.ts';

const COLUMNS = 2;
const WIDTH = 460;
const HEIGHT = 190;
const LEFT = 50;
const TOP = 34;
const PLOT_WIDTH = WIDTH - LEFT - 20;
const PLOT_HEIGHT = HEIGHT - TOP - 34;

/** The curves of a run, a panel per figure, with the line that gives its drift: an SVG document. */
export function draw(samples: readonly Sample[], title: string): string {
  const names = (Object.keys(FIGURES) as FigureName[]).filter((name) => pointsOf(samples, name).length > 0);
  const rows = Math.ceil(names.length / COLUMNS);
  const minutes = Math.max(0.01, ...samples.map(({ atMinutes }) => atMinutes));
  const panels = names.map((name, index) => {
    const [x, y] = [(index % COLUMNS) * WIDTH, 30 + Math.floor(index / COLUMNS) * HEIGHT];
    return `<g transform="translate(${x} ${y})">${panel(samples, name, minutes)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${COLUMNS * WIDTH}" height="${40 + rows * HEIGHT}" font-family="sans-serif" font-size="11">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    `<text x="12" y="20" font-size="14" font-weight="bold">${escaped(title)}</text>`,
    ...panels,
    '</svg>\n',
  ].join('\n');
}

function panel(samples: readonly Sample[], name: FigureName, minutes: number): string {
  const { name: label, unit } = FIGURES[name];
  const points = pointsOf(samples, name);
  // From 0, so that a small wave looks small.
  const top = Math.max(1, ...points.map(({ y }) => y)) * 1.1;
  const xOf = (value: number) => (LEFT + (value / minutes) * PLOT_WIDTH).toFixed(1);
  const yOf = (value: number) => (TOP + (1 - value / top) * PLOT_HEIGHT).toFixed(1);
  const curve = points.map(({ x, y }) => `${xOf(x)},${yOf(y)}`).join(' ');
  const drift = driftOf(samples, name);
  const line = drift
    ? `<line x1="${xOf(drift.fromMinutes)}" y1="${yOf(drift.from)}" x2="${xOf(drift.toMinutes)}" y2="${yOf(drift.to)}" stroke="${drift.isBeyond ? '#c22' : '#292'}" stroke-width="1.5" stroke-dasharray="6 3"/>`
    : '';
  const [right, bottom] = [LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT];
  return [
    `<text x="${LEFT}" y="${TOP - 10}" font-weight="bold">${escaped(label)}${unit ? `, ${unit}` : ''}</text>`,
    `<path d="M${LEFT} ${TOP}V${bottom}H${right}" fill="none" stroke="#999"/>`,
    `<text x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${Math.round(top)}</text>`,
    `<text x="${LEFT - 6}" y="${bottom}" text-anchor="end">0</text>`,
    `<text x="${right}" y="${bottom + 14}" text-anchor="end">${minutes.toFixed(1)} min</text>`,
    `<polyline points="${curve}" fill="none" stroke="#26c" stroke-width="1.5"/>`,
    line,
  ].join('');
}
