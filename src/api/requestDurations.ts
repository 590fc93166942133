/** From a memory lookup to a slow model, in seconds. */
const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
const NAME = 'callway_http_request_duration_seconds';
const HELP = 'Time from a request’s arrival to the end of its answer.';

export interface RequestLabels {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

export interface RequestDurations {
  observe(labels: RequestLabels, seconds: number): void;
  /** In Prometheus's text format, with a line break at the end. */
  render(): string;
}

interface Series {
  readonly labels: RequestLabels;
  /** How many requests ended within each bound and not within the one before; the last have no bound. */
  readonly counts: number[];
  sum: number;
}

/**
 * How long requests took, as a histogram. Every request is counted here, so that counting is a look-up by the
 * route's own text and two additions. A text made of all labels would have to be made and hashed for each request, and
 * the general histogram of prom-client takes a tenth of a small request's own time.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createRequestDurations(): RequestDurations {
  const byRoute = new Map<string, Series[]>();
  const add = (labels: RequestLabels): Series => {
    const fresh = { labels, counts: new Array<number>(BOUNDS_SECONDS.length + 1).fill(0), sum: 0 };
    const known = byRoute.get(labels.route);
    if (known) known.push(fresh);
    else byRoute.set(labels.route, [fresh]);
    return fresh;
  };
  return {
    observe(labels, seconds) {
      const own = seriesOf(byRoute.get(labels.route), labels) ?? add(labels);
      const place = placeOf(seconds);
      own.counts[place] = (own.counts[place] ?? 0) + 1;
      own.sum += seconds;
    },
    render() {
      const lines = [...byRoute.values()].flat().flatMap(linesOf);
      return `${[`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`, ...lines].join('\n')}\n`;
    },
  };
}

/** Of the few that a route has. */
function seriesOf(all: readonly Series[] | undefined, { method, status }: RequestLabels): Series | undefined {
  if (!all) return undefined;
  for (const series of all) {
    if (series.labels.status === status && series.labels.method === method) return series;
  }
  return undefined;
}

function placeOf(seconds: number): number {
  let place = 0;
  while (seconds > (BOUNDS_SECONDS[place] ?? Number.POSITIVE_INFINITY)) place += 1;
  return place;
}

function linesOf({ labels, counts, sum }: Series): string[] {
  const names = Object.entries({ method: labels.method, route: labels.route, status: labels.status });
  const own = names.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(',');
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return `${NAME}_bucket{${own},le="${BOUNDS_SECONDS[index] ?? '+Inf'}"} ${total}`;
  });
  return [...buckets, `${NAME}_sum{${own}} ${sum}`, `${NAME}_count{${own}} ${total}`];
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
