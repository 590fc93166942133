import { setTimeout as sleep } from 'node:timers/promises';

import type { HeardTurn } from './caller.ts';
import { type Costs, startCostMeter } from './costs.ts';
import { type EventTimes, watchEvents } from './events.ts';
import { type CallFigures, type Contact, hangUpCall, readCall } from './history.ts';
import type { Installation } from './installation.ts';
import { readModelTimes } from './models.ts';
import { playoutP99, readPlayout } from './playout.ts';

const BETWEEN_CALLS_MS = 100;
const WARMING_CALLS = 5;
const WARMING_MS = 15_000;

/** While calls are being placed, while all of them talk, and while they are hung up. */
const PHASES = ['ramp', 'steady', 'hang-up'] as const;

interface PhaseFigures extends Omit<CallFigures, 'failed'> {
  readonly phase: (typeof PHASES)[number];
  /** Delay of sent packets. */
  readonly playoutP99Ms: number;
}

/** A turn as a phone heard it. */
export interface ContactTurn extends HeardTurn {
  readonly sessionId: string;
}

/** Results of a number of concurrent calls. */
export interface CallRunFigures {
  readonly calls: number;
  readonly failed: number;
  readonly phases: readonly PhaseFigures[];
  /** From the API request to the INVITE, of each call, in ms. */
  readonly invitedMs: readonly number[];
  /** From the INVITE to the first packet of audio. */
  readonly answeredMs: readonly number[];
  /** From the caller's last sound to the agent's first, measured by the phones. */
  readonly heardMs: readonly number[];
  readonly heardTurns: readonly ContactTurn[];
  readonly costs: Costs;
  /** While all calls talk. */
  readonly events: EventTimes;
}

/** A few calls that do not count. */
export async function warmUp(stand: Installation): Promise<void> {
  const contacts: Contact[] = [];
  for (let n = 0; n < WARMING_CALLS; n++) contacts.push(await place(stand, `+88692${String(1_000_000 + n)}`));
  await sleep(WARMING_MS);
  await Promise.all(contacts.map((contact) => hangUpCall(stand.project, contact)));
  stand.phones.calls.clear();
}

/** Places ten calls per second, lets them run for this long, and hangs up ten per second. */
export async function runCalls(stand: Installation, calls: number, seconds: number): Promise<CallRunFigures> {
  const { phones, project, nodes } = stand;
  const watched = await watchEvents(stand);
  const meter = await startCostMeter(stand);
  const contacts: Contact[] = [];
  /** The beginning of each phase, and the end of the last. */
  const bounds: { readonly atMs: number; readonly playout: Awaited<ReturnType<typeof readPlayout>> }[] = [];
  const mark = async () => void bounds.push({ atMs: Date.now(), playout: await readPlayout(nodes) });
  await mark();
  for (let n = 0; n < calls; n++) {
    contacts.push(await place(stand, `+88691${String(1_000_000 + n)}`));
    await sleep(BETWEEN_CALLS_MS);
  }
  await mark();
  await meter.begin();
  await watched.read();
  await sleep(seconds * 1000);
  const costs = await meter.read(calls);
  const events = await watched.read();
  await watched.close();
  await mark();
  const ends: Promise<string | undefined>[] = [];
  for (const contact of contacts) {
    ends.push(hangUpCall(project, contact));
    await sleep(BETWEEN_CALLS_MS);
  }
  const problems = (await Promise.all(ends)).filter((problem) => problem !== undefined);
  for (const problem of problems) console.error(`a call failed: ${problem}`);
  await mark();
  const took = await readModelTimes(stand.models.url);
  const read: Omit<CallFigures, 'failed'>[] = [];
  for (const contact of contacts) read.push(await readCall(project, contact, took));
  const during = <Item extends { readonly atMs: number }>(items: readonly Item[], phase: number) =>
    items.filter(
      ({ atMs }) =>
        atMs < (bounds[phase + 1]?.atMs ?? 0) && (phase === 0 || atMs >= (bounds[phase]?.atMs ?? 0)),
    );
  const phases = PHASES.map((phase, index) => ({
    phase,
    turns: during(
      read.flatMap(({ turns }) => turns),
      index,
    ),
    stops: during(
      read.flatMap(({ stops }) => stops),
      index,
    ),
    playoutP99Ms: playoutP99(bounds[index]?.playout ?? new Map(), bounds[index + 1]?.playout ?? new Map()),
  }));
  return { calls, failed: problems.length, phases, ...timesOf(contacts, phones), costs, events };
}

function timesOf(contacts: readonly Contact[], phones: Installation['phones']) {
  const invitedMs = contacts.flatMap(({ toNumber, askedMs }) => {
    const times = phones.calls.get(toNumber)?.times;
    return times ? [times.invitedMs - askedMs] : [];
  });
  const all = [...phones.calls.values()];
  const answeredMs = all.flatMap(({ times: { invitedMs, firstPacketMs } }) =>
    firstPacketMs === undefined ? [] : [firstPacketMs - invitedMs],
  );
  const heardTurns = contacts.flatMap(({ toNumber, sessionId }) =>
    (phones.calls.get(toNumber)?.person.heardTurns ?? []).map((turn) => ({ ...turn, sessionId })),
  );
  return { invitedMs, answeredMs, heardTurns, heardMs: heardTurns.map((turn) => turn.heardMs - turn.saidMs) };
}

async function place({ api, project, fromNumber }: Installation, toNumber: string): Promise<Contact> {
  const askedMs = performance.now();
  const response = await fetch(`${api.url}/v1/calls/outbound`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ projectId: project.id, fromNumber, toNumber }),
  });
  if (response.status !== 202) throw new Error(`a call was not accepted: ${response.status}`);
  const { callId, sessionId } = (await response.json()) as { callId: string; sessionId: string };
  return { toNumber, askedMs, callId, sessionId };
}
