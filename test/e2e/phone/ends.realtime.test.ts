import { describe, expect, test } from 'vitest';
import { callees } from '../../scenarios/callees.ts';
import { requiresSipPeers } from '../../support/skips.ts';
import { startCallee } from './support/callee.ts';
import { phoneInstallation } from './support/installation.ts';
import { ALL_EVENTS } from './support/webhooks.ts';

const TIMEOUT = 90_000;
const installation = await phoneInstallation();
describe('a running call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test.each([
    ['terminated', 'POST', '/sessions/terminate', 'api_hangup'],
    ['ended', 'DELETE', '/sessions', 'api_hangup'],
  ])('is hung up when its session is %s', async (_what, method, path, endReason) => {
    const callee = await startCallee(callees.answers);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call();
    await line.waitForStatus(call, 'in_progress');
    const answer = await line.api(method, path, { session_id: call.sessionId });
    expect(answer.status).toBe(200);
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', endReason]);
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  });
});
