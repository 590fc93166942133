import { setTimeout as sleep } from 'node:timers/promises';

import { type Costs, startCostMeter } from './costs.ts';
import { type CallFigures, type Contact, readCalls } from './history.ts';
import type { Installation } from './installation.ts';

const BETWEEN_CALLS_MS = 100;
const WARMING_CALLS = 5;
const WARMING_MS = 15_000;

/** Results of a number of concurrent calls. */
export interface CallRunFigures extends CallFigures {
  readonly calls: number;
  /** From the API request to the INVITE, of each call, in ms. */
  readonly invitedMs: readonly number[];
  /** From the INVITE to the first packet of audio. */
  readonly answeredMs: readonly number[];
  /** From the caller's last sound to the agent's first, measured by the phones. */
  readonly heardMs: readonly number[];
  readonly costs: Costs;
}

/** A few calls that do not count. */
export async function warmUp(stand: Installation): Promise<void> {
  const contacts: Contact[] = [];
  for (let n = 0; n < WARMING_CALLS; n++) contacts.push(await place(stand, `+88692${String(1_000_000 + n)}`));
  await sleep(WARMING_MS);
  await readCalls(stand.project, contacts);
  stand.phones.calls.clear();
}

/** Places ten calls per second, and lets them run for this long. */
export async function runCalls(stand: Installation, calls: number, seconds: number): Promise<CallRunFigures> {
  const { phones, project } = stand;
  const meter = await startCostMeter(stand);
  const contacts: Contact[] = [];
  for (let n = 0; n < calls; n++) {
    contacts.push(await place(stand, `+88691${String(1_000_000 + n)}`));
    await sleep(BETWEEN_CALLS_MS);
  }
  await meter.begin();
  await sleep(seconds * 1000);
  const costs = await meter.read(calls);
  const found = await readCalls(project, contacts);
  const invitedMs = contacts.flatMap(({ toNumber, askedMs }) => {
    const times = phones.calls.get(toNumber)?.times;
    return times ? [times.invitedMs - askedMs] : [];
  });
  const all = [...phones.calls.values()];
  const answeredMs = all.flatMap(({ times: { invitedMs, firstPacketMs } }) =>
    firstPacketMs === undefined ? [] : [firstPacketMs - invitedMs],
  );
  const heardMs = all.flatMap(({ person }) => person.latenciesMs);
  return { ...found, calls, invitedMs, answeredMs, heardMs, costs };
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
