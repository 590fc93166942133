import { expect, test } from 'vitest';
import {
  acceptRequest,
  contactUri,
  createDialogRequest,
  dialogStateOfUac,
  dialogStateOfUas,
} from '../../../sip/dialog/dialogState.ts';
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

const ROUTES = '<sip:near.example;lr>, <sip:far.example;lr>';

/** Our INVITE with CSeq 7, and the dialog of its 200 with these header fields. */
function outbound(fields: Readonly<Record<string, string>>) {
  const invite = request('INVITE', 7, 'sip:us@127.0.0.1:5060');
  const response = makeResponse(invite, 200, { toTag: 'callee' });
  for (const [name, value] of Object.entries(fields)) response.headers.set(name, value);
  return dialogStateOfUac(invite, response);
}

test('A response to our INVITE makes a dialog from our side', () => {
  expect(outbound({ contact: '<sip:callee@127.0.0.2>', 'record-route': ROUTES })).toEqual({
    callId: 'one',
    localTag: 'theirs',
    remoteTag: 'callee',
    localAddress: '<sip:caller@127.0.0.1>;tag=theirs',
    remoteAddress: '<sip:us@127.0.0.1>;tag=callee',
    localSequence: 7,
    remoteSequence: undefined,
    routeSet: ['<sip:far.example;lr>', '<sip:near.example;lr>'],
    remoteTarget: 'sip:callee@127.0.0.2',
    localTarget: '<sip:us@127.0.0.1:5060>',
  });
});

test('An INVITE and our response make a dialog from the callee’s side', () => {
  const invite = request('INVITE', 7, 'sip:caller@127.0.0.1:5070');
  invite.headers.set('record-route', ROUTES);
  const response = makeResponse(invite, 200, { toTag: 'ours' });
  response.headers.set('contact', '<sip:us@127.0.0.1:5060>');
  expect(dialogStateOfUas(invite, response)).toEqual({
    callId: 'one',
    localTag: 'ours',
    remoteTag: 'theirs',
    localAddress: '<sip:us@127.0.0.1>;tag=ours',
    remoteAddress: '<sip:caller@127.0.0.1>;tag=theirs',
    localSequence: 0,
    remoteSequence: 7,
    routeSet: ['<sip:near.example;lr>', '<sip:far.example;lr>'],
    remoteTarget: 'sip:caller@127.0.0.1:5070',
    localTarget: '<sip:us@127.0.0.1:5060>',
  });
});

test.each([
  ['goes to the peer’s Contact', {}, 'sip:callee@127.0.0.2', []],
  [
    'passes loose routers, the nearest first',
    { 'record-route': ROUTES },
    'sip:callee@127.0.0.2',
    ['<sip:far.example;lr>', '<sip:near.example;lr>'],
  ],
  [
    'follows routes with names and without brackets',
    { 'record-route': 'SBC, North <sip:near.example;lr>, sip:far.example;lr' },
    'sip:callee@127.0.0.2',
    ['sip:far.example;lr', 'SBC, North <sip:near.example;lr>'],
  ],
  [
    'names a strict router in its URI, and the Contact in the last Route',
    { 'record-route': '<sip:near.example;lr>, <sip:far.example>' },
    'sip:far.example',
    ['<sip:near.example;lr>', '<sip:callee@127.0.0.2>'],
  ],
])('A request in a dialog %s', (_what, fields, uri, routes) => {
  const bye = createDialogRequest(outbound({ contact: '<sip:callee@127.0.0.2>', ...fields }), 'BYE');
  expect([bye.uri, bye.headers.all('route')]).toEqual([uri, routes]);
  expect(['max-forwards', 'from', 'to', 'call-id', 'cseq'].map((name) => bye.headers.get(name))).toEqual([
    '70',
    '<sip:caller@127.0.0.1>;tag=theirs',
    '<sip:us@127.0.0.1>;tag=callee',
    'one',
    '8 BYE',
  ]);
});

test('Requests of a dialog count up; an ACK has the number of its INVITE and counts for none', () => {
  const dialog = outbound({});
  const sequences = [
    createDialogRequest(dialog, 'INFO'),
    createDialogRequest(dialog, 'ACK', 7),
    createDialogRequest(dialog, 'ACK', 20),
    createDialogRequest(dialog, 'CANCEL', 21),
    createDialogRequest(dialog, 'UPDATE', 10),
    createDialogRequest(dialog, 'INVITE', 5),
    createDialogRequest(dialog, 'BYE'),
  ];
  expect(sequences.map(({ headers }) => headers.get('cseq'))).toEqual([
    '8 INFO',
    '7 ACK',
    '20 ACK',
    '21 CANCEL',
    '10 UPDATE',
    '5 INVITE',
    '11 BYE',
  ]);
});

test.each([
  [
    'the first of several',
    '"A" <sip:a@127.0.0.1;transport=tcp>;q=1, <sip:b@127.0.0.1>',
    'sip:a@127.0.0.1;transport=tcp',
  ],
  ['none for *', '*', undefined],
  ['none when it is malformed', '<sip:a@127.0.0.1', undefined],
])('The URI of Contact is %s', (_what, contact, uri) => {
  const message = request('INVITE', 7, 'sip:first@127.0.0.1');
  message.headers.set('contact', contact);
  expect(contactUri(message)).toBe(uri);
});

test('A response without Contact leaves our requests at the URI of the INVITE', () => {
  expect(outbound({}).remoteTarget).toBe('sip:us@127.0.0.1');
});
