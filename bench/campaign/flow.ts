import { setTimeout as sleep } from 'node:timers/promises';

import { percentile } from '../support/statistics.ts';
import { numberOf, startCampaign, startInstallation, until } from './installation.ts';
import type { Line } from './report.ts';

const ANY_HOUR = {
  schedule: {
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00' }],
  },
  retry: { rules: [] },
};
const MINUTE_MS = 60_000;
const PACE = 30;
const AT_ONCE = 10;
/** A campaign at the most that one may place, on two nodes. */
const FULL_PACE = { maxConcurrent: 200, callsPerMinute: 600 };

const contactsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ toNumber: numberOf(first + n) }));

/** The calls of a campaign at 30 a minute, and of one with 10 at once whose calls are longer than its pace. */
export async function measurePacing(minutes: number): Promise<Line[]> {
  const talkMs = 5_000;
  const installation = await startInstallation({ nodes: 2, talkMs, reactionOf: () => 'answer' });
  const { carrier, api } = installation;
  try {
    const pacings = [
      { maxConcurrent: 50, callsPerMinute: PACE },
      { maxConcurrent: AT_ONCE, callsPerMinute: 600 },
    ];
    const size = 200 * (minutes + 1);
    const ids: string[] = [];
    for (const [n, pacing] of pacings.entries())
      ids.push(await startCampaign(installation, { ...ANY_HOUR, pacing }, contactsFrom(n * 1_000_000, size)));
    await sleep(MINUTE_MS / 4);
    const fromMs = Date.now();
    const busy: number[] = [];
    while (Date.now() < fromMs + minutes * MINUTE_MS) {
      await sleep(250);
      busy.push((await api('GET', `/campaigns/${ids[1]}`)).counts.calling);
    }
    const untilMs = Date.now();
    const paced = carrier.invites
      .filter(({ number }) => number < numberOf(1_000_000))
      .map(({ atMs }) => atMs);
    const inTime = paced.filter((atMs) => atMs >= fromMs && atMs < untilMs).length;
    const perMinute = (inTime * MINUTE_MS) / (untilMs - fromMs);
    const most = Math.max(
      ...paced.map((from) => paced.filter((at) => at >= from && at < from + MINUTE_MS).length),
    );
    const mean = busy.reduce((sum, calls) => sum + calls, 0) / busy.length;
    return [
      {
        what: `pace of ${PACE} a minute over ${minutes} minutes`,
        aim: 'within 3 %, never above',
        figure: `${perMinute.toFixed(2)} a minute; most in any minute ${most}`,
      },
      {
        what: `${AT_ONCE} calls at once over ${minutes} minutes`,
        aim: 'within 3 %, never above',
        figure: `mean ${mean.toFixed(2)}, most ${Math.max(...busy)}`,
      },
    ];
  } finally {
    await installation.close();
  }
}

/** The time from the request to pause to the last new INVITE of any node. */
export async function measurePause(rounds: number): Promise<Line[]> {
  const installation = await startInstallation({ nodes: 2, talkMs: 100, reactionOf: () => 'busy' });
  const { carrier, api } = installation;
  try {
    const settings = { ...ANY_HOUR, pacing: FULL_PACE, pauseWhen: null };
    const id = await startCampaign(installation, settings, contactsFrom(0, 10_000));
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const before = carrier.invites.length;
      await until(() => carrier.invites.length > before + 20 || undefined);
      const askedMs = Date.now();
      await api('POST', `/campaigns/${id}/pause`);
      await sleep(4_000);
      times.push(Math.max(0, (carrier.invites.at(-1)?.atMs ?? 0) - askedMs));
      await api('POST', `/campaigns/${id}/resume`);
    }
    const figure = `${Math.max(...times)} ms, the longest of ${rounds}`;
    return [{ what: 'pause to the last new INVITE on any node', aim: '2 s', figure }];
  } finally {
    await installation.close();
  }
}

