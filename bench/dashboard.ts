import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { z } from 'zod';

import { freshBuild } from '../scripts/lib/serviceBuild.mjs';
import { createClient } from '../test/support/gateway.ts';
import { startService } from '../test/support/processes.ts';
import { failing, saying, startScriptedUpstream } from '../test/support/scriptedUpstream.ts';
import { FAILS, startFaults } from './dashboard/faults.ts';
import { metricsIn, nameOf, readDashboard, withInterval } from './dashboard/panels.ts';
import { type Drawn, drawDashboard } from './dashboard/picture.ts';
import { type Prometheus, startPrometheus } from './dashboard/prometheus.ts';
import { startLoad } from './soak/load.ts';

/**
 * `npm run bench:dashboard`: the service under a mixed load with faults, scraped by a real Prometheus with the alerts of
 * docker/, and the dashboard of docker/ drawn from it. Exits with 1 when a panel has no data, or when a panel or an alert
 * names a metric that a running service does not have.
 */
const SCRAPE_SECONDS = 2;
const RATE_SECONDS = 30;
const READY_TIMEOUT_MS = 120_000;
const FORGET_EACH_MS = 1000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '4' },
    svg: { type: 'string', default: 'dashboard.svg' },
    help: { type: 'boolean' },
  },
});
const minutes = Number(values.minutes);
if (values.help) console.log('npm run bench:dashboard -- [--minutes N] [--svg FILE]');
else if (!(minutes > 0)) throw new Error(`--minutes takes a number above 0; not ${values.minutes}`);
else await show();

async function show(): Promise<void> {
  const entry = await freshBuild();
  if (entry === undefined) throw new Error('the service could not be built: npm run build tells why');
  const upstream = await startScriptedUpstream(({ messages }) =>
    JSON.stringify(messages).includes(FAILS)
      ? failing(503, 'overloaded')
      : { steps: saying('Good. ', 'Again.') },
  );
  const forgetting = setInterval(upstream.clearRequests, FORGET_EACH_MS);
  const env = {
    MEDIA_WORKERS: '1',
    RATE_LIMIT_PER_MINUTE: '1000000',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    LOG_LEVEL: 'warn',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_API_KEY: 'of-this-measurement',
    STT_PROVIDER: 'local',
    TTS_PROVIDER: 'local',
    EMBEDDING_PROVIDER: 'local',
  };
  const service = await startService({ entry, env, readyTimeoutMs: READY_TIMEOUT_MS });
  let prometheus: Prometheus | undefined;
  try {
    prometheus = await startPrometheus(service.url, SCRAPE_SECONDS);
    const token = readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim();
    const client = await createClient(service.url, token);
    const fromSeconds = Date.now() / 1000;
    const load = await startLoad(client, { calls: 4, chats: 2 });
    const mishaps = await startFaults(client);
    await sleep(minutes * 60_000);
    const alerts = await prometheus.alerts();
    await tell(prometheus, { fromSeconds, toSeconds: Date.now() / 1000 }, alerts);
    await Promise.all([load.stop(), mishaps.stop()]);
    await service.stop();
  } finally {
    clearInterval(forgetting);
    await prometheus?.close();
    await service.close();
    await upstream.close();
  }
}

async function tell(
  prometheus: Prometheus,
  time: { readonly fromSeconds: number; readonly toSeconds: number },
  alerts: readonly string[],
): Promise<void> {
  const read = (path: string) =>
    readFileSync(new URL(`../docker/monitoring/${path}`, import.meta.url), 'utf8');
  const { title, panels } = readDashboard(read('grafana/dashboards/callway.json'));
  const drawn = await Promise.all(panels.map((panel) => ask(prometheus, panel, time)));
  const graphs = drawn.filter(({ type }) => type === 'timeseries');
  const empty = graphs.filter(({ curves }) => curves.every(({ points }) => points.length === 0));
  const known = await prometheus.names();
  const asked = [...graphs.flatMap(({ targets }) => targets), ...alertRules(read('alerts.yaml'))];
  const absent = new Set(asked.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !known.has(name)));
  writeFileSync(values.svg, drawDashboard(`${title}: ${minutes} minutes under load`, drawn, time));
  console.log(
    `${graphs.length} panels, ${graphs.length - empty.length} with data; ${known.size} metrics seen`,
  );
  for (const { title } of empty) console.log(`has nothing to show: ${title}`);
  for (const name of absent) console.log(`was never seen: ${name}`);
  console.log(`alerts: ${alerts.join(', ') || 'none'}\nThe dashboard is in ${values.svg}.`);
  if (empty.length > 0 || absent.size > 0) process.exitCode = 1;
}

async function ask(
  prometheus: Prometheus,
  panel: Omit<Drawn, 'curves'>,
  { fromSeconds, toSeconds }: { readonly fromSeconds: number; readonly toSeconds: number },
): Promise<Drawn> {
  const answers = await Promise.all(
    panel.targets.map(async ({ expr, legend }) => {
      const query = withInterval(expr, RATE_SECONDS);
      const series = await prometheus.range(query, fromSeconds, toSeconds, SCRAPE_SECONDS);
      return series.map(({ labels, points }) => ({ name: nameOf(legend, labels), points }));
    }),
  );
  return { ...panel, curves: answers.flat() };
}

function alertRules(text: string): { readonly expr: string }[] {
  const rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) });
  return rules.parse(parse(text)).groups.flatMap((group) => group.rules);
}
