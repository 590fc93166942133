import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callees } from '../../../scenarios/callees.ts';
import { requiresSipPeers } from '../../../support/skips.ts';
import { startCallee } from '../support/callee.ts';
import { methodOrStatus, newNumber } from '../support/line.ts';
import { ALL_EVENTS, EVENTS_WITHOUT_RECORDING } from '../support/webhooks.ts';
import { installation } from './installation.ts';

const TIMEOUT = 90_000;
/** A port whose owner never answers. */
async function silentPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket.address().port;
}

describe('an unanswered outbound call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('ends after 486, sends its events in order and frees its number', async () => {
    const callee = await startCallee(callees.refuses(486));
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const toNumber = newNumber();
    const call = await line.call({ toNumber });
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason, seen.sip?.code]).toEqual(['busy', null, 486]);
    expect(seen).toMatchObject({
      answeredAt: null,
      durationMs: 0,
      recording: null,
      trunkId: line.trunkIds[0],
    });
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(EVENTS_WITHOUT_RECORDING);
    const told = { callId: call.callId, status: 'busy', durationMs: 0, sip: { code: 486 } };
    for (const body of installation().webhooks.forSession(call.sessionId).slice(1)) {
      expect(body).toMatchObject({ projectId: line.id, channel: 'phone', call: told });
    }
    const again = await line.call({ toNumber });
    await line.api('POST', `/calls/${again.callId}/hangup`);
    await line.waitForEnd(again);
  });

  test('is canceled after the ring timeout', async () => {
    const callee = await startCallee(callees.isCanceled);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call({ ringTimeoutSeconds: 1 });
    const seen = await line.waitForEnd(call);
    expect(await callee.ended).toMatchObject({ exitCode: 0 });
    expect([seen.status, seen.endReason]).toEqual(['no_answer', null]);
    expect(Date.parse(seen.endedAt) - Date.parse(seen.startedAt)).toBeGreaterThanOrEqual(990);
    expect(await line.waitForFinalized(call)).toEqual(EVENTS_WITHOUT_RECORDING);
  });

  test('ends after the trunk’s response timeout when the peer does not respond', async () => {
    const line = await installation().makeLine({
      trunks: [{ port: await silentPort(), responseTimeoutSeconds: 1 }],
    });
    const call = await line.call();
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason, seen.sip]).toEqual(['failed', 'unreachable', null]);
    expect(Date.parse(seen.endedAt) - Date.parse(seen.startedAt)).toBeGreaterThanOrEqual(990);
    expect(await line.waitForFinalized(call)).toEqual(EVENTS_WITHOUT_RECORDING);
  });
});

describe('an answered call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('hung up by the callee is complete, with all four events in order', async () => {
    const callee = await startCallee(callees.hangsUpLater, { durationMs: 1500 });
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call({ metadata: { order: 7 } });
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason, seen.sip.code]).toEqual(['completed', 'caller_hangup', 200]);
    expect(seen.durationMs).toBeGreaterThan(1000);
    expect(seen.metadata).toEqual({ order: 7 });
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
    const bodies = installation().webhooks.forSession(call.sessionId);
    expect(bodies.slice(1)).toMatchObject([
      { event: 'call.ended', call: { callId: call.callId, status: 'completed', direction: 'outbound' } },
      { recording: { status: 'ready' }, recordingUrl: expect.stringMatching(/^http/) },
      {
        event: 'session.finalized',
        recordingUrl: expect.stringMatching(/^http/),
        messages: [{ role: 'assistant', content: expect.any(String) }],
      },
    ]);
    const trace = await line.trace(call, /BYE .*200 /);
    expect(trace.map(({ direction, text }) => `${direction} ${methodOrStatus(text)}`)).toEqual([
      'out INVITE',
      'in 180',
      'in 200',
      'out ACK',
      'in BYE',
      'out 200',
    ]);
    const history = (await line.api('GET', `/session-history/${call.sessionId}`)).body;
    expect(history).toMatchObject({ channel: 'phone', call: { id: call.callId, status: 'completed' } });
    const statuses = history.events.flatMap(({ type, data }: { type: string; data: { status: string } }) =>
      type === 'call_status' ? [data.status] : [],
    );
    expect(statuses).toEqual(['dialing', 'ringing', 'in_progress', 'completed']);
  });

  test('ends at its maximum duration; without recording there is no recording event', async () => {
    const callee = await startCallee(callees.answers);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call({ maxDurationSeconds: 1, record: false });
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason, seen.recording]).toEqual(['completed', 'max_duration', null]);
    expect(seen.durationMs).toBeGreaterThanOrEqual(990);
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(EVENTS_WITHOUT_RECORDING);
  });

  test('answers a digest challenge with the trunk’s password, which no trace shows', async () => {
    const callee = await startCallee(callees.challenges);
    const line = await installation().makeLine({
      trunks: [{ port: callee.port, username: 'alice', password: 'wonderland' }],
    });
    const call = await line.call();
    await line.waitForStatus(call, 'in_progress');
    await line.api('POST', `/calls/${call.callId}/hangup`);
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', 'api_hangup']);
    expect((await callee.ended).exitCode).toBe(0);
    const trace = JSON.stringify(await line.trace(call, /BYE /));
    expect(trace).toContain('Proxy-Authorization');
    expect(trace).not.toMatch(/response=\\?"[0-9a-f]{32}/);
  });
});

