import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';

/** One figure of the audio over the whole time line. */
export function MediaPlot({
  times,
  values,
  lengthMs,
  range,
  color,
  height,
}: {
  /** On the axis. */
  times: readonly number[];
  values: readonly (number | null)[];
  lengthMs: number;
  range: readonly [number, number];
  color: string;
  height: number;
}) {
  const container = useRef<HTMLDivElement>(null);
  const [low, high] = range;
  useEffect(() => {
    const place = container.current;
    if (!place) return;
    const plot = new UPlot(
      {
        width: place.clientWidth,
        height,
        padding: [2, 0, 2, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false, range: [0, lengthMs] }, y: { range: [low, high] } },
        axes: [{ show: false }, { show: false }],
        series: [{}, { stroke: color, fill: `${color}33`, width: 1.5, points: { show: false } }],
      },
      [[...times], [...values]],
      place,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height }));
    resized.observe(place);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [times, values, lengthMs, low, high, color, height]);
  return <div ref={container} />;
}
