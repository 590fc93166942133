import { expect, test, vi } from 'vitest';
import { parseText } from '../../../sip/message/parse.ts';
import type { IncomingRequest } from '../../../src/telephony/control/incoming.ts';
import { offerCall } from '../../../src/telephony/leg/inbound.ts';
import { SDP } from '../../sip/support/phone.ts';
import { createFakeControl, responseOf } from '../../support/fakeControl.ts';
import { createFakeMedia } from '../../support/fakeMedia.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { recordLegEvents, trunkOf } from '../../support/telephonyRig.ts';

const HEADERS = [
  'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK-1',
  'From: <sip:0912345678@192.0.2.1>;tag=caller',
  'To: <sip:0223456789@192.0.2.9>',
  'Call-ID: hasty',
];

/** A request of the caller; its responses are sent at once. */
function request(method: string, respond: () => Promise<void> = async () => undefined): IncomingRequest {
  const raw = [
    `${method} sip:0223456789@192.0.2.9 SIP/2.0`,
    ...HEADERS,
    `CSeq: 1 ${method}`,
    '',
    method === 'INVITE' ? SDP : '',
  ].join('\r\n');
  const message = parseText(raw);
  if (message.kind !== 'request') throw new Error('not a request');
  return {
    message,
    raw,
    dialogId: 'hasty',
    isNew: method === 'INVITE',
    isFromServer: false,
    source: { address: '192.0.2.1', port: 5060, transport: 'udp' },
    respond: async () => {
      await respond();
      return responseOf('SIP/2.0 200 OK');
    },
    onCancel: () => undefined,
  };
}

/** Runs all pending promise callbacks. */
const settled = async () => {
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
};

test('A leg emits answered and ended when ACK and BYE arrive with the confirmation of its 200', async () => {
  let toDialog: (request: IncomingRequest) => void = () => undefined;
  const control = {
    ...createFakeControl(),
    onDialogRequest: (_id: string, onRequest: typeof toDialog) => {
      toDialog = onRequest;
      return () => undefined;
    },
  };
  const trace = { add: () => undefined, assign: () => undefined, end: () => undefined };
  const openDialog = vi.fn();
  const deps = {
    control,
    clock: createSimulatedClock(),
    makeToken: () => 'f00',
    makeCallId: () => 'unused',
    onError: vi.fn(),
    media: createFakeMedia(),
    traceCall: () => trace,
    mediaTimeoutMs: 0,
    showsTrying: true,
    serviceRoute: async () => [],
    dialogs: { open: openDialog },
    resolveHost: async () => [],
  };
  const hasty = request('INVITE', async () => {
    toDialog(request('ACK'));
    await settled();
    toDialog(request('BYE'));
    await settled();
  });
  const called = { trunk: trunkOf({ host: '192.0.2.1', dtmf: 'info' }), number: undefined, toNumber: '' };
  const leg = await offerCall(deps, called, hasty, trace, () => undefined).answer('call-1');
  const { events, ended } = recordLegEvents(leg);
  expect(await ended).toMatchObject({ outcome: 'remote_hangup' });
  expect(events).toEqual(['answered', 'ended']);
  expect(deps.onError).not.toHaveBeenCalled();
  expect(openDialog).not.toHaveBeenCalled();
});
