import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SipServer, startSipServer } from '../../../sip/server.ts';
import { systemClock } from '../../../src/base/values/clock.ts';
import {
  type ControlOptions,
  connectControl,
  type SipControl,
  untilConnected,
} from '../../../src/telephony/control/control.ts';
import { header, Phone, SDP } from '../../sip/support/phone.ts';
import { SECRET, serverOptions } from '../../sip/support/rig.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

let assertNoLeaks: () => Promise<void>;

beforeAll(() => {
  assertNoLeaks = detectLeaks();
});
afterAll(() => assertNoLeaks());

const deaf = { onResponse: () => undefined, onConnectionLost: () => undefined };

function connect(port: () => number | undefined, changes: Partial<ControlOptions> = {}) {
  const errors: unknown[] = [];
  const events: string[] = [];
  const control = connectControl({
    target: () => {
      const known = port();
      return known === undefined ? undefined : { host: '127.0.0.1', port: known, secret: SECRET };
    },
    tag: 'callway-1',
    backoff: { firstMs: 20, maxMs: 80 },
    clock: systemClock,
    random: () => 0,
    onError: (error) => errors.push(error),
    ...changes,
  });
  control.events.on('connected', ({ version }) => events.push(`up ${version.replace(/\d.*/, '')}`));
  control.events.on('disconnected', ({ reason }) => events.push(`down: ${reason}`));
  return { control, errors, events };
}

