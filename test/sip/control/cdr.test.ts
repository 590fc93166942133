import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { header, SDP } from '../support/phone.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
const records: string[] = [];
beforeEach(async () => {
  records.length = 0;
  rig = await startRig();
  const note = (event: string) => (source: string, _time: string, detail: unknown) =>
    records.push(`${event} ${source} ${typeof detail === 'string' ? detail : ''}`.trim());
  for (const event of ['attempt', 'start', 'stop']) rig.srf.on(`cdr:${event}`, note(event));
});
afterEach(async () => rig.close());

test('CDR events of a call that the caller ends', async () => {
  const { phone, port, srf } = rig;
  srf.invite((req, res) => void srf.createUAS(req, res, { localSdp: SDP }));
  phone.send(phone.request('INVITE', port, { callId: 'cdr', body: SDP }), port);
  const to = header(await phone.next(/^SIP\/2.0 200 /), 'To');
  phone.send(phone.request('ACK', port, { callId: 'cdr', to }), port);
  phone.send(phone.request('BYE', port, { callId: 'cdr', cseq: 2, to }), port);
  await vi.waitFor(() =>
    expect(records).toEqual(['attempt network', 'start application uas', 'stop network normal-release']),
  );
});

test('CDR events of a rejected call', async () => {
  const { phone, port, srf } = rig;
  srf.invite((_req, res) => res.send(486));
  phone.send(phone.request('INVITE', port, { callId: 'cdr2', body: SDP }), port);
  await vi.waitFor(() => expect(records).toEqual(['attempt network', 'stop application call-rejected']));
});

test('CDR events of an outgoing call that we end', async () => {
  const { phone, port, srf } = rig;
  const placing = srf.createUAC(phone.uri, { localSdp: SDP });
  phone.send(phone.answer(await phone.next(/^INVITE /), '200 OK', { body: SDP }), port);
  const ending = (await placing).destroy();
  phone.send(phone.answer(await phone.next(/^BYE /), '200 OK'), port);
  await ending;
  await vi.waitFor(() =>
    expect(records).toEqual(['attempt application', 'start network uac', 'stop application normal-release']),
  );
});
