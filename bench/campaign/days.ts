import { setTimeout as sleep } from 'node:timers/promises';

import { createRandom } from '../../src/testing/simulator/random.ts';
import type { Reaction } from '../../test/e2e/support/carrier.ts';
import { type Installation, numberOf, startCampaign, startInstallation, until } from './installation.ts';
import { judge } from './judge.ts';
import type { Line } from './report.ts';
import { edgesAfter, WINDOWS, zoneOf } from './windows.ts';

const DAY_MS = 86_400_000;
/** In Europe clocks go forward on the second day. */
const BEGIN_MS = Date.UTC(2027, 2, 27);
const DAYS = 3;
const END_MS = BEGIN_MS + DAYS * DAY_MS;
/** The database's clock is set to this time before an edge of a window: nodes have read it by then, and show heartbeats. */
const LEAD_MS = 16_000;
/** Windows that open or close while calls are in progress, in three days. */
const VISITS = 12;
/** Nodes have read the database's clock by then; until then no campaign runs, since one node would be hours behind the other. */
const READ_MS = 12_000;
/** Calls go on for so long after it. */
const EDGE_MS = 4_000;
const EDGE_WITHIN_MS = 3 * 3_600_000;
/** Parts of a campaign's numbers, of which the next campaign has the second too. */
const SHARED = 0.1;
/** The part of the contacts that are called from some later time on. */
const LATER = 0.4;
const REACTIONS: readonly [Reaction, number][] = [
  ['answer', 0.3],
  ['busy', 0.22],
  ['no_answer', 0.22],
  ['declined', 0.08],
  ['unknown', 0.08],
  ['broken', 0.1],
];

export interface DaysOptions {
  readonly contacts: number;
  readonly seed: number;
  readonly kills: number;
}

/** Four campaigns over three days, while nodes, Redis and Postgres are lost. */
export async function measureDays(options: DaysOptions): Promise<Line[]> {
  const random = createRandom(options.seed);
  const ofEach = Math.ceil(options.contacts / WINDOWS.length);
  const distinct = Math.round(ofEach * (1 - SHARED));
  const optOuts = optOutNumbers(ofEach, distinct, Math.round(options.contacts * 0.03));
  const installation = await startInstallation({
    nodes: 2,
    talkMs: 100,
    reactionOf: (number, attempt) =>
      optOuts.has(number) ? 'opt_out' : reactionAt(createRandom(Number(number.slice(-8)) * 31 + attempt)()),
  });
  try {
    const startedMs = performance.now();
    await installation.step(BEGIN_MS);
    await sleep(LEAD_MS);
    const campaigns = await addCampaigns(installation, ofEach, distinct, random);
    const mishaps = disturb(installation, options, random);
    let visits = 0;
    while (!(await areOver(installation, campaigns))) {
      await until(() => isQuiet(installation));
      const edgeMs = nextEdge(installation, visits, random);
      const running = edgeMs < END_MS ? campaigns : [];
      await change(installation, running, 'pause');
      await until(() => isIdle(installation));
      await installation.step(edgeMs - LEAD_MS);
      await sleep(READ_MS);
      await change(installation, running, 'resume');
      await sleep(LEAD_MS - READ_MS + EDGE_MS);
      visits += 1;
      const at = new Date(edgeMs).toISOString();
      console.error(`${at}: ${installation.carrier.invites.length} INVITEs, ${mishaps.told()}`);
    }
    await mishaps.stop();
    const minutes = (performance.now() - startedMs) / 60_000;
    const days = (installation.now() - BEGIN_MS) / DAY_MS;
    const figure = `${visits} openings and closings in ${days.toFixed(1)} simulated days, ${minutes.toFixed(1)} minutes; ${mishaps.told()}`;
    return [
      { what: 'three days', aim: '', figure },
      ...(await judge(installation, campaigns, mishaps.listed)),
    ];
  } finally {
    await installation.close();
  }
}

/** Numbers of two campaigns each, so that the second one must not call them. */
function optOutNumbers(ofEach: number, distinct: number, count: number): Set<string> {
  const shared = Array.from({ length: WINDOWS.length - 1 }, (_, campaign) =>
    Array.from({ length: ofEach - distinct }, (_, n) => numberOf((campaign + 1) * distinct + n)),
  ).flat();
  return new Set(
    shared.filter((_, n) => n % Math.max(1, Math.floor(shared.length / count)) === 0).slice(0, count),
  );
}

function reactionAt(part: number): Reaction {
  let left = part;
  for (const [reaction, share] of REACTIONS) {
    if (left < share) return reaction;
    left -= share;
  }
  return 'answer';
}