/** A TCP server in the place of the SIP server. */
async function pretend(
  respond: (socket: Socket, frame: string) => void,
): Promise<{ port: number; connections: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const state = { port: 0, connections: 0, close: () => closing() };
  const server: Server = createServer((socket) => {
    state.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => respond(socket, data.toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  state.port = typeof address === 'object' && address ? address.port : 0;
  const closing = () =>
    new Promise<void>((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    });
  return state;
}

const frame = (text: string) => `${Buffer.byteLength(text)}#${text}`;
const welcome = (hello: string) => {
  const id = /#([^|]+)\|authenticate/.exec(hello)?.[1] ?? '';
  return frame(`x|response|${id}|OK|udp/127.0.0.1:5060|v0.9.9|udp/127.0.0.1:5060`);
};

test('A wrong secret is reported and retried with backoff', async () => {
  const server = await pretend((socket, text) => {
    const id = /#([^|]+)\|authenticate/.exec(text)?.[1] ?? '';
    socket.end(frame(`x|response|${id}|NO|incorrect secret`));
  });
  const { control, events } = connect(() => server.port, { backoff: { firstMs: 100, maxMs: 10_000 } });
  await vi.waitFor(() => expect(server.connections).toBe(3), 2000);
  expect(events).toEqual(['down: secret refused']);
  // After 100 and 200 ms the next delay is 400 ms.
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(server.connections).toBe(3);
  await control.close();
  await server.close();
});

test.each([
  ['an unknown message', frame('x|nonsense|y')],
  ['no frame at all', 'hello#world'],
])('%s from the SIP server closes the connection, not the process', async (_what, rubbish) => {
  const server = await pretend((socket, text) => {
    if (text.includes('authenticate')) socket.write(welcome(text));
    if (text.includes('route|') && server.connections === 1) socket.write(rubbish);
  });
  const { control, errors, events } = connect(() => server.port);
  await vi.waitFor(() =>
    expect(events).toEqual(['up v', 'down: invalid message from the SIP server', 'up v']),
  );
  expect(errors).toHaveLength(1);
  await control.close();
  await server.close();
});

test('A silent server is disconnected, before and after authentication', async () => {
  const clock = createSimulatedClock();
  let isMute = true;
  const pings: string[] = [];
  const server = await pretend((socket, text) => {
    if (text.includes('authenticate') && !isMute) socket.write(welcome(text));
    pings.push(...(text.match(/\|ping/g) ?? []));
  });
  const { control, events } = connect(() => server.port, { clock });
  await vi.waitFor(() => expect(server.connections).toBe(1));
  clock.advance(10_000);
  await vi.waitFor(() => expect(events).toEqual(['down: no answer in time']));
  isMute = false;
  clock.advance(20);
  await vi.waitFor(() => expect(events).toContain('up v'));
  clock.advance(15_000);
  await vi.waitFor(() => expect(pings).toHaveLength(1));
  clock.advance(10_000);
  await vi.waitFor(() => expect(events.at(-1)).toBe('down: ping timeout'));
  await control.close();
  await server.close();
});

test('Each connection sends its routes once', async () => {
  const routes: string[] = [];
  const server = await pretend((socket, text) => {
    if (text.includes('authenticate')) socket.write(welcome(text));
    routes.push(...(text.match(/route\|(?:invite|options)/g) ?? []));
    if (text.includes('route|') && server.connections === 1) setTimeout(() => socket.destroy(), 20);
  });
  const { control, events } = connect(() => server.port);
  await vi.waitFor(() => expect(events.filter((event) => event.startsWith('up'))).toHaveLength(2));
  await vi.waitFor(() => expect(routes).toHaveLength(4));
  expect(routes.sort()).toEqual(['route|invite', 'route|invite', 'route|options', 'route|options']);
  await control.close();
  await server.close();
});

test('A pending request fails when the connection is lost; later ones are refused until the reconnect', async () => {
  const server = await startSipServer(serverOptions());
  const phone = await Phone.open();
  let current: SipServer = server;
  const { control } = connect(() => current.controlPort);
  await untilConnected(control);
  const lost = new Promise<string>((resolve) => {
    control.request({ method: 'OPTIONS', uri: phone.uri }, { ...deaf, onConnectionLost: resolve });
  });
  await phone.next(/^OPTIONS/);
  await server.close();
  expect(await lost).toBe('connection closed by the SIP server');
  await expect(control.request({ method: 'OPTIONS', uri: phone.uri }, deaf)).rejects.toMatchObject({
    code: 'control_down',
  });
  current = await startSipServer(serverOptions());
  await untilConnected(control);
  const status = await new Promise<number>((resolve) => {
    control.request(
      { method: 'OPTIONS', uri: phone.uri },
      { ...deaf, onResponse: ({ message }) => resolve(message.status) },
    );
    phone
      .next(/^OPTIONS/)
      .then((options) => phone.send(phone.answer(options, '200 OK'), current.sipPorts[0]?.port ?? 0));
  });
  expect(status).toBe(200);
  await control.close();
  await phone.close();
  await current.close();
});

test('A request that the SIP server refuses fails with its text', async () => {
  const server = await startSipServer(serverOptions());
  const { control } = connect(() => server.controlPort);
  await untilConnected(control);
  const refusal = (request: Parameters<SipControl['request']>[0]) =>
    expect(control.request(request, deaf)).rejects;
  await refusal({ method: 'OPTIONS', uri: 'nothing' }).toMatchObject({
    code: 'request_refused',
    isDialogUnknown: false,
  });
  await refusal({ method: 'BYE', dialogId: 'gone;from-tag=1' }).toMatchObject({ isDialogUnknown: true });
  await control.close();
  await server.close();
});

test.each([
  ['MESSAGE', 405],
  ['OPTIONS', 200],
  ['BYE', 481],
  ['INVITE', 503],
])('%s without a handler gets %i', async (method, status) => {
  const server = await startSipServer(serverOptions());
  const phone = await Phone.open();
  const port = server.sipPorts[0]?.port ?? 0;
  const { control } = connect(() => server.controlPort);
  await untilConnected(control);
  phone.send(
    phone.request(method, port, {
      callId: `c-${method}`,
      branch: 'z9hG4bK-1',
      body: method === 'INVITE' ? SDP : '',
    }),
    port,
  );
  const answer = await phone.next(/^SIP\/2.0 [2-6]/);
  expect(answer).toMatch(new RegExp(`^SIP/2\\.0 ${status}`));
  if (method === 'INVITE') {
    phone.send(
      phone.request('ACK', port, { callId: `c-${method}`, branch: 'z9hG4bK-1', to: header(answer, 'To') }),
      port,
    );
  }
  await control.close();
  await phone.close();
  await server.close();
});

test('Without a target the control retries, and closing ends the wait', async () => {
  const { control, events } = connect(() => undefined, { backoff: { firstMs: 60_000, maxMs: 60_000 } });
  await vi.waitFor(() => expect(events).toEqual(['down: the SIP server is not running']));
  const startMs = performance.now();
  await control.close();
  await control.close();
  expect(performance.now() - startMs).toBeLessThan(30_000);
});

test('Closing ends the wait for a silent server', async () => {
  const server = await pretend(() => undefined);
  const { control } = connect(() => server.port, { clock: createSimulatedClock() });
  await vi.waitFor(() => expect(server.connections).toBe(1));
  await control.close();
  await server.close();
});
