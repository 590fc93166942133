import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

import { findProgram } from '../../scripts/lib/machine.mjs';
import { startChild, waitUntilReady } from '../../test/support/child.ts';
import { reservePort } from '../../test/support/ports.ts';
import { makeTempDir } from '../../test/support/tempDir.ts';

const ALERTS = fileURLToPath(new URL('../../docker/monitoring/alerts.yaml', import.meta.url));
const READY_TIMEOUT_MS = 30_000;

const answer = z.object({ status: z.literal('success'), data: z.unknown() });
const labels = z.record(z.string(), z.string());
const point = z.tuple([z.number(), z.string()]);
const matrix = z.object({ result: z.array(z.object({ metric: labels, values: z.array(point) })) });
const alerts = z.object({ alerts: z.array(z.object({ labels, state: z.enum(['pending', 'firing']) })) });

/** A time series of a Prometheus result. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Seconds since 1970, and the value; NaN and infinite values are left out. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/** A Prometheus with the alerts of docker/ that scrapes one service. */
export interface Prometheus {
  range(query: string, fromSeconds: number, toSeconds: number, stepSeconds: number): Promise<Series[]>;
  /** Every metric that it has scraped. */
  names(): Promise<ReadonlySet<string>>;
  /** Alerts that are pending or firing. */
  alerts(): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Starts it on a free port and a folder of its own.
 *
 * @throws When no `prometheus` is installed.
 */
export async function startPrometheus(serviceUrl: string, scrapeSeconds: number): Promise<Prometheus> {
  const program = findProgram('prometheus');
  if (!program)
    throw new Error('There is no prometheus on this machine: install Debian’s package of that name');
  const folder = makeTempDir();
  const config = {
    global: { scrape_interval: `${scrapeSeconds}s`, evaluation_interval: `${scrapeSeconds}s` },
    rule_files: [ALERTS],
    scrape_configs: [{ job_name: 'callway', static_configs: [{ targets: [new URL(serviceUrl).host] }] }],
  };
  // YAML is a superset of JSON.
  writeFileSync(join(folder.path, 'prometheus.yaml'), JSON.stringify(config));
  const address = `127.0.0.1:${await reservePort()}`;
  const child = await startChild(
    program,
    [
      `--config.file=${join(folder.path, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder.path, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    { folder: folder.path },
  );
  const close = async () => {
    child.kill('SIGTERM');
    await child.ended;
    folder.remove();
  };
  const ask = async <T>(path: string, parameters: Record<string, string>, data: z.ZodType<T>) => {
    const response = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    if (!response.ok) throw new Error(`Prometheus answered ${response.status}: ${await response.text()}`);
    return data.parse(answer.parse(await response.json()).data);
  };
  const isReady = async () => {
    const ready = await fetch(`http://${address}/-/ready`).catch(() => undefined);
    await ready?.arrayBuffer();
    return ready?.ok === true;
  };
  await waitUntilReady('Prometheus', child, isReady, READY_TIMEOUT_MS).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    async range(query, fromSeconds, toSeconds, stepSeconds) {
      const parameters = { query, start: `${fromSeconds}`, end: `${toSeconds}`, step: `${stepSeconds}` };
      const { result } = await ask('query_range', parameters, matrix);
      return result.map(({ metric, values }) => ({
        labels: metric,
        points: values.map(([x, y]) => ({ x, y: Number(y) })).filter(({ y }) => Number.isFinite(y)),
      }));
    },
    names: async () => new Set(await ask('label/__name__/values', {}, z.array(z.string()))),
    async alerts() {
      const { alerts: seen } = await ask('alerts', {}, alerts);
      return seen.map(({ labels: { alertname = '' }, state }) => `${alertname} (${state})`);
    },
    close,
  };
}
