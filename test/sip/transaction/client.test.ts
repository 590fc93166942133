import { expect, test } from 'vitest';
import type { SipRequest } from '../../../sip/message/message.ts';
import { messageOf, type SceneOptions, transactionScene } from './support/transactionScene.ts';

/** A request of ours that was sent, and what its user is told. */
function sentRequest(method: string, options: SceneOptions = {}) {
  const scene = transactionScene(options);
  const told: string[] = [];
  const request = messageOf(`${method} sip:callee@127.0.0.1 SIP/2.0`, undefined, `7 ${method}`) as SipRequest;
  request.headers.add('route', '<sip:proxy.example;lr>');
  const transaction = scene.layer.request(request, scene.flow, {
    onResponse: ({ status }) => void told.push(`${status}`),
    onTimeout: () => void told.push('timeout'),
    onTransportError: ({ message }) => void told.push(message),
    onTerminated: () => void told.push('terminated'),
  });
  const respond = (status: number, cseq = `7 ${method}`, branch = 'z9hG4bKtoken1') =>
    scene.receive(messageOf(`SIP/2.0 ${status} Fine`, `SIP/2.0/UDP 127.0.0.1:5060;branch=${branch}`, cseq));
  const settled = async () => {
    for (let n = 0; n < 5; n += 1) await Promise.resolve();
  };
  return { ...scene, told, transaction, respond, settled };
}

test('A request gets our Via with a branch of its own, and its responses are told until the final one', () => {
  const { clock, layer, respond, sent, told, transaction } = sentRequest('OPTIONS');
  expect(sent[0]).toContain('Via: SIP/2.0/UDP 127.0.0.1:5060;rport;branch=z9hG4bKtoken1\r\n');
  expect([transaction.hasProvisional, transaction.hasFinal]).toEqual([false, false]);
  respond(100);
  expect([transaction.hasProvisional, transaction.hasFinal]).toEqual([true, false]);
  respond(200);
  respond(200);
  expect([transaction.hasFinal, told]).toEqual([true, ['100', '200']]);
  clock.advance(5_000);
  expect([told.at(-1), layer.size.client]).toEqual(['terminated', 0]);
});

test('A response of another branch or method belongs to no transaction', () => {
  const { counters, respond, strays, told } = sentRequest('OPTIONS');
  respond(200, '7 OPTIONS', 'z9hG4bKother');
  respond(200, '7 BYE');
  expect([told, strays, counters.read()]).toEqual([[], [], { 'dropped.stray_response': 2 }]);
  respond(180, '7 INVITE');
  respond(300, '7 INVITE');
  expect([strays.length, counters.read()]).toEqual([0, { 'dropped.stray_response': 4 }]);
  respond(200, '7 INVITE');
  expect(strays.map(({ status }) => status)).toEqual([200]);
});

test('A refused INVITE is acknowledged on the same hop, as often as the refusal comes', () => {
  const { layer, lines, respond, sent, told } = sentRequest('INVITE');
  expect(layer.openCalls).toBe(1);
  respond(180);
  respond(486);
  respond(486);
  expect([told, layer.openCalls]).toEqual([['180', '486'], 0]);
  const ack = 'ACK sip:callee@127.0.0.1 SIP/2.0';
  expect(lines().slice(1)).toEqual([ack, ack]);
  for (const line of [
    'Via: SIP/2.0/UDP 127.0.0.1:5060;rport;branch=z9hG4bKtoken1',
    'Route: <sip:proxy.example;lr>',
    'Max-Forwards: 70',
    'From: <sip:caller@127.0.0.1>;tag=theirs',
    'To: <sip:us@127.0.0.1>',
    'Call-ID: one',
    'CSeq: 7 ACK',
  ])
    expect(sent[1]?.split('\r\n')).toContain(line);
});

test('An accepted INVITE is not acknowledged by the transaction, and each fork is told', () => {
  const { lines, respond, told } = sentRequest('INVITE');
  respond(200);
  respond(200);
  expect([lines().length, told]).toEqual([1, ['200', '200']]);
});

test('A CANCEL has the branch of its INVITE, and its response is not told', () => {
  const { layer, respond, sent, told, transaction } = sentRequest('INVITE');
  respond(180);
  layer.cancel(transaction, [['Reason', 'SIP;cause=200']]);
  expect(sent[1]).toMatch(/^CANCEL sip:callee@127\.0\.0\.1 .*branch=z9hG4bKtoken1\r$.*^CSeq: 7 CANCEL\r$/ms);
  expect(sent[1]).toContain('Reason: SIP;cause=200\r\n');
  expect(layer.size.client).toBe(2);
  respond(200, '7 CANCEL');
  respond(487);
  expect(told).toEqual(['180', '487']);
});

test('A request without a response times out', () => {
  const { clock, layer, told } = sentRequest('INVITE');
  clock.advance(32_000);
  expect([told, layer.size.client]).toEqual([['timeout', 'terminated'], 0]);
});

test('A transport that fails ends the transaction with its error', () => {
  const { fail, layer, told } = sentRequest('BYE', { isReliable: true });
  expect(layer.openCalls).toBe(1);
  fail(new Error('connection reset'));
  expect([told, layer.size.client]).toEqual([['connection reset', 'terminated'], 0]);
});

test('A transport that fails at once leaves no transaction, and a stop leaves none either', () => {
  const { clock, flow, layer } = transactionScene({ isReliable: true });
  const told: string[] = [];
  const user = {
    onResponse: () => undefined,
    onTimeout: () => void told.push('timeout'),
    onTransportError: ({ message }: Error) => void told.push(message),
  };
  const send = (_text: string, onError?: (error: Error) => void) => onError?.(new Error('closed'));
  const request = () => messageOf('BYE sip:callee@127.0.0.1 SIP/2.0', undefined, '7 BYE') as SipRequest;
  layer.request(request(), { ...flow, send }, user);
  expect([told, layer.size.client]).toEqual([['closed'], 0]);

  layer.request(request(), flow, user);
  expect(layer.size.client).toBe(1);
  layer.close();
  clock.advance(40_000);
  expect([told, layer.size.client]).toEqual([['closed'], 0]);
});

test.each<[string, SceneOptions & { answer?: number }, string[]]>([
  ['ends the transaction when it is closed', {}, ['the UDP port is closed', 'terminated']],
  ['does not end it after a response', { answer: 180 }, ['180']],
  ['is not asked over a reliable transport', { isReliable: true }, []],
])(
  'The port of a silent peer is probed at the third transmission; it %s',
  async (_what, options, expected) => {
    let probes = 0;
    const isPortUnreachable = async () => {
      probes += 1;
      return true;
    };
    const { clock, respond, settled, told } = sentRequest('INVITE', { ...options, isPortUnreachable });
    clock.advance(1_499);
    await settled();
    expect(probes).toBe(0);
    clock.advance(1);
    if (options.answer) respond(options.answer);
    await settled();
    expect([told, probes]).toEqual([expected, options.isReliable ? 0 : 1]);
  },
);

test('A request without a transaction gets a Via and is sent once', () => {
  const { clock, flow, layer, sent } = transactionScene();
  const ack = messageOf('ACK sip:callee@127.0.0.1 SIP/2.0', undefined, '7 ACK') as SipRequest;
  expect(layer.sendWithoutTransaction(ack, flow)).toContain('branch=z9hG4bKtoken1\r\n');
  clock.advance(32_000);
  expect([sent.length, layer.size.client]).toEqual([1, 0]);
});
