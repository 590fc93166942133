import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callees } from '../../scenarios/callees.ts';
import { startBaresip } from '../../sip/support/baresip.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { encodeWav } from '../../support/wavFile.ts';
import { startCallee } from './support/callee.ts';
import { phoneInstallation } from './support/installation.ts';
import { type Line, newNumber, type PlacedCall } from './support/line.ts';
import { ALL_EVENTS } from './support/webhooks.ts';

const RATE_HZ = 8000;
const MEDIA_TIMEOUT_SECONDS = 2;
const TALK_MS = 1500;
/** Allowance for a slow machine. */
const MORE_MS = 6000;
const installation = await phoneInstallation({ MEDIA_TIMEOUT_SECONDS: String(MEDIA_TIMEOUT_SECONDS) });
/** The outcome of such a call; its number is free again. */
async function outcomeOf(line: Line, call: PlacedCall, toNumber: string) {
  const { status, endReason, durationMs, endedAt } = await line.waitForEnd(call);
  expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  const again = await line.requestCall({ toNumber });
  expect(again.status).toBe(202);
  await line.api('POST', `/calls/${again.body.callId}/hangup`);
  await line.waitForEnd(again.body);
  const told = await line.readCall(call);
  return { status, endReason, durationMs, endedAt, recording: told.recording.status };
}

describe('a carrier that fails during a call', requiresSipPeers, () => {
  test('and answers no BYE: media timeout ends the call', async () => {
    const toNumber = newNumber();
    const phone = await startBaresip({
      user: `+886${toNumber.slice(1)}`,
      plays: encodeWav(new Int16Array(60 * RATE_HZ), RATE_HZ),
    });
    onTestFinished(() => phone.close());
    const line = await installation().makeLine({ trunks: [{ port: phone.port }] });
    const call = await line.call({ toNumber });
    await line.waitForStatus(call, 'in_progress');
    await sleep(TALK_MS);
    process.kill(phone.pid, 'SIGKILL');
    const killedMs = Date.now();
    const seen = await outcomeOf(line, call, toNumber);
    expect(seen).toMatchObject({ status: 'completed', endReason: 'media_timeout', recording: 'ready' });
    expect(Date.parse(seen.endedAt) - killedMs).toBeLessThan(MEDIA_TIMEOUT_SECONDS * 1000 + MORE_MS);
  });

  test('before it has sent any RTP: media timeout ends the call', async () => {
    const callee = await startCallee(callees.answers);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call();
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', 'media_timeout']);
    expect(seen.durationMs).toBeGreaterThanOrEqual(500);
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  });
});
