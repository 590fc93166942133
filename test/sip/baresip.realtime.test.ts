import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requiresSipPeers } from '../support/skips.ts';
import { type Baresip, startBaresip } from './support/baresip.ts';
import { SDP } from './support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from './support/rig.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from './support/srf.ts';

let phone: Baresip;
let rig: Rig;
/** How the application handles a call. */
let onCall: (req: SrfRequest, res: SrfResponse) => void;
beforeAll(async () => {
  [phone, rig] = await Promise.all([startBaresip(), startRig()]);
  rig.srf.invite((req, res) => onCall(req, res));
});
afterAll(async () => {
  await Promise.all([phone?.close(), rig?.close()]);
});

const ended = (dialog: SrfDialog) => new Promise<void>((resolve) => dialog.on('destroy', () => resolve()));

describe('with baresip', requiresSipPeers, () => {
  test('We call, hold, resume and hang up', async () => {
    const dialog = await rig.srf.createUAC(phone.uri, { localSdp: SDP });
    expect(dialog.remote.sdp).toMatch(/^m=audio \d+ RTP\/AVP 0/m);
    expect(await dialog.modify(SDP.replace('sendrecv', 'sendonly'))).toMatch(/^a=recvonly/m);
    expect(await dialog.modify(SDP)).toMatch(/^a=sendrecv/m);
    await dialog.destroy();
  });

  test('We call, and baresip hangs up', async () => {
    const dialog = await rig.srf.createUAC(phone.uri, { localSdp: SDP });
    const hears = ended(dialog);
    await phone.hangUp();
    await hears;
  });

  test.each(['we', 'it'])('baresip calls, and %s hangs up', async (ender) => {
    const answered = new Promise<SrfDialog>((resolve, reject) => {
      onCall = (req, res) => {
        rig.srf.createUAS(req, res, { localSdp: SDP }).then(resolve, reject);
      };
    });
    await phone.dial(`sip:app@127.0.0.1:${rig.port}`);
    const dialog = await answered;
    expect(dialog.remote.sdp).toMatch(/^m=audio \d+ RTP\/AVP 0/m);
    if (ender === 'we') await dialog.destroy();
    else {
      const hears = ended(dialog);
      await phone.hangUp();
      await hears;
    }
  });

  test('baresip calls and is rejected, and nothing remains', async () => {
    const refused = new Promise<void>((resolve) => {
      onCall = (_req, res) => {
        res.send(603);
        resolve();
      };
    });
    await phone.dial(`sip:app@127.0.0.1:${rig.port}`);
    await refused;
    expect(await waitUntilDrained(rig.server, 10_000)).toEqual(NO_STATE);
  });
});
