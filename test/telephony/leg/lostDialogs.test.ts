import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/base/values/clock.ts';
import type { DialogStore, StoredDialog } from '../../../src/calls/dialogStore.ts';
import type { Trunk } from '../../../src/calls/trunks/trunk.ts';
import { endLostDialogs } from '../../../src/telephony/leg/lostDialogs.ts';
import { header, Phone, SDP } from '../../sip/support/phone.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { startTelephonyRig, type TelephonyRig } from '../../support/telephonyRig.ts';
import { unused } from '../../support/unused.ts';

let assertNoLeaks: () => Promise<void>;
/** The node that has the calls, and the one that ends them. */
let node: TelephonyRig;
let survivor: TelephonyRig;

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
  node = await startTelephonyRig({ inbound: { inboundCidrs: ['127.0.0.1'] } });
  survivor = await startTelephonyRig();
});

afterAll(async () => {
  await Promise.all([node.close(), survivor.close()]);
  await assertNoLeaks();
});

/** The only dialog that is stored, once it is. */
async function storedDialog(): Promise<StoredDialog> {
  await vi.waitFor(() => expect(node.dialogs.size).toBe(1));
  const [dialog] = node.dialogs.values();
  if (!dialog) throw new Error('no dialog');
  return dialog;
}

/** The survivor finds the dialog. @returns The status of its BYE. */
function endOnSurvivor(dialog: StoredDialog, trunks: readonly Trunk[] = []): Promise<number> {
  return new Promise((resolve, reject) => {
    let found = [dialog];
    const stop = endLostDialogs({
      store: unused<DialogStore>('store', { takeLost: async () => found.splice(0) }),
      control: survivor.control,
      directory: { trunks },
      clock: systemClock,
      makeToken: () => 'f00',
      onEnded: (_dialog, status) => resolve(status),
      onError: reject,
    });
    onTestFinished(stop);
    found = [dialog];
  });
}

async function answeredOutbound(extra: readonly string[] = []) {
  const { leg, ended } = node.dial();
  const invite = await node.next(leg, 'INVITE');
  const accepted = node.phone.answer(invite, '200 OK', { extra: [...extra], body: SDP });
  node.phone.send(accepted, node.port);
  await node.next(leg, 'ACK');
  return { leg, ended, invite, accepted };
}

describe('The dialog of an answered call', () => {
  test('is stored until the call ends, with the Contact as last refreshed', async () => {
    const { leg, ended, invite, accepted } = await answeredOutbound();
    expect(await storedDialog()).toMatchObject({
      callId: 'call-1',
      sipCallId: leg.sipCallId,
      localAddress: header(invite, 'From'),
      remoteAddress: header(accepted, 'To'),
      localSequence: 1,
    });
    const update = node
      .calleeRequest('UPDATE', invite, accepted)
      .replace(/^Contact: .*$/m, 'Contact: <sip:moved@127.0.0.1:9>\r');
    node.phone.send(update, node.port);
    await vi.waitFor(async () => expect((await storedDialog()).remoteTarget).toBe('sip:moved@127.0.0.1:9'));
    node.phone.send(node.calleeRequest('BYE', invite, accepted), node.port);
    await ended;
    await vi.waitFor(() => expect(node.dialogs.size).toBe(0));
  });

  test('is ended by BYE from another node, in the dialog and above its CSeq', async () => {
    const { leg, ended, invite, accepted } = await answeredOutbound();
    const status = endOnSurvivor(await storedDialog());
    const bye = await node.next(leg, 'BYE');
    expect(header(bye, 'From')).toBe(header(invite, 'From'));
    expect(header(bye, 'To')).toBe(header(accepted, 'To'));
    expect(Number.parseInt(header(bye, 'CSeq'), 10)).toBeGreaterThan(1);
    expect(header(bye, 'Via')).toContain(`:${survivor.port}`);
    expect(header(bye, 'Reason')).toContain('cause=41');
    node.phone.send(node.phone.answer(bye, '200 OK'), survivor.port);
    expect(await status).toBe(200);
    node.phone.send(node.calleeRequest('BYE', invite, accepted), node.port);
    await ended;
  });

  test('is ended through its route set', async () => {
    const proxy = await Phone.open();
    onTestFinished(() => proxy.close());
    const routes = ['Record-Route: <sip:inner.example;lr>', `Record-Route: <sip:127.0.0.1:${proxy.port};lr>`];
    const { leg, ended, invite, accepted } = await answeredOutbound();
    const dialog = await storedDialog();
    const routed = {
      ...dialog,
      routeSet: [...routes].reverse().map((line) => line.replace('Record-Route: ', '')),
    };
    const status = endOnSurvivor(routed);
    const bye = await proxy.next(new RegExp(`^BYE .*^Call-ID: ${leg.sipCallId}\\r$`, 'ms'));
    expect(bye).toMatch(new RegExp(`^BYE ${dialog.remoteTarget.replace(/[.?+]/g, '\\$&')} SIP`));
    expect(header(bye, 'Route')).toContain(`<sip:127.0.0.1:${proxy.port};lr>`);
    expect(bye).toContain('<sip:inner.example;lr>');
    proxy.send(proxy.answer(bye, '200 OK'), survivor.port);
    expect(await status).toBe(200);
    node.phone.send(node.calleeRequest('BYE', invite, accepted), node.port);
    await ended;
  });

  test('is ended over the trunk, with its password, where the Contact cannot be reached', async () => {
    const { leg, ended, invite, accepted } = await answeredOutbound();
    const dialog = { ...(await storedDialog()), remoteTarget: 'sip:phone@host.invalid' };
    const status = endOnSurvivor(dialog, [node.trunk({ username: 'u', password: 'p' })]);
    const first = await node.next(leg, 'BYE');
    const challenge = 'Proxy-Authenticate: Digest realm="gw.test", nonce="n1", algorithm=MD5';
    node.phone.send(
      node.phone.answer(first, '407 Proxy Authentication Required', { extra: [challenge] }),
      survivor.port,
    );
    const second = await node.next(leg, 'BYE');
    expect(header(second, 'Proxy-Authorization')).toContain('username="u"');
    node.phone.send(node.phone.answer(second, '200 OK'), survivor.port);
    expect(await status).toBe(200);
    node.phone.send(node.calleeRequest('BYE', invite, accepted), node.port);
    await ended;
  });
});

