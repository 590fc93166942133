import { expect, test } from 'vitest';
import { makeResponse } from '../../../sip/message/response.ts';
import { messageOf, type SceneOptions, transactionScene } from './support/transactionScene.ts';

const BRANCH = 'branch=z9hG4bK1';

/** A request from 127.0.0.1:5070, answered. */
function answered(via: string, options: SceneOptions = {}, method = 'OPTIONS') {
  const scene = transactionScene(options);
  const name = options.isReliable ? 'TCP' : 'UDP';
  const request = messageOf(`${method} sip:us@127.0.0.1 SIP/2.0`, `SIP/2.0/${name} ${via}`, `1 ${method}`);
  scene.receive(request);
  const [transaction] = scene.begun;
  const failures: string[] = [];
  if (transaction) {
    transaction.onFailure = () => void failures.push('failed');
    transaction.onTerminated = () => void failures.push('terminated');
  }
  const respond = (status: number) =>
    transaction?.respond(makeResponse(transaction.request, status, { toTag: 'ours' }));
  respond(404);
  return { ...scene, request, failures, respond, via: request.headers.list('via')[0] };
}

test.each([
  ['the port of the Via', `127.0.0.1:5099;${BRANCH}`, 'udp:127.0.0.1:5099'],
  ['port 5060 when the Via has none', `127.0.0.1;${BRANCH}`, 'udp:127.0.0.1:5060'],
  ['the port of the request with rport', `127.0.0.1:5099;rport;${BRANCH}`, 'udp:127.0.0.1:5070'],
  ['the port of the request from behind a NAT', `10.0.0.1:5099;${BRANCH}`, 'udp:127.0.0.1:5070'],
  ['the port of the Via of a named host', `pbx.example:5099;${BRANCH}`, 'udp:127.0.0.1:5099'],
  ['its maddr', `127.0.0.1:5099;maddr=127.0.0.9;${BRANCH}`, 'udp:127.0.0.9:5099'],
  [
    'the source when maddr is no address',
    `127.0.0.1:5099;maddr=evil.example;${BRANCH}`,
    'udp:127.0.0.1:5099',
  ],
  ['maddr with the port of the request', `127.0.0.1:5070;maddr=127.0.0.9;${BRANCH}`, 'udp:127.0.0.9:5070'],
])('A response over UDP goes to %s', (_what, via, destination) => {
  expect(answered(via).destinations).toEqual([destination]);
});

test.each([
  ['the source port alone where the Via is true', `127.0.0.1:5070;${BRANCH}`, undefined],
  ['the address that rport asks for', `127.0.0.1:5070;rport;${BRANCH}`, '127.0.0.1'],
  ['the address of a sender behind a NAT', `10.0.0.1:5070;${BRANCH}`, '127.0.0.1'],
  ['the address of a named host', `pbx.example:5070;${BRANCH}`, '127.0.0.1'],
])('The top Via gets %s', (_what, via, received) => {
  const { via: recorded } = answered(via);
  expect(/;received=([^;]+)/.exec(recorded ?? '')?.[1]).toBe(received);
  expect(recorded).toMatch(/;rport=5070/);
});

test.each([
  ['the port of the Via', `127.0.0.1:5099;${BRANCH}`, 'tcp:127.0.0.1:5099'],
  ['port 5060 when the Via has none', `127.0.0.1;${BRANCH}`, 'tcp:127.0.0.1:5060'],
])(
  'A response goes over the connection of its request, and when that fails to %s',
  (_what, via, fallback) => {
    const { destinations, fail, failures } = answered(via, { isReliable: true }, 'INVITE');
    expect(destinations).toEqual(['tcp:127.0.0.1:5070']);
    fail(new Error('closed'));
    expect(destinations).toEqual(['tcp:127.0.0.1:5070', fallback]);
    expect(failures).toEqual([]);
    fail(new Error('refused'));
    expect(failures).toEqual(['failed', 'terminated']);
  },
);

test('A refused INVITE is repeated until its ACK, and fails without one', () => {
  const { clock, failures, layer, lines, receive } = answered(`127.0.0.1;${BRANCH}`, {}, 'INVITE');
  clock.advance(3_500);
  expect(lines()).toHaveLength(4);
  receive(messageOf('ACK sip:us@127.0.0.1 SIP/2.0', `SIP/2.0/UDP 127.0.0.1;${BRANCH}`, '1 ACK'));
  clock.advance(40_000);
  expect([lines().length, failures, layer.size.server]).toEqual([4, ['terminated'], 0]);

  const silent = answered(`127.0.0.1;${BRANCH}`, {}, 'INVITE');
  silent.clock.advance(32_000);
  expect([silent.failures, silent.layer.size.server]).toEqual([['failed', 'terminated'], 0]);
});

test.each([
  ['INVITE', [180, 200, 200, 404], ['180', '200', '200']],
  ['INVITE', [300, 200], ['300']],
  ['OPTIONS', [100, 299, 299], ['100', '299']],
])('Of the responses to %s %j are sent', (method, statuses, sent) => {
  const scene = transactionScene();
  scene.receive(
    messageOf(`${method} sip:us@127.0.0.1 SIP/2.0`, `SIP/2.0/UDP 127.0.0.1;${BRANCH}`, `1 ${method}`),
  );
  const [transaction] = scene.begun;
  expect(transaction?.status).toBe(0);
  for (const status of statuses)
    transaction?.respond(makeResponse(transaction.request, status, { toTag: 'a' }));
  expect(scene.lines().map((line) => line?.split(' ')[1])).toEqual(sent);
});

test('A malformed request is refused without a transaction', () => {
  const scene = transactionScene();
  const request = messageOf('OPTIONS sip:us@127.0.0.1 SIP/2.0', `SIP/2.0/UDP 127.0.0.1;${BRANCH}`, '1 BYE');
  scene.receive(request);
  expect(scene.lines()).toEqual([expect.stringMatching(/^SIP\/2\.0 400 /)]);
  expect([scene.begun, scene.counters.read()]).toEqual([[], { 'refused.malformed': 1 }]);
});
