import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requiresSipPeers } from '../support/skips.ts';
import { type Kamailio, startKamailio } from './support/kamailio.ts';
import { OTHER_SDP, SDP } from './support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from './support/rig.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from './support/srf.ts';

const credentials = { username: 'alice', password: 'secret' };

let carrier: Kamailio;
let alice: Rig;
let bob: Rig;
/** How Bob's application handles a call. */
let onCall: (req: SrfRequest, res: SrfResponse) => void;
beforeAll(async () => {
  [carrier, alice, bob] = await Promise.all([startKamailio('carrier'), startRig(), startRig()]);
  bob.srf.invite((req, res) => onCall(req, res));
});
afterAll(async () => {
  await Promise.all([carrier?.close(), alice?.close(), bob?.close()]);
});

/** Registers Bob with the carrier. @returns The final status. */
function register(password: string, expires = 60): Promise<number> {
  const options = {
    method: 'REGISTER',
    headers: {
      From: `<sip:bob@127.0.0.1:${carrier.port}>`,
      To: `<sip:bob@127.0.0.1:${carrier.port}>`,
      Contact: `<sip:bob@127.0.0.1:${bob.port}>;expires=${expires}`,
    },
    auth: { username: 'bob', password },
  };
  return new Promise((resolve, reject) => {
    bob.srf.request(`sip:127.0.0.1:${carrier.port}`, options, (error, request) => {
      if (error) reject(error);
      else request.on('response', (response: SrfResponse) => resolve(response.status));
    });
  });
}

/** Alice calls Bob through the carrier. */
const callBob = (auth: { username: string; password: string } = credentials, transport = '') =>
  alice.srf.createUAC(`sip:bob@127.0.0.1:${carrier.port}${transport}`, {
    localSdp: SDP,
    headers: { From: `<sip:alice@127.0.0.1:${carrier.port}>` },
    auth,
  });

const statusOf = (placing: Promise<SrfDialog>) =>
  placing.then(
    () => 200,
    (error: { status: number }) => error.status,
  );

describe('through Kamailio', requiresSipPeers, () => {
  test('REGISTER needs the correct password', async () => {
    expect(await register('wrong')).toBe(401);
    expect(await statusOf(callBob())).toBe(404);
    expect(await register('secret')).toBe(200);
  });

  test('A call needs the correct password', async () => {
    onCall = (_req, res) => res.send(486);
    expect(await statusOf(callBob({ ...credentials, password: 'wrong' }))).toBe(407);
    expect(await statusOf(callBob())).toBe(486);
  });

  test.each([
    ['UDP', ''],
    ['TCP to the carrier', ';transport=tcp'],
  ])('A call over %s follows its route set when either side changes or ends it', async (_, transport) => {
    const routes: string[] = [];
    const dialogs: SrfDialog[] = [];
    onCall = async (req, res) => {
      routes.push(req.get('Record-Route'));
      const dialog = await bob.srf.createUAS(req, res, { localSdp: SDP });
      dialog.on('modify', (_offer: SrfRequest, answer: SrfResponse) =>
        answer.send(200, { headers: { 'Content-Type': 'application/sdp' }, body: OTHER_SDP }),
      );
      dialogs.push(dialog);
    };
    for (const ender of ['caller', 'callee'] as const) {
      const dialog = await callBob(credentials, transport);
      expect(await dialog.modify(SDP.replace('sendrecv', 'sendonly'))).toContain('o=- 2 2');
      const other = dialogs.pop();
      const [ending, ended] = ender === 'caller' ? [dialog, other] : [other, dialog];
      const hears = new Promise((resolve) => ended?.on('destroy', resolve));
      await ending?.destroy();
      await hears;
    }
    expect(routes).toHaveLength(2);
    expect(
      routes.every((route) => route.includes(`127.0.0.1:${carrier.port}`) && route.includes(';lr')),
    ).toBe(true);
  });

  test('A canceled call is canceled at the callee', async () => {
    const canceled = new Promise<void>((resolve) => {
      onCall = (req, res) => {
        req.on('cancel', () => resolve());
        res.send(180);
      };
    });
    const placing = alice.srf.createUAC(
      `sip:bob@127.0.0.1:${carrier.port}`,
      { localSdp: SDP, auth: credentials },
      { cbRequest: (_error, request) => void setTimeout(() => request.cancel(), 200) },
    );
    expect(await statusOf(placing)).toBe(487);
    await canceled;
  });

  test('No transaction or dialog remains', async () => {
    expect(await register('secret', 0)).toBe(200);
    expect(await waitUntilDrained(alice.server, 10_000)).toEqual(NO_STATE);
    expect(await waitUntilDrained(bob.server, 10_000)).toEqual(NO_STATE);
  });
});
