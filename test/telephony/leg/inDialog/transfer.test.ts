import { expect, test } from 'vitest';
import type { SipRequest } from '../../../../sip/message/message.ts';
import { parseText } from '../../../../sip/message/parse.ts';
import { makeResponse } from '../../../../sip/message/response.ts';
import type { ReceivedResponse } from '../../../../src/telephony/control/connection.ts';
import type { IncomingRequest } from '../../../../src/telephony/control/incoming.ts';
import type { Dialog } from '../../../../src/telephony/leg/dialog.ts';
import { createTransfers, replacingUri } from '../../../../src/telephony/leg/inDialog/transfer.ts';
import { createSimulatedClock } from '../../../support/simulatedClock.ts';
import { unused } from '../../../support/unused.ts';

function parsed(method: string, headers: readonly string[], body: string): SipRequest {
  const message = parseText([`${method} sip:us@127.0.0.1 SIP/2.0`, ...headers, '', body].join('\r\n'));
  if (message.kind !== 'request') throw new Error('not a request');
  return message;
}

const from = { address: '127.0.0.1', port: 5070, transport: 'udp' };

const notify = (state: string, body = '', event = 'refer'): IncomingRequest => ({
  message: parsed('NOTIFY', [`Event: ${event}`, `Subscription-State: ${state}`], body),
  raw: '',
  dialogId: 'd',
  isNew: false,
  isFromServer: false,
  source: from,
  respond: async () => Promise.reject(new Error('not used')),
  onCancel: () => undefined,
});

const accepted: ReceivedResponse = {
  message: makeResponse(parsed('REFER', [], ''), 202),
  isFromPeer: true,
  source: from,
  acknowledge: () => undefined,
};

/** A transfer whose REFER was accepted. */
async function pendingTransfer() {
  const clock = createSimulatedClock();
  const transfers = createTransfers(
    unused<Dialog>('dialog', { request: async () => accepted }),
    'sip:us@127.0.0.1',
    clock,
    false,
  );
  let outcome = 'under way';
  const settled = transfers.transfer('sip:desk@pbx.example').then(
    () => {
      outcome = 'transferred';
    },
    (error: Error) => {
      outcome = error.message;
    },
  );
  const settles = async () => {
    for (let n = 0; n < 5; n += 1) await Promise.resolve();
    return outcome;
  };
  await settles();
  return { clock, transfers, settled, settles };
}

test.each([
  ['ends the subscription without a status', 'terminated;reason=noresource', '', 'transferred'],
  ['ends the subscription with a provisional status', 'Terminated', 'SIP/2.0 100 Trying', 'transferred'],
  ['reports success and keeps the subscription', 'active;expires=60', 'SIP/2.0 200 OK', 'transferred'],
  ['reports a failure', 'active', 'SIP/2.0 486 Busy Here', 'The transfer failed: 486 Busy Here'],
  ['ends with a failure', 'terminated', 'SIP/2.0 503 Gone', 'The transfer failed: 503 Gone'],
  ['reports ringing', 'active', 'SIP/2.0 180 Ringing', 'under way'],
  ['reports nothing', 'pending', '', 'under way'],
])('A NOTIFY that %s', async (_what, state, body, outcome) => {
  const { clock, transfers, settles, settled } = await pendingTransfer();
  expect(transfers.onNotify(notify(state, body))).toBe(true);
  expect(await settles()).toBe(outcome);
  clock.advance(120_000);
  await settled;
  expect(await settles()).toBe(
    outcome === 'under way' ? 'The transfer failed: the peer did not say how it went' : outcome,
  );
  expect(clock.pendingTimers()).toBe(0);
});

test('A NOTIFY of another event does not concern the transfer', async () => {
  const { transfers, settles } = await pendingTransfer();
  expect(transfers.onNotify(notify('terminated', '', 'dialog'))).toBe(false);
  expect(await settles()).toBe('under way');
});

test.each([
  ['the peer hangs up', true, 'transferred'],
  ['we hang up', false, 'The transfer failed: the call ended'],
])('When %s, the transfer is settled', async (_what, isRemote, outcome) => {
  const { transfers, settles } = await pendingTransfer();
  transfers.onLegEnded(isRemote);
  expect(await settles()).toBe(outcome);
});

test.each([
  [
    'the tags as the peer sees them, escaped',
    '<sip:desk@10.0.0.5:5062;transport=tcp>',
    'sip:desk@10.0.0.5:5062;transport=tcp?Replaces=a%2Bb%4010.0.0.1%3Bto-tag%3Dtheirs%3Bfrom-tag%3Dours&Require=replaces',
  ],
  ['no phone number', '<tel:+886223456789>', undefined],
])('The URI that replaces a dialog has %s', (_what, contact, uri) => {
  const dialog = {
    sipCallId: 'a+b@10.0.0.1',
    localAddress: '"Us" <sip:us@10.0.0.1>;tag=ours',
    remoteAddress: '<sip:desk@10.0.0.5;tag=none>;tag=theirs',
    remoteTarget: contact.slice(1, -1),
  };
  expect(replacingUri(dialog)).toBe(uri);
});
