import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { authorization, chooseChallenge } from '../../sip/digest.ts';
import { callers } from '../scenarios/callers.ts';
import { reservePort } from '../support/ports.ts';
import { requiresSipPeers } from '../support/skips.ts';
import { SDP } from './support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from './support/rig.ts';
import { runSipp, type SippRun } from './support/sipp.ts';
import type { SrfRequest, SrfResponse } from './support/srf.ts';

/** The timers of both ends. */
const T1_MS = 50;
const T2_MS = 400;
const CALLS = 10;
const CHALLENGE = 'Digest realm="callway", nonce="n1", algorithm=MD5';

let rig: Rig;
const heard: string[] = [];

/** The application's behavior by called user. */
const behaviours: Record<string, (req: SrfRequest, res: SrfResponse) => void | Promise<void>> = {
  async answer(req, res) {
    res.send(180);
    const dialog = await rig.srf.createUAS(req, res, { localSdp: SDP });
    dialog.on('destroy', (bye: SrfRequest) => heard.push(bye.get('Reason')));
    dialog.on('hold', () => heard.push('hold'));
    dialog.on('unhold', () => heard.push('unhold'));
  },
  async hangup(req, res) {
    const dialog = await rig.srf.createUAS(req, res, { localSdp: SDP });
    await dialog.destroy({ headers: { Reason: 'Q.850;cause=16;text="Normal call clearing"' } });
  },
  ring(req, res) {
    req.on('cancel', (cancel: SrfRequest) => heard.push(cancel.get('Reason')));
    res.send(180);
  },
  silent: () => undefined,
  async early(req, res) {
    res.send(183, { body: SDP });
    await rig.srf.createUAS(req, res, { localSdp: SDP });
  },
  reliable(req, res) {
    const answer = () => void rig.srf.createUAS(req, res, { localSdp: SDP });
    res.send(183, { headers: { Require: '100rel' }, body: SDP }, undefined, answer);
  },
  async guarded(req, res) {
    const given = req.get('Authorization');
    if (given && hasPassword(given, req.uri, 'wonderland')) return behaviours.answer?.(req, res);
    res.send(401, { headers: { 'WWW-Authenticate': CHALLENGE } });
  },
};

function hasPassword(given: string, uri: string, password: string): boolean {
  const [, username = ''] = /username="([^"]*)"/.exec(given) ?? [];
  const challenge = chooseChallenge([CHALLENGE]);
  if (!challenge) throw new Error('the challenge cannot be answered');
  const request = { method: 'INVITE', uri, body: '', cnonce: 'unused', nonceCount: 1 };
  const expected = authorization(challenge, { username, password }, request);
  const response = (value: string) => /response="([0-9a-f]{32})"/.exec(value)?.[1];
  return response(given) === response(expected);
}

beforeAll(async () => {
  rig = await startRig({
    sipTimes: { t1Ms: T1_MS, t2Ms: T2_MS, t4Ms: 300 },
    controlTimes: { firstAnswerMs: 1500 },
  });
  rig.srf.invite((req, res) => {
    const user = /^sip:([^@]+)@/.exec(req.uri)?.[1] ?? '';
    const contact = user === '302' ? { headers: { Contact: '<sip:elsewhere@127.0.0.1>' } } : {};
    if (/^\d+$/.test(user)) res.send(Number(user), contact);
    else void behaviours[user]?.(req, res);
  });
});
afterAll(async () => rig.close());

async function call(run: Partial<SippRun> & { scenario: string }): Promise<void> {
  const before = rig.server.stats();
  const outcome = await runSipp({
    calls: CALLS,
    remote: `127.0.0.1:${rig.port}`,
    localPort: await reservePort(),
    t1Ms: T1_MS,
    t2Ms: T2_MS,
    ...run,
  });
  expect(outcome.exitCode, outcome.output).toBe(0);
  const after = rig.server.stats();
  expect(after['dialogs.ended_by_server']).toBe(before['dialogs.ended_by_server']);
}

describe('SIPp as caller', requiresSipPeers, () => {
  test.each([
    ['UDP', 'u1'],
    ['TCP', 't1'],
    ['TCP with a connection for each call', 'tn'],
  ] as const)('A call over %s rings, is answered and is ended by the caller', async (_, transport) => {
    heard.length = 0;
    // The application must have the dialog before the BYE arrives.
    await call({ scenario: callers.answered, user: 'answer', transport, durationMs: 1000 });
    await expect.poll(() => heard).toEqual(Array(CALLS).fill('Q.850;cause=16;text="Normal call clearing"'));
  });

  test('A call is answered and ended by us with a Reason', () =>
    call({ scenario: callers.remoteHangsUp, user: 'hangup' }));

  test.each([404, 480, 486, 500, 503, 603])('A call is rejected with %i', (status) =>
    call({ scenario: callers.refused(status), user: String(status) }),
  );

  test('A call is redirected', () =>
    call({ scenario: callers.refused(302, [['Contact', 'elsewhere@127.0.0.1']]), user: '302' }));

  test('A call gets 480 when the application does not respond', () =>
    call({ scenario: callers.refused(480), user: 'silent' }));

  test('A call is canceled', async () => {
    heard.length = 0;
    await call({ scenario: callers.cancels(), user: 'ring' });
    await expect.poll(() => heard).toEqual(Array(CALLS).fill('SIP;cause=487;text="Caller gave up"'));
  });

  test('A CANCEL after the 200 is followed by BYE', () =>
    call({ scenario: callers.cancelsTooLate, user: 'answer' }));

  test('A call gets early media', () => call({ scenario: callers.hearsEarlyMedia, user: 'early' }));

  test('A reliable provisional response is acknowledged by PRACK', () =>
    call({ scenario: callers.sendsPrack, user: 'reliable' }));

  test('A session is changed by UPDATE', () => call({ scenario: callers.updates, user: 'answer' }));

  test('A call is held and resumed', async () => {
    heard.length = 0;
    await call({ scenario: callers.holds, user: 'answer', calls: 1 });
    expect(heard.slice(0, 2)).toEqual(['hold', 'unhold']);
  });

  test('A digest challenge is answered', () =>
    call({
      scenario: callers.authenticates,
      user: 'guarded',
      extra: ['-auth_uri', `guarded@127.0.0.1:${rig.port}`],
    }));

  describe('with 10 % message loss', { timeout: 130_000 }, () => {
    const lossy = { lossPercent: 10, calls: 60, timeoutSeconds: 120 };
    test('A call is answered and ended', () =>
      call({ ...lossy, scenario: callers.answeredOverLoss, user: 'answer' }));
    test('A call is rejected', () => call({ ...lossy, scenario: callers.refusedOverLoss(486), user: '486' }));
    test('A call is canceled', () => call({ ...lossy, scenario: callers.cancels(3300), user: 'ring' }));
  });

  test('No transaction or dialog remains', async () => {
    expect(await waitUntilDrained(rig.server, 15_000)).toEqual(NO_STATE);
    await vi.waitFor(() => expect(rig.server.stats()['now.timers']).toBe(0), 5000);
    expect(rig.server.stats()['errors.internal']).toBeUndefined();
  });
});
