import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_STATE, waitUntilDrained } from '../sip/support/rig.ts';
import { detectLeaks } from '../support/leaks.ts';
import { recordLegEvents, startTelephonyRig, type TelephonyRig } from '../support/telephonyRig.ts';

const CALLS = 200;
const AT_A_TIME = 10;

let assertNoLeaks: () => Promise<void>;
let caller: TelephonyRig;
let callee: TelephonyRig;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  caller = await startTelephonyRig();
  callee = await startTelephonyRig({ inbound: { inboundCidrs: ['127.0.0.1'] } });
});
afterAll(() => assertNoLeaks());

/** One third each is hung up by either side or rejected. */
async function oneCall(index: number): Promise<string> {
  const outbound = caller.dial({ port: callee.port });
  const incoming = await callee.nextInboundCall();
  incoming.ring();
  if (index % 3 === 0) incoming.reject(486, 'overloaded');
  else {
    const leg = await incoming.answer(`call-${index}`);
    await new Promise<void>((resolve) => {
      leg.events.on('answered', () => resolve());
    });
    if (index % 3 === 1) await leg.hangup();
    else await outbound.leg.hangup();
    await recordLegEvents(leg).leg.hangup();
  }
  return (await outbound.ended).outcome;
}

test(`Nothing remains after ${CALLS} calls`, async () => {
  const outcomes = new Map<string, number>();
  for (let begun = 0; begun < CALLS; begun += AT_A_TIME) {
    const batch = Array.from({ length: AT_A_TIME }, (_value, index) => oneCall(begun + index));
    for (const outcome of await Promise.all(batch)) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toContain('busy');
  expect([...outcomes.values()].reduce((sum, count) => sum + count)).toBe(CALLS);
  expect([caller.media.sessions, callee.media.sessions]).toEqual([0, 0]);
  expect([caller.errors, callee.errors]).toEqual([[], []]);
  expect(await waitUntilDrained(caller.server)).toEqual(NO_STATE);
  expect(await waitUntilDrained(callee.server)).toEqual(NO_STATE);
  await Promise.all([caller.close(), callee.close()]);
}, 60_000);