async function addCampaigns(
  installation: Installation,
  ofEach: number,
  distinct: number,
  random: () => number,
): Promise<string[]> {
  const [projectWindows] = WINDOWS;
  await installation.sql('UPDATE projects SET calling_hours = $1', [
    JSON.stringify({ timezone: 'callee', windows: projectWindows, appliesTo: ['campaign'] }),
  ]);
  const ids: string[] = [];
  for (const [campaign, windows] of WINDOWS.entries()) {
    const settings = {
      schedule: { endAt: new Date(END_MS).toISOString(), windows: campaign === 0 ? undefined : windows },
      pacing: { maxConcurrent: 40, callsPerMinute: 600 },
      retry: {
        rules: [
          { outcomes: ['busy'], afterMinutes: 15 },
          { outcomes: ['no_answer'], afterMinutes: 120 },
          { outcomes: ['failed'], afterMinutes: 60 },
        ],
      },
      pauseWhen: null,
    };
    const contacts = Array.from({ length: ofEach }, (_, n) => {
      const toNumber = numberOf(campaign * distinct + n);
      const laterMs = BEGIN_MS + random() * (DAYS - 1) * DAY_MS;
      const notBefore = random() < LATER ? new Date(laterMs).toISOString() : undefined;
      return { toNumber, timezone: zoneOf(toNumber), notBefore };
    });
    ids.push(await startCampaign(installation, settings, contacts));
  }
  return ids;
}

/** The moment of a window's opening or closing in these days, and after them the end of the campaigns. */
function nextEdge({ now }: Installation, visit: number, random: () => number): number {
  if (visit >= VISITS) return Math.max(END_MS, now()) + LEAD_MS;
  const fromMs = Math.max(now() + LEAD_MS, BEGIN_MS + ((visit + random()) / VISITS) * DAYS * DAY_MS);
  const soon = edgesAfter(fromMs).filter((edgeMs) => edgeMs - fromMs < EDGE_WITHIN_MS);
  return soon[Math.floor(random() * soon.length)] ?? fromMs;
}

/** Kills, losses and additions to the list, each once so many INVITEs have arrived. */
function disturb(installation: Installation, { contacts, kills }: DaysOptions, random: () => number) {
  const { cluster, carrier, api, now, loseRedis, restartPostgres } = installation;
  const counts = { kills: 0, redis: 0, postgres: 0 };
  const listed = new Map<string, number>();
  const kill = async () => {
    const node = cluster.nodes[Math.floor(random() * cluster.nodes.length)];
    await node?.process.kill();
    counts.kills += 1;
    await node?.restart();
  };
  const list = async () => {
    const numbers = Array.from({ length: Math.ceil(contacts / 1_000) }, () =>
      numberOf(Math.floor(random() * contacts * (1 - SHARED))),
    );
    await api('POST', '/do-not-call', { numbers, reason: 'asked by letter' });
    for (const number of numbers) if (!listed.has(number)) listed.set(number, now());
  };
  const redis = async () => {
    await loseRedis();
    counts.redis += 1;
  };
  const postgres = async () => {
    await restartPostgres();
    counts.postgres += 1;
  };
  const all = [
    ...Array.from({ length: kills }, () => kill),
    ...Array.from({ length: 20 }, () => list),
    ...[redis, redis, postgres, postgres],
  ].map((run) => ({ run, after: Math.floor((0.02 + random() * 1.1) * contacts) }));
  let isStopped = false;
  const done = (async () => {
    for (const { run, after } of all.toSorted((one, other) => one.after - other.after)) {
      while (carrier.invites.length < after && !isStopped) await sleep(50);
      if (isStopped) return;
      await sleep(random() * 500);
      await run();
    }
  })();
  return {
    listed,
    told: () =>
      `${counts.kills} kills of a node, Redis lost ${counts.redis} times, Postgres restarted ${counts.postgres} times, ${listed.size} list additions`,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

const FROM = { pause: 'running', resume: 'paused' } as const;

/** Pauses or resumes those that are not over. */
async function change({ api }: Installation, campaigns: readonly string[], verb: keyof typeof FROM) {
  for (const id of campaigns) {
    const { status } = await api('GET', `/campaigns/${id}`);
    if (status === FROM[verb]) await api('POST', `/campaigns/${id}/${verb}`);
  }
}

/** No call is open. */
async function isIdle({ sql }: Installation): Promise<boolean> {
  const [row] = await sql<{ busy: boolean }>(
    `SELECT EXISTS (SELECT FROM calls WHERE NOT settled) OR EXISTS (SELECT FROM call_queues)
       OR EXISTS (SELECT FROM campaigns WHERE calling > 0) AS busy`,
  );
  return row?.busy === false;
}

/** No call is open, and no campaign has a step to do for a while. */
async function isQuiet(installation: Installation): Promise<boolean> {
  const { sql, now } = installation;
  const soon = new Date(now() + LEAD_MS);
  const due = await sql('SELECT FROM campaigns WHERE next_at < $1 LIMIT 1', [soon]);
  return due.length === 0 && (await isIdle(installation));
}

async function areOver({ api }: Installation, campaigns: readonly string[]): Promise<boolean> {
  const found = await Promise.all(campaigns.map((id) => api('GET', `/campaigns/${id}`)));
  return found.every(({ status }) => status === 'completed');
}
