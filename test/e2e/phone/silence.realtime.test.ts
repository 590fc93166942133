import { describe, expect, test } from 'vitest';
import { callees } from '../../scenarios/callees.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { startCallee } from './support/callee.ts';
import { phoneInstallation } from './support/installation.ts';
import { ALL_EVENTS } from './support/webhooks.ts';

const TIMEOUT = 90_000;
const installation = await phoneInstallation({ MEDIA_TIMEOUT_SECONDS: '1' });
describe('a call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('whose peer sends no RTP at all is hung up', async () => {
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
