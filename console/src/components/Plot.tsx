import 'uplot/dist/uPlot.min.css';

import { Box, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

import { formatNumber } from '../formats.ts';
import { locale } from '../texts.ts';
import classes from './Plot.module.css';

const HEIGHT = 180;
const COLORS = {
  light: ['#0b7285', '#c92a2a', '#5f3dc4', '#a35200'],
  dark: ['#66d9e8', '#ff8787', '#b197fc', '#ffa94d'],
} as const;

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
}

/** Values over time. */
export function Plot({
  label,
  times,
  lines,
  kind = 'lines',
  daily = false,
  format = formatNumber,
}: PlotProps) {
  const { ref: sizeRef, width } = useElementSize();
  const target = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (!target.current || width === 0) return;
    const colors = COLORS[scheme];
    const text = scheme === 'dark' ? '#ced4da' : '#343a40';
    const axis = { stroke: text, grid: { stroke: scheme === 'dark' ? '#373a40' : '#dee2e6' } };
    const bars = uPlot.paths.bars?.({ size: [0.6, 40] });
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        cursor: { y: false },
        axes: [axis, { ...axis, size: 70, values: (_, ticks) => ticks.map((tick) => format(tick)) }],
        series: [
          { value: (_, time) => (time === null ? '–' : timeText(time, daily)) },
          ...lines.map((line, index) => ({
            label: line.label,
            stroke: colors[index % colors.length] ?? colors[0],
            ...(kind === 'bars' && bars && { paths: bars, fill: `${colors[index % colors.length]}99` }),
            points: { show: times.length < 3 },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
      },
      [[...times], ...lines.map(({ values }) => [...values])],
      target.current,
    );
    return () => plot.destroy();
  }, [width, scheme, times, lines, kind, daily, format]);
  return (
    <Box ref={sizeRef} className={classes.plot ?? ''}>
      <div ref={target} role="img" aria-label={label} />
    </Box>
  );
}

function timeText(seconds: number, daily: boolean): string {
  const options = daily ? ({ dateStyle: 'medium' } as const) : ({ timeStyle: 'medium' } as const);
  return new Intl.DateTimeFormat(locale, { ...options, ...(daily && { timeZone: 'UTC' }) }).format(
    seconds * 1000,
  );
}