describe('one number', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('has one call at a time in either spelling and on both routes, and is free afterwards', async () => {
    const callee = await startCallee(callees.answers);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const local = newNumber();
    const e164 = `+886${local.slice(1)}`;
    const call = await line.call({ toNumber: local });
    await line.waitForStatus(call, 'in_progress');
    for (const toNumber of [local, e164]) {
      const refused = await line.requestCall({ toNumber });
      expect([refused.status, refused.body.code]).toEqual([409, 'number_already_queued']);
    }
    await line.api('POST', `/calls/${call.callId}/hangup`);
    await line.waitForEnd(call);
    await callee.ended;
    const legacy = await installation().gateway.api(
      'POST',
      `/project/${line.id}/integration/phone/call/outbound`,
      { key: line.secretKey, body: { fromNumber: line.number, toNumber: e164 } },
    );
    expect([legacy.status, legacy.body]).toEqual([
      200,
      { success: true, callId: expect.any(String), sessionId: expect.any(String) },
    ]);
    await line.api('POST', `/calls/${legacy.body.callId}/hangup`);
    await line.waitForEnd(legacy.body);
  });
});

describe('a trunk’s limits', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('with one channel the second call waits, and can be canceled meanwhile', async () => {
    const callee = await startCallee(callees.answers, { calls: 2 });
    const line = await installation().makeLine({ trunks: [{ port: callee.port, maxChannels: 1 }] });
    const first = await line.call();
    await line.waitForStatus(first, 'in_progress');
    const [second, third] = [await line.call(), await line.call()];
    const canceled = await line.api('POST', `/calls/${third.callId}/hangup`);
    expect(canceled.body).toMatchObject({ status: 'canceled', endReason: 'api_hangup' });
    expect(await line.waitForFinalized(third)).toEqual(EVENTS_WITHOUT_RECORDING);
    expect((await line.readCall(second)).status).toBe('queued');
    const health = (await line.api('GET', `/trunks/${line.trunkIds[0]}`)).body.health;
    expect(health.channelsInUse).toBe(1);
    await line.api('POST', `/calls/${first.callId}/hangup`);
    const over = await line.waitForEnd(first);
    const begun = await line.waitForStatus(second, 'in_progress');
    expect(Date.parse(begun.startedAt)).toBeGreaterThanOrEqual(Date.parse(over.endedAt));
    await line.api('POST', `/calls/${second.callId}/hangup`);
    await line.waitForEnd(second);
    expect((await callee.ended).exitCode).toBe(0);
  });

  test('calls start no faster than callsPerSecond', async () => {
    const callee = await startCallee(callees.refuses(486), { calls: 4 });
    const line = await installation().makeLine({ trunks: [{ port: callee.port, callsPerSecond: 2 }] });
    const calls = [await line.call(), await line.call(), await line.call(), await line.call()];
    const over = await Promise.all(calls.map((call) => line.waitForEnd(call)));
    const begun = over.map(({ startedAt }) => Date.parse(startedAt)).sort((one, other) => one - other);
    expect((begun[3] ?? 0) - (begun[0] ?? 0)).toBeGreaterThanOrEqual(990);
    expect((await callee.ended).exitCode).toBe(0);
  });
});

describe('a running call', { ...requiresSipPeers, timeout: TIMEOUT }, () => {
  test('is hung up when its session is ended', async () => {
    const callee = await startCallee(callees.answers);
    const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
    const call = await line.call();
    await line.waitForStatus(call, 'in_progress');
    const answer = await line.api('DELETE', '/sessions', { session_id: call.sessionId });
    expect(answer.status).toBe(200);
    const seen = await line.waitForEnd(call);
    expect([seen.status, seen.endReason]).toEqual(['completed', 'api_hangup']);
    expect((await callee.ended).exitCode).toBe(0);
    expect(await line.waitForFinalized(call)).toEqual(ALL_EVENTS);
  });
});
