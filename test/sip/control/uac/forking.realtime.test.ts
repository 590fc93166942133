import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { header, OTHER_SDP, Phone, SDP } from '../../support/phone.ts';
import { NO_STATE, type Rig, startRig, waitUntilDrained } from '../../support/rig.ts';
import type { SrfDialog, SrfRequest, SrfResponse } from '../../support/srf.ts';

/** An INVITE that a proxy forked to two callees, each with its own tag and address. */
let rig: Rig;
let other: Phone;
beforeEach(async () => {
  [rig, other] = await Promise.all([startRig(), Phone.open()]);
});
afterEach(async () => {
  await rig.close();
  await other.close();
});

interface Ringing {
  readonly placing: Promise<SrfDialog>;
  readonly invite: string;
  readonly heard: string[];
  answerOf(tag: string, status: string, extra?: string[], body?: string): string;
}

async function ring(): Promise<Ringing> {
  const { phone, port, srf } = rig;
  const heard: string[] = [];
  const placing = srf.createUAC(
    phone.uri,
    { localSdp: SDP, headers: { Supported: '100rel' } },
    {
      cbProvisional: (response) =>
        heard.push(`${response.status} ${/tag=(\w+)/.exec(response.get('To'))?.[1]}`),
    },
  );
  const invite = await phone.next(/^INVITE /);
  const answerOf = (tag: string, status: string, extra: string[] = [], body = '') =>
    (tag === 'two' ? other : phone).answer(invite, status, { tag, extra, body });
  const send = (text: string) => phone.send(text, port);
  for (const [tag, number] of [
    ['one', 7],
    ['two', 100],
  ] as const) {
    send(answerOf(tag, '183 Progress', ['Require: 100rel', `RSeq: ${number}`]));
  }
  return { placing, invite, heard, answerOf };
}

const fromCallee = (of: Phone, { invite, answerOf }: Ringing, tag: string, method: string, cseq: number) =>
  of
    .request(method, rig.port, {
      callId: header(invite, 'Call-ID'),
      cseq,
      to: header(invite, 'From'),
      branch: `z9hG4bK-${tag}-${cseq}`,
      uri: header(invite, 'Contact').replace(/[<>]/g, ''),
    })
    .replace(/^From:.*$/m, `From: ${header(answerOf(tag, '200 OK'), 'To')}`);

test('The PRACK for a reliable response goes to its callee', async () => {
  const { phone, port } = rig;
  const ringing = await ring();
  const { answerOf, heard, placing } = ringing;
  const first = await phone.next(/^PRACK /);
  const second = await other.next(/^PRACK /);
  expect([header(first, 'RAck'), header(second, 'RAck')]).toEqual(['7 1 INVITE', '100 1 INVITE']);
  expect([header(first, 'To'), header(second, 'To')].map((to) => /tag=(\w+)/.exec(to)?.[1])).toEqual([
    'one',
    'two',
  ]);
  phone.send(phone.answer(first, '200 OK'), port);
  other.send(other.answer(second, '200 OK'), port);
  // The RSeq of the first callee continues its own sequence.
  phone.send(answerOf('one', '180 Ringing', ['Require: 100rel', 'RSeq: 8']), port);
  const third = await phone.next(/^PRACK .*RAck: 8 /s);
  phone.send(phone.answer(third, '200 OK'), port);
  expect(heard).toEqual(['183 one', '183 two', '180 one']);
  phone.send(answerOf('one', '200 OK', [], OTHER_SDP), port);
  const dialog = await placing;
  expect(header(await phone.next(/^ACK /), 'To')).toContain('tag=one');
  const ending = dialog.destroy();
  phone.send(phone.answer(await phone.next(/^BYE /), '200 OK'), port);
  await ending;
});

test('A callee keeps its early dialog and its CSeq when others ring after it', async () => {
  const { phone, port } = rig;
  const ringing = await ring();
  const { answerOf, placing } = ringing;
  for (const peer of [phone, other]) peer.send(peer.answer(await peer.next(/^PRACK /), '200 OK'), port);
  phone.send(fromCallee(phone, ringing, 'one', 'UPDATE', 5000), port);
  // drachtio-srf rejects it without a listener, which shows that the dialog is known.
  expect(await phone.next(/^SIP\/2.0 \d+ .*CSeq: 5000 UPDATE/s)).toMatch(/^SIP\/2.0 (?!481)/);
  other.send(answerOf('two', '200 OK', [], OTHER_SDP), port);
  const dialog = await placing;
  expect(header(await other.next(/^ACK /), 'To')).toContain('tag=two');
  const gone = new Promise((resolve) => dialog.once('destroy', resolve));
  other.send(fromCallee(other, ringing, 'two', 'BYE', 1), port);
  await other.next(/^SIP\/2.0 200 .*CSeq: 1 BYE/s);
  await gone;
});

test('A second callee that accepts gets ACK and BYE', async () => {
  const { phone, port, srf } = rig;
  const { answerOf, placing } = await ring();
  for (const peer of [phone, other]) peer.send(peer.answer(await peer.next(/^PRACK /), '200 OK'), port);
  phone.send(answerOf('two', '200 OK', [], OTHER_SDP), port);
  const dialog = await placing;
  await other.next(/^ACK /);
  const seen = vi.fn((_request: SrfRequest, response: SrfResponse) => response.send(200));
  srf.on('bye', seen);
  phone.send(answerOf('one', '200 OK', [], OTHER_SDP), port);
  expect(header(await phone.next(/^ACK /), 'To')).toContain('tag=one');
  const bye = await phone.next(/^BYE /);
  expect(header(bye, 'To')).toContain('tag=one');
  phone.send(phone.answer(bye, '200 OK'), port);
  const ending = dialog.destroy();
  other.send(other.answer(await other.next(/^BYE /), '200 OK'), port);
  await ending;
  expect(seen).not.toHaveBeenCalled();
});

test('A callee that accepts after the call was refused gets ACK and BYE', async () => {
  const { phone, port, srf, server } = rig;
  const placing = srf
    .createUAC(phone.uri, { localSdp: SDP })
    .catch((error: { status: number }) => error.status);
  const invite = await phone.next(/^INVITE /);
  phone.send(phone.answer(invite, '486 Busy Here', { tag: 'one' }), port);
  expect(await placing).toBe(486);
  expect(header(await phone.next(/^ACK /), 'To')).toContain('tag=one');
  phone.send(phone.answer(invite, '200 OK', { tag: 'two', body: OTHER_SDP }), port);
  expect(header(await phone.next(/^ACK /), 'To')).toContain('tag=two');
  const bye = await phone.next(/^BYE /);
  expect(header(bye, 'To')).toContain('tag=two');
  phone.send(phone.answer(bye, '200 OK'), port);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});

test('The number of early dialogs is limited', async () => {
  const { phone, port, srf, server } = rig;
  const placing = srf
    .createUAC(phone.uri, { localSdp: SDP })
    .catch((error: { status: number }) => error.status);
  const invite = await phone.next(/^INVITE /);
  for (let index = 0; index < 80; index += 1) {
    phone.send(phone.answer(invite, '180 Ringing', { tag: `t${index}` }), port);
  }
  await vi.waitFor(() => expect(server.stats()['dropped.forks']).toBe(16));
  expect(server.stats()['now.dialogs']).toBe(64);
  phone.send(phone.answer(invite, '486 Busy Here', { tag: 't0' }), port);
  expect(await placing).toBe(486);
  expect(await waitUntilDrained(server)).toEqual(NO_STATE);
});
