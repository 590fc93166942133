/** Step of the histograms that the media threads count. @see LatenessHistogram */
const STEP_SECONDS = 0.00025;
const BOUNDS_SECONDS = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.02, 0.04, 0.1] as const;
const NAME = 'callway_playout_lateness_seconds';
const HELP =
  'Delay of RTP packets against their schedule. Packets that a stall left unsent count as longer than any bucket.';

/**
 * Renders the delays that the media threads count as a Prometheus histogram.
 *
 * @param threads - The number of ticks by delay in steps, for each thread; the last entry counts all longer delays.
 * @returns Prometheus text format; empty without threads.
 */
export function renderPlayoutDelay(threads: readonly ArrayLike<number>[]): string {
  if (threads.length === 0) return '';
  let count = 0;
  let sum = 0;
  const within = BOUNDS_SECONDS.map(() => 0);
  for (const counts of threads) {
    for (let step = 0; step < counts.length; step++) {
      const late = counts[step] ?? 0;
      if (late === 0) continue;
      count += late;
      // The middle of the step; the exact delay is unknown.
      sum += late * (step + 0.5) * STEP_SECONDS;
      const latestSeconds = (step + 1) * STEP_SECONDS;
      const isLast = step === counts.length - 1;
      BOUNDS_SECONDS.forEach((bound, index) => {
        if (!isLast && latestSeconds <= bound) within[index] = (within[index] ?? 0) + late;
      });
    }
  }
  const buckets = BOUNDS_SECONDS.map((bound, index) => `${NAME}_bucket{le="${bound}"} ${within[index]}`);
  return [
    `# HELP ${NAME} ${HELP}`,
    `# TYPE ${NAME} histogram`,
    ...buckets,
    `${NAME}_bucket{le="+Inf"} ${count}`,
    `${NAME}_sum ${sum}`,
    `${NAME}_count ${count}`,
    '',
  ].join('\n');
}