test('The early dialog of a phone that rings is ended by BYE from another node', async () => {
  const { leg, ended } = node.dial();
  const invite = await node.next(leg, 'INVITE');
  node.phone.send(node.phone.answer(invite, '180 Ringing'), node.port);
  const early = await storedDialog();
  expect(early.remoteAddress).toMatch(/;tag=/);
  const status = endOnSurvivor(early);
  const bye = await node.next(leg, 'BYE');
  expect(header(bye, 'To')).toBe(early.remoteAddress);
  node.phone.send(node.phone.answer(bye, '200 OK'), survivor.port);
  expect(await status).toBe(200);
  node.phone.send(node.phone.answer(invite, '487 Request Terminated'), node.port);
  await ended;
  await vi.waitFor(() => expect(node.dialogs.size).toBe(0));
});

test('The dialog of an answered phone has the tag of its 200, not that of its 180', async () => {
  const { leg, ended } = node.dial();
  const invite = await node.next(leg, 'INVITE');
  const tagged = (response: string) => response.replace(/^(To: .*;tag=)[^\r]*/m, '$1other');
  node.phone.send(tagged(node.phone.answer(invite, '180 Ringing')), node.port);
  expect((await storedDialog()).remoteAddress).toMatch(/;tag=other$/);
  const accepted = node.phone.answer(invite, '200 OK', { body: SDP });
  node.phone.send(accepted, node.port);
  await node.next(leg, 'ACK');
  await vi.waitFor(async () => expect((await storedDialog()).remoteAddress).toBe(header(accepted, 'To')));
  node.phone.send(node.calleeRequest('BYE', invite, accepted), node.port);
  await ended;
});

test('The dialog of an inbound call is ended by BYE from another node', async () => {
  const invite = node.phone.request('INVITE', node.port, {
    callId: 'in-lost',
    branch: 'z9hG4bK-in-lost',
    to: `<sip:0223456789@127.0.0.1:${node.port}>`,
    body: SDP,
  });
  node.phone.send(invite, node.port);
  const leg = await (await node.nextInboundCall()).answer('call-2');
  const ok = await node.phone.next(/^SIP\/2.0 200 .*^Call-ID: in-lost\r$/ms);
  const uri = header(ok, 'Contact').replace(/[<>]/g, '');
  node.phone.send(
    node.phone.request('ACK', node.port, { callId: 'in-lost', to: header(ok, 'To'), uri }),
    node.port,
  );
  const status = endOnSurvivor(await storedDialog());
  const bye = await node.phone.next(/^BYE .*^Call-ID: in-lost\r$/ms);
  expect(header(bye, 'From')).toBe(header(ok, 'To'));
  expect(header(bye, 'To')).toBe(header(invite, 'From'));
  node.phone.send(node.phone.answer(bye, '200 OK'), survivor.port);
  expect(await status).toBe(200);
  const ended = leg.hangup();
  node.phone.send(
    node.phone.answer(await node.phone.next(/^BYE .*^Call-ID: in-lost\r$/ms), '200 OK'),
    node.port,
  );
  await ended;
});
