import { z } from 'zod';

const place = z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() });
const targets = z.array(z.object({ expr: z.string(), legendFormat: z.string().default('') }));
const panel = z.object({
  type: z.enum(['row', 'timeseries']),
  title: z.string(),
  gridPos: place,
  targets: targets.default([]),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string().default('short') }) }).optional(),
});
const dashboard = z.object({ title: z.string(), panels: z.array(panel) });

/** A graph of a dashboard, or the title of a row. */
export interface Panel {
  readonly type: 'row' | 'timeseries';
  readonly title: string;
  /** In cells of a grid 24 wide. */
  readonly place: z.infer<typeof place>;
  /** Grafana's unit name, such as `percentunit`. */
  readonly unit: string;
  readonly targets: readonly { readonly expr: string; readonly legend: string }[];
}

/** @param text - Grafana's JSON. @throws When it has panels of another kind. */
export function readDashboard(text: string): { readonly title: string; readonly panels: readonly Panel[] } {
  const { title, panels } = dashboard.parse(JSON.parse(text));
  return {
    title,
    panels: panels.map(({ type, title, gridPos, targets, fieldConfig }) => ({
      type,
      title,
      place: gridPos,
      unit: fieldConfig?.defaults.unit ?? 'short',
      targets: targets.map(({ expr, legendFormat }) => ({ expr, legend: legendFormat })),
    })),
  };
}

/** A query with Grafana's variables filled in. @param rateSeconds - At least four scrape intervals. */
export function withInterval(expr: string, rateSeconds: number): string {
  return expr.replaceAll('$__rate_interval', `${rateSeconds}s`);
}

/** A curve's name: `{{label}}` stands for the label's value, an empty format for all labels. */
export function nameOf(format: string, labels: Readonly<Record<string, string>>): string {
  if (format === '')
    return Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
  return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => labels[name] ?? '').trim();
}

/** The metrics of Callway and Node that a query names. */
export function metricsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:callway|nodejs|process)_\w+/g)].map(([name]) => name);
}
