import { useMemo } from 'react';

import { Plot } from '../../components/Plot.tsx';
import type { Series } from '../insights/insightData.ts';
import { INTERVAL_MS } from '../insights/insightSearch.ts';

/** Counts from midnight to now, an hour without any as 0. */
export function HourPlot({ label, series }: { label: string; series: Series | undefined }) {
  const { times, lines } = useMemo(() => {
    const counts = new Map(series?.points.map(({ at, n }) => [Date.parse(at), n]));
    const fromMs = new Date().setHours(0, 0, 0, 0);
    const hours = Array.from(
      { length: new Date().getHours() + 1 },
      (_, hour) => fromMs + hour * INTERVAL_MS.hour,
    );
    return {
      times: hours.map((ms) => ms / 1000),
      lines: [{ label, values: hours.map((ms) => counts.get(ms) ?? 0) }],
    };
  }, [series, label]);
  return <Plot label={label} times={times} lines={lines} kind="bars" />;
}