/** The time from the next hang-up until an order by API is placed, beside a campaign that fills every channel of its trunk. */
export async function measureOrders(orders: number): Promise<Line[]> {
  const trunk = { maxChannels: 10, callsPerSecond: 50 };
  const options = { nodes: 2, talkMs: 4_000, reactionOf: () => 'answer' as const, trunk };
  const installation = await startInstallation(options);
  const { carrier, api, order } = installation;
  try {
    await startCampaign(installation, { ...ANY_HOUR, pacing: FULL_PACE }, contactsFrom(0, 10_000));
    const times: number[] = [];
    let overtaken = 0;
    const [{ number: fromNumber }] = (await api('GET', '/phone-numbers')).data;
    for (let n = 0; n < orders; n += 1) {
      await until(() => carrier.live() >= trunk.maxChannels || undefined);
      const toNumber = numberOf(5_000_000 + n);
      await order({ fromNumber, toNumber });
      const orderedMs = Date.now();
      const { atMs } = await until(() => carrier.invites.find(({ number }) => number === toNumber));
      const freeMs = carrier.hangUps.find((endedMs) => endedMs >= orderedMs) ?? atMs;
      times.push(Math.max(0, atMs - freeMs));
      overtaken += carrier.invites.filter((one) => one.atMs > freeMs && one.atMs < atMs).length;
    }
    return [
      {
        what: 'order by API beside a campaign that fills every channel',
        aim: 'within 1 s of a free channel',
        figure: `${percentile(times, 1)} ms, the longest of ${orders}; median ${percentile(times, 0.5)} ms; ${overtaken} campaign calls before them`,
      },
    ];
  } finally {
    await installation.close();
  }
}

/** The attempts of a campaign over a trunk that answers 503 to all, until it pauses itself. */
export async function measureFailing(): Promise<Line[]> {
  const installation = await startInstallation({ nodes: 2, reactionOf: () => 'broken' });
  const { carrier, api } = installation;
  try {
    const settings = { ...ANY_HOUR, pacing: { maxConcurrent: 10, callsPerMinute: 600 } };
    const id = await startCampaign(installation, settings, contactsFrom(0, 1_000));
    const { statusReason } = await until(async () => {
      const campaign = await api('GET', `/campaigns/${id}`);
      return campaign.status === 'paused' ? campaign : undefined;
    });
    await sleep(5_000);
    const figure = `${carrier.invites.length} attempts, then ${statusReason}`;
    return [{ what: 'a trunk that answers 503 to all', aim: 'paused within 50 attempts', figure }];
  } finally {
    await installation.close();
  }
}

/** How many calls a second nodes place that wait in one project, once its trunk takes them. */
export async function measureDialing(calls: number): Promise<Line[]> {
  const lines: Line[] = [];
  for (const nodes of [1, 2]) {
    const trunk = { callsPerSecond: 0.1 };
    const installation = await startInstallation({ nodes, reactionOf: () => 'busy', trunk });
    const { carrier, api, order } = installation;
    try {
      const [{ number: fromNumber, trunkIds }] = (await api('GET', '/phone-numbers')).data;
      const orders = contactsFrom(0, calls).map((contact) => ({ ...contact, fromNumber }));
      while (orders.length > 0) await Promise.all(orders.splice(0, 20).map(order));
      const placed = carrier.invites.length;
      await api('PATCH', `/trunks/${trunkIds[0]}`, { callsPerSecond: 1_000 });
      await until(() => carrier.invites.length >= calls || undefined);
      // Not the first ones, which wait for the trunk's old pace.
      const [first, last] = [carrier.invites[placed + 20], carrier.invites.at(-1)];
      const seconds = ((last?.atMs ?? 0) - (first?.atMs ?? 0)) / 1_000;
      const rate = (calls - placed - 21) / seconds;
      const what = `calls a second of one project, ${nodes === 1 ? 'one node' : 'two nodes'}`;
      lines.push({ what, aim: '10 (a campaign), 50 (a trunk)', figure: rate.toFixed(1) });
    } finally {
      await installation.close();
    }
  }
  return lines;
}
