import { expect, test } from 'vitest';
import { acceptRequest, dialogStateOfUas } from '../../../sip/dialog/dialogState.ts';
import type { SipRequest } from '../../../sip/message/message.ts';
import { parseText } from '../../../sip/message/parse.ts';
import { makeResponse } from '../../../sip/message/response.ts';

function request(method: string, sequence: number, contact: string): SipRequest {
  const message = parseText(
    [
      `${method} sip:us@127.0.0.1 SIP/2.0`,
      'Via: SIP/2.0/UDP 127.0.0.1:5070;branch=z9hG4bK1',
      'From: <sip:caller@127.0.0.1>;tag=theirs',
      'To: <sip:us@127.0.0.1>',
      'Call-ID: one',
      `CSeq: ${sequence} ${method}`,
      `Contact: <${contact}>`,
      '\r\n',
    ].join('\r\n'),
  );
  if (message.kind !== 'request') throw new Error('not a request');
  return message;
}

test.each([
  ['with the next CSeq is accepted', 8, true],
  ['with a CSeq after a gap is accepted', 100, true],
  ['with the CSeq of the INVITE is refused', 7, false],
  ['with an earlier CSeq is refused', 6, false],
])('A request in a dialog %s', (_what, sequence, isAccepted) => {
  const invite = request('INVITE', 7, 'sip:first@127.0.0.1:5070');
  const dialog = dialogStateOfUas(invite, makeResponse(invite, 200, { toTag: 'ours' }));
  expect(acceptRequest(dialog, request('UPDATE', sequence, 'sip:moved@127.0.0.1:5071'))).toBe(isAccepted);
  // A request that is refused changes nothing.
  expect(dialog).toMatchObject(
    isAccepted
      ? { remoteSequence: sequence, remoteTarget: 'sip:moved@127.0.0.1:5071' }
      : { remoteSequence: 7, remoteTarget: 'sip:first@127.0.0.1:5070' },
  );
  expect(acceptRequest(dialog, request('INFO', sequence, 'sip:third@127.0.0.1'))).toBe(false);
});
