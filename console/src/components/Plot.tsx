import 'uplot/dist/uPlot.min.css';

import { Box, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

import { formatNumber, hourFormat } from '../formats.ts';
import { locale, textsIn } from '../texts.ts';
import classes from './Plot.module.css';

const HEIGHT = 180;
/** Between the texts of the time axis, in pixels. */
const TIME_SPACE = 90;
/** For the half of the last text of the time axis, in pixels. */
const LAST_TIME_WIDTH = 32;
/** Of the values' axis where all are 0. */
const EMPTY_MAX = 10;
const UTC = 'Etc/UTC';
/** So that the first and the last day's bars are drawn whole. */
const HALF_DAY_SECONDS = 43_200;
const DAY_SECONDS = 86_400;
const COLORS = {
  light: ['#0b7285', '#c92a2a', '#5f3dc4', '#a35200', '#2b8a3e', '#a61e4d', '#1864ab', '#495057'],
  dark: ['#66d9e8', '#ff8787', '#b197fc', '#ffa94d', '#8ce99a', '#faa2c1', '#74c0fc', '#ced4da'],
} as const;

/** More lines than colors are not told apart. */
export const MAX_LINES = COLORS.light.length;

const texts = textsIn({ en: { time: 'Time' }, 'zh-TW': { time: '時間' } });

export interface PlotLine {
  readonly label: string;
  /** Null: a gap. */
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  /** For screen readers; the numbers are in the legend. */
  readonly label: string;
  /** Unix times in seconds. */
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly kind?: 'lines' | 'bars';
  /** With a day only in the axis. */
  readonly daily?: boolean;
  readonly format?: (value: number) => string;
  /** A click on a point: its places among the times and the lines. Keys need another way, such as a table. */
  readonly onPick?: ((time: number, line: number) => void) | undefined;
}

/** Values over time. */
export function Plot({
  label,
  times,
  lines,
  kind = 'lines',
  daily = false,
  format = formatNumber,
  onPick,
}: PlotProps) {
  const { ref: sizeRef, width } = useElementSize();
  const target = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const pick = useRef(onPick);
  pick.current = onPick;
  const isPickable = onPick !== undefined;
  useEffect(() => {
    if (!target.current || width === 0) return;
    const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > DAY_SECONDS;
    const colors = COLORS[scheme];
    const text = scheme === 'dark' ? '#ced4da' : '#343a40';
    const axis = { stroke: text, grid: { stroke: scheme === 'dark' ? '#373a40' : '#dee2e6' } };
    const bars = uPlot.paths.bars?.({ size: [0.6, 40] });
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        cursor: { y: false },
        padding: [null, LAST_TIME_WIDTH, null, null],
        ...(daily && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), UTC) }),
        axes: [
          {
            ...axis,
            space: TIME_SPACE,
            values: (_, ticks, __, ___, stepSeconds) =>
              ticks.map((tick) => tickText(tick, daily, stepSeconds)),
          },
          { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => format(tick)) },
        ],
        series: [
          {
            label: texts.time,
            value: (_, __, ___, place) => timeText(times.at(place ?? -1) ?? 0, daily, isLong),
          },
          ...lines.map((line, index) => {
            const stroke = colors[index % colors.length] ?? colors[0];
            return {
              label: line.label,
              stroke,
              ...(kind === 'bars' && bars && { paths: bars, fill: `${stroke}99` }),
              points: { show: kind === 'lines', filter: () => isolatedIn(line.values), fill: stroke },
              // Of the newest, where the pointer is elsewhere.
              value: (_: uPlot, __: number, ___: number, place: number | null) =>
                valueText(line.values.at(place ?? -1), format),
            };
          }),
        ],
        scales: {
          ...(daily && { x: { range: (_, min, max) => [min - HALF_DAY_SECONDS, max + HALF_DAY_SECONDS] } }),
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : EMPTY_MAX] },
        },
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      target.current,
    );
    if (isPickable) {
      plot.over.style.cursor = 'pointer';
      plot.over.addEventListener('click', () => {
        const time = plot.cursor.idx;
        const line = nearestLine(plot, lines);
        if (time != null && line !== undefined) pick.current?.(time, line);
      });
    }
    return () => plot.destroy();
  }, [width, scheme, times, lines, kind, daily, format, isPickable]);
  return (
    <Box ref={sizeRef} className={classes.plot ?? ''}>
      <div ref={target} role="img" aria-label={label} />
    </Box>
  );
}

/** The line whose point is nearest to the pointer. */
function nearestLine(
  { cursor: { idx, top = 0 }, valToPos }: uPlot,
  lines: readonly PlotLine[],
): number | undefined {
  const distances = lines.flatMap(({ values }, line) => {
    const value = values[idx ?? -1] ?? null;
    return value === null ? [] : [{ line, pixels: Math.abs(valToPos(value, 'y') - top) }];
  });
  return distances.toSorted((a, b) => a.pixels - b.pixels)[0]?.line;
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** Places of values between gaps, which no line shows. */
function isolatedIn(values: PlotLine['values']): number[] {
  const isGap = (place: number) => (values[place] ?? null) === null;
  return values.flatMap((_, place) => (!isGap(place) && isGap(place - 1) && isGap(place + 1) ? [place] : []));
}

/** @param isLong - Whether a time of day alone could be that of several days. */
function timeText(seconds: number, daily: boolean, isLong: boolean): string {
  if (daily) return inWords(seconds, { dateStyle: 'medium', timeZone: UTC });
  return inWords(seconds, isLong ? { dateStyle: 'medium', timeStyle: 'short' } : { timeStyle: 'medium' });
}

function tickText(seconds: number, daily: boolean, stepSeconds: number): string {
  if (daily) return inWords(seconds, { month: 'short', day: 'numeric', timeZone: UTC });
  if (stepSeconds >= DAY_SECONDS) return inWords(seconds, { month: 'short', day: 'numeric' });
  return inWords(seconds, { timeStyle: stepSeconds < 60 ? 'medium' : 'short' });
}

function inWords(seconds: number, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, { ...hourFormat, ...options }).format(seconds * 1000);
}
