import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

import { type Costs, startCostMeter } from '../calls/costs.ts';
import type { Installation } from '../calls/installation.ts';
import { playoutP99, readPlayout } from '../calls/playout.ts';

const BETWEEN_CALLS_MS = 100;
const SETTLE_MS = 3_000;
/** Of as many calls the MOS is asked for. */
const MOS_SAMPLES = 20;
const UNAVAILABLE = 503;

/** A number of calls in progress, over the time of a measurement. */
export interface Plateau {
  /** In progress. */
  readonly calls: number;
  /** Orders that the node refused on the way here. */
  readonly refused: number;
  /** CPU time of a call, in percent of a core. */
  readonly cpuPercent: number;
  readonly megabytes: number;
  readonly rtpP99Ms: number;
  /** The lowest of a sample of the calls; undefined before anything was received. */
  readonly mos: number | undefined;
  /** From the caller's last sound to the agent's first. */
  readonly heardMs: readonly number[];
}

export interface RampOptions {
  readonly stand: Installation;
  readonly order: object;
  readonly steps: readonly number[];
  readonly seconds: number;
}

/**
 * Raises the number of calls step by step, until the node refuses one; then offers as many calls again, twice its
 * capacity.
 *
 * @returns A plateau for each step; after a refusal the last one is that of the overloaded node.
 */
export async function ramp({ stand, order, steps, seconds }: RampOptions): Promise<Plateau[]> {
  const callIds: string[] = [];
  const plateaus: Plateau[] = [];
  const offer = async (count: number): Promise<number> => {
    let refused = 0;
    for (let n = 0; n < count; n++) {
      const callId = await place(stand, order, callIds.length + refused);
      if (callId === undefined) refused += 1;
      else callIds.push(callId);
      await sleep(BETWEEN_CALLS_MS);
    }
    return refused;
  };
  const before = await startCostMeter(stand);
  for (const step of steps) {
    const refused = await offer(step - callIds.length);
    await sleep(SETTLE_MS);
    plateaus.push(await hold(stand, before, callIds, seconds, refused));
    if (refused > 0) {
      const refusedAgain = await offer(callIds.length);
      plateaus.push(await hold(stand, before, callIds, seconds, refusedAgain));
      break;
    }
  }
  // The calls that it cannot hang up end with the product.
  await Promise.allSettled(callIds.map((callId) => stand.project.call('POST', `/calls/${callId}/hangup`)));
  return plateaus;
}

async function hold(
  stand: Installation,
  meter: Awaited<ReturnType<typeof startCostMeter>>,
  callIds: readonly string[],
  seconds: number,
  refused: number,
): Promise<Plateau> {
  const people = [...stand.phones.calls.values()].map(({ person }) => person);
  const heardBefore = people.map(({ heardTurns }) => heardTurns.length);
  const playoutBefore = await readPlayout(stand.nodes);
  await meter.begin();
  await sleep(seconds * 1_000);
  const costs = await meter.read(callIds.length);
  const playout = await readPlayout(stand.nodes);
  return {
    calls: callIds.length,
    refused,
    ...sumOf(costs),
    rtpP99Ms: playoutP99(playoutBefore, playout),
    mos: await lowestMos(stand, callIds.slice(0, MOS_SAMPLES)),
    heardMs: people.flatMap(({ heardTurns }, n) =>
      heardTurns.slice(heardBefore[n]).map(({ saidMs, heardMs }) => heardMs - saidMs),
    ),
  };
}

function sumOf({ nodes }: Costs): Pick<Plateau, 'cpuPercent' | 'megabytes'> {
  return {
    cpuPercent: nodes.reduce((sum, { cpuPercent }) => sum + cpuPercent, 0),
    megabytes: nodes.reduce((sum, { megabytes }) => sum + megabytes, 0),
  };
}

/** @returns Undefined when the node refuses the call. */
async function place(
  { api, project, fromNumber }: Installation,
  order: object,
  number: number,
): Promise<string | undefined> {
  const toNumber = `+88691${String(1_000_000 + number)}`;
  const response = await fetch(`${api.url}/v1/calls/outbound`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ projectId: project.id, fromNumber, toNumber, ...order }),
  });
  const body = z.object({ callId: z.string().optional() }).parse(await response.json());
  if (response.status === UNAVAILABLE && response.headers.has('retry-after')) return undefined;
  if (body.callId === undefined) throw new Error(`a call was not accepted: ${response.status}`);
  return body.callId;
}

const shownCall = z.object({ mediaFigures: z.object({ mos: z.number().nullable() }).nullable() });

async function lowestMos({ project }: Installation, callIds: readonly string[]): Promise<number | undefined> {
  const shown = await Promise.allSettled(callIds.map((callId) => project.call('GET', `/calls/${callId}`)));
  // A node beyond its capacity may answer 503.
  const values = shown.flatMap((call) =>
    call.status === 'fulfilled' ? (shownCall.parse(call.value).mediaFigures?.mos ?? []) : [],
  );
  return values.length === 0 ? undefined : Math.min(...values);
}
