import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { OTHER_SDP, SDP } from '../support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from '../support/rig.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from '../support/srf.ts';

/** Calls that return to us through a proxy which keeps Call-ID and tags: both ends are ours. */
let rig: Rig;
let proxy: Forwarder;
/** How the application handles a call. */
let onCall: (req: SrfRequest, res: SrfResponse) => void;
beforeAll(async () => {
  rig = await startRig();
  proxy = await startForwarder(() => rig.port);
  rig.srf.invite((req, res) => onCall(req, res));
});
afterAll(async () => {
  await rig.close();
  await proxy.close();
});

const callOurselves = (onRequest: (request: SrfRequest) => void = () => undefined) =>
  rig.srf.createUAC(
    `sip:app@127.0.0.1:${proxy.port}`,
    { localSdp: SDP },
    { cbRequest: (_error, request) => onRequest(request) },
  );

/** @returns The caller's and the callee's dialog. */
async function connectParties(): Promise<[SrfDialog, SrfDialog]> {
  const answered = new Promise<SrfDialog>((resolve, reject) => {
    onCall = (req, res) => {
      res.send(180);
      rig.srf.createUAS(req, res, { localSdp: OTHER_SDP }).then(resolve, reject);
    };
  });
  return Promise.all([callOurselves(), answered]);
}

/** What one side receives from the other. */
async function isHeard(from: SrfDialog, at: SrfDialog, other: SrfDialog): Promise<void> {
  const heard = vi.fn((_request: SrfRequest, response: SrfResponse) => response.send(200));
  const misheard = vi.fn();
  at.once('info', heard);
  other.once('info', misheard);
  expect((await from.request({ method: 'INFO' })).status).toBe(200);
  expect([heard.mock.calls.length, misheard.mock.calls.length]).toEqual([1, 0]);
}

test.each(['caller', 'callee'])('A call to our own number is ended by the %s', async (ender) => {
  const [caller, callee] = await connectParties();
  expect(caller.id).toMatch(/^[^;]+;from-tag=\w+$/);
  expect(callee.id).toBe(`${caller.id};uas=${callee.id.split('=').at(-1)}`);
  expect([caller.remote.sdp, callee.remote.sdp]).toEqual([OTHER_SDP, SDP]);
  await isHeard(caller, callee, caller);
  await isHeard(callee, caller, callee);
  const [ending, ended] = ender === 'caller' ? [caller, callee] : [callee, caller];
  const hears = new Promise((resolve) => ended.once('destroy', resolve));
  await ending.destroy();
  await hears;
});

test('Either end of a call to our own number changes it', async () => {
  const [caller, callee] = await connectParties();
  const changed = SDP.replace('sendrecv', 'sendonly');
  for (const [from, at] of [
    [caller, callee],
    [callee, caller],
  ] as const) {
    at.once('modify', (_offer: SrfRequest, answer: SrfResponse) => answer.send(200, { body: OTHER_SDP }));
    expect(await from.modify(changed)).toBe(OTHER_SDP);
  }
  await caller.destroy();
});

test('A call to our own number is rejected or canceled', async () => {
  const status = (placing: Promise<unknown>) =>
    placing.then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  const canceled = vi.fn();
  let answer: (res: SrfResponse) => void = (res) => res.send(486);
  onCall = (req, res) => {
    req.on('cancel', canceled);
    answer(res);
  };
  expect(await status(callOurselves())).toBe(486);
  let sent: SrfRequest | undefined;
  answer = (res) => res.send(180, {}, () => sent?.cancel());
  expect(await status(callOurselves((request) => (sent = request)))).toBe(487);
  expect(canceled).toHaveBeenCalledOnce();
});

test('No transaction or dialog remains', async () => {
  expect(await waitUntilDrained(rig.server)).toEqual(NO_STATE);
});
