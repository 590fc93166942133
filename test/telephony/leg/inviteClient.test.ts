import { expect, test } from 'vitest';
import type {
  OutgoingRequest,
  ReceivedResponse,
  ResponseHandlers,
} from '../../../src/telephony/control/connection.ts';
import type { SipControl } from '../../../src/telephony/control/control.ts';
import { InviteClient } from '../../../src/telephony/leg/inviteClient.ts';
import { createAuthenticator } from '../../../src/telephony/sip/authenticator.ts';
import { responseOf } from '../../support/fakeControl.ts';
import { unused } from '../../support/unused.ts';

const URI = 'sip:+886912345678@192.0.2.1';

/** A SIP control whose peer responds in the tick in which the request is sent. */
function instantServer(answers: readonly string[]) {
  const sent: OutgoingRequest[] = [];
  const request = (outgoing: OutgoingRequest, handlers: ResponseHandlers) => {
    sent.push(outgoing);
    const onTheWire = { uri: URI, transactionId: `t${sent.length}` };
    handlers.onSent?.(onTheWire);
    const text = answers[sent.length - 1];
    if (text !== undefined) handlers.onResponse(received(text));
    return Promise.resolve(onTheWire);
  };
  return { sent, control: { request, requestWhenConnected: () => undefined } };
}

function received(raw: string): ReceivedResponse {
  return {
    message: responseOf(...raw.trimEnd().split('\r\n')),
    isFromPeer: true,
    source: { address: '192.0.2.1', port: 5060 },
    acknowledge: () => undefined,
  };
}

const CHALLENGE =
  'SIP/2.0 407 Proxy Authentication Required\r\nProxy-Authenticate: Digest realm="gw.test", nonce="n1"\r\n\r\n';

/** Sends an INVITE that gets these answers. */
function invited(
  answers: readonly string[],
  followRedirects = false,
  mayRedirectTo: (uri: string) => Promise<boolean> = async () => true,
) {
  const { sent, control } = instantServer(answers);
  const told: string[] = [];
  const tell = (what: string) => () => void told.push(what);
  const client = new InviteClient(
    unused<SipControl>('control', control),
    {
      uri: URI,
      route: undefined,
      headers: {},
      body: '',
      dialogId: 'd1',
      followRedirects,
      mayRedirectTo,
    },
    createAuthenticator({ username: 'alice', password: 'wonderland', realm: null }, () => 'c1'),
    {
      onAnyResponse: () => undefined,
      onRinging: tell('ringing'),
      onAccepted: tell('accepted'),
      onRejected: tell('rejected'),
      onSendError: tell('failed'),
      onConnectionLost: tell('lost'),
    },
  );
  client.send();
  return { sent, told };
}

test('A challenge that arrives with the confirmation of the INVITE is answered', () => {
  const { sent, told } = invited([CHALLENGE, 'SIP/2.0 200 OK\r\n\r\n']);
  expect(told).toEqual(['accepted']);
  expect(sent.map(({ headers }) => headers?.CSeq)).toEqual(['1 INVITE', '2 INVITE']);
  expect(sent[1]?.headers?.['Proxy-Authorization']).toContain(`uri="${URI}"`);
});

test('No other host that a call is redirected to gets credentials, neither those of before nor on its challenge', async () => {
  const moved = 'SIP/2.0 302 Moved\r\nContact: <sip:x@elsewhere.test>\r\n\r\n';
  const { sent, told } = invited([CHALLENGE, moved, CHALLENGE.replace('n1', 'n2')], true);
  await settled();
  expect(told).toEqual(['rejected']);
  expect(sent.map(({ uri, headers }) => [uri, headers?.['Proxy-Authorization'] !== undefined])).toEqual([
    [URI, false],
    [URI, true],
    ['sip:x@elsewhere.test', false],
  ]);
});

test('Credentials are for another user of the same host, too', async () => {
  const moved = `SIP/2.0 302 Moved\r\nContact: <${URI.replace(/^sip:[^@]*/, 'sip:other')}>\r\n\r\n`;
  const { sent, told } = invited([moved, CHALLENGE, 'SIP/2.0 200 OK\r\n\r\n'], true);
  await settled();
  expect(told).toEqual(['accepted']);
  expect(sent[2]?.headers?.['Proxy-Authorization']).toContain('username="alice"');
});

test.each<[string, (uri: string) => Promise<boolean>, string[]]>([
  ['allowed', async () => true, ['sip:best@elsewhere.test']],
  ['allowed next', async (uri) => !uri.includes('best'), ['sip:next@elsewhere.test']],
  ['none', async () => false, []],
  ['known', () => Promise.reject(new Error('the database is away')), []],
])('A redirect goes to the preferred Contact that is %s', async (_what, mayRedirectTo, expected) => {
  const contacts = '<sip:next@elsewhere.test>;q=0.5, <sip:best@elsewhere.test>;q=0.9';
  const moved = `SIP/2.0 302 Moved\r\nContact: ${contacts}\r\n\r\n`;
  const { sent, told } = invited([moved, 'SIP/2.0 200 OK\r\n\r\n'], true, mayRedirectTo);
  await settled();
  expect(sent.slice(1).map(({ uri }) => uri)).toEqual(expected);
  expect(told).toEqual([expected.length > 0 ? 'accepted' : 'rejected']);
});

/** Runs the promises that are due. */
const settled = () => new Promise(setImmediate);
