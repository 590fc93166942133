import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { jambonz } from '../../src/dialects/jambonz.ts';
import { createAudioOpener, JambonzApplications } from '../../src/streams/jambonzApplications.ts';
import type { RelayGrant, StreamGrant, StreamTickets } from '../../src/streams/streamTickets.ts';
import type { StreamSocket } from '../../src/streams/transport/streamSocket.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

const GRANT: StreamGrant = {
  projectId: 'p',
  sessionId: 's',
  dialect: 'jambonz',
  slotId: 'slot',
  publicUrl: 'https://voice.example.com',
};
const TO = '+15551234567';

class MemorySocket extends EventEmitter implements StreamSocket {
  readonly protocol = 'ws.jambonz.org';
  readonly sent: Record<string, unknown>[] = [];
  readonly closes: unknown[][] = [];
  bufferedAmount = 0;
  readyState = 1;
  isTerminated = false;

  send(message: string | Uint8Array): void {
    this.sent.push(JSON.parse(String(message)));
  }

  close(...given: unknown[]): void {
    this.closes.push(given);
    this.emit('close', given[0], Buffer.alloc(0));
  }

  terminate(): void {
    this.isTerminated = true;
    this.emit('close', 1006, Buffer.alloc(0));
  }

  ping(): void {}

  async receive(message: object | string): Promise<void> {
    this.emit('message', Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)), false);
    for (let n = 0; n < 4; n++) await new Promise((resolve) => setImmediate(resolve));
  }
}

function application() {
  const clock = createSimulatedClock();
  const socket = new MemorySocket();
  const opened: StreamGrant[] = [];
  const applications = new JambonzApplications({
    openAudio: async (grant) => `wss://voice.example.com/audio-${opened.push(grant)}`,
    clock,
    makeId: () => 'app-1',
    onError: () => undefined,
  });
  let hasEnded = false;
  const served = applications.serve(GRANT, socket).then(() => {
    hasEnded = true;
  });
  /** The commands of the agent on the audio that was opened last. */
  const agent = () => {
    const connection = { send: () => undefined, close: () => undefined };
    return applications.steered(opened.at(-1) ?? GRANT, jambonz.openServer(connection));
  };
  return { clock, socket, opened, applications, served, agent, hasEnded: () => hasEnded };
}

const begin = (socket: MemorySocket) =>
  socket.receive({ type: 'session:new', msgid: 'm1', call_sid: 'c', data: { call_status: 'trying' } });
const hook = (msgid: string, data: object) => ({ type: 'verb:hook', msgid, hook: '/transfer', data });

describe('A jambonz application', () => {
  test('is answered with the verbs of a conversation, whose audio has a ticket of its own', async () => {
    const { socket, opened } = application();
    await begin(socket);
    expect(socket.sent).toEqual([
      {
        type: 'ack',
        msgid: 'm1',
        data: [
          { verb: 'answer' },
          {
            verb: 'listen',
            url: 'wss://voice.example.com/audio-1',
            mixType: 'mono',
            sampleRate: 8000,
            passDtmf: true,
            bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 8000 },
          },
          { verb: 'hangup' },
        ],
      },
    ]);
    const { slotId: _slot, ...grant } = GRANT;
    expect(opened).toEqual([{ ...grant, applicationId: 'app-1' }]);
  });

  test('hangs up, sends digits, and transfers for the agent', async () => {
    const { socket, agent } = application();
    await begin(socket);
    socket.sent.length = 0;
    agent().command({ kind: 'send_dtmf', digits: '1#' });
    agent().command({ kind: 'transfer', to: TO, options: { timeoutSeconds: 20 } });
    agent().command({ kind: 'transfer', to: 'sip:a@b.example', options: { mode: 'refer' } });
    const targets = [TO, 'sip:a@b.example'];
    agent().command({ kind: 'transfer', to: TO, options: { targets, strategy: 'simultaneous' } });
    agent().command({ kind: 'hangup' });
    const verbs = (data: object[]) => ({ type: 'command', command: 'redirect', queueCommand: false, data });
    const phone = { type: 'phone', number: TO };
    const sip = { type: 'sip', sipUri: 'sip:a@b.example' };
    expect(socket.sent).toEqual([
      { type: 'command', command: 'dtmf', data: { dtmf: { digit: '1', duration: 250 } } },
      { type: 'command', command: 'dtmf', data: { dtmf: { digit: '#', duration: 250 } } },
      verbs([{ verb: 'dial', target: [phone], timeout: 20, actionHook: '/transfer' }]),
      verbs([{ verb: 'sip:refer', referTo: 'sip:a@b.example', actionHook: '/transfer' }]),
      verbs([{ verb: 'dial', target: [phone, sip], actionHook: '/transfer' }]),
      verbs([{ verb: 'hangup' }]),
    ]);
  });

  test.each([
    [{ dial_call_status: 'busy' }, 'busy'],
    [{ dial_call_status: 'no-answer' }, 'no_answer'],
    [{ dial_call_status: 'failed' }, 'failed'],
    [{ refer_status: 403 }, 'failed'],
    [{ refer_status: 202, final_referred_call_status: '486' }, 'failed'],
  ])('gives the agent the call again after %j', async (data, outcome) => {
    const { socket, opened, agent } = application();
    await begin(socket);
    agent().command({ kind: 'transfer', to: TO });
    await socket.receive(hook('m2', data));
    expect(socket.sent.at(-1)).toMatchObject({
      type: 'ack',
      msgid: 'm2',
      data: [{}, { verb: 'listen' }, {}],
    });
    expect(opened.at(-1)?.failedTransfer).toMatchObject({ to: TO, outcome });
  });

  test.each([
    [{ dial_call_status: 'completed' }],
    [{ refer_status: 202, final_referred_call_status: '200' }],
  ])('hangs up after the transfer that %j reports', async (data) => {
    const { socket, opened } = application();
    await begin(socket);
    await socket.receive(hook('m2', data));
    expect(socket.sent.at(-1)).toEqual({ type: 'ack', msgid: 'm2', data: [{ verb: 'hangup' }] });
    expect(opened).toHaveLength(1);
  });

  test('ends with its call', async () => {
    const { socket, served, hasEnded } = application();
    await begin(socket);
    await socket.receive({ type: 'call:status', msgid: 'm2', data: { call_status: 'in-progress' } });
    expect(hasEnded()).toBe(false);
    await socket.receive({ type: 'call:status', msgid: 'm3', data: { call_status: 'completed' } });
    await served;
    expect(socket.closes).toMatchObject([[1000, expect.any(String)]]);
  });

  test('that is lost ends when its audio has ended', async () => {
    const { socket, opened, applications, served, hasEnded } = application();
    await begin(socket);
    const endAudio = applications.beginAudio(opened[0] ?? GRANT, new MemorySocket());
    socket.terminate();
    await socket.receive('late');
    expect(hasEnded()).toBe(false);
    endAudio?.();
    await served;
  });

  test('gets one ticket for its session, and one for each transfer of the agent that failed', async () => {
    const { socket, opened, agent } = application();
    for (let n = 0; n < 3; n++) await begin(socket);
    const failed = hook('m2', { dial_call_status: 'busy' });
    await socket.receive(failed);
    expect(opened).toHaveLength(1);
    agent().command({ kind: 'transfer', to: TO });
    for (let n = 0; n < 3; n++) await socket.receive(failed);
    expect(opened).toHaveLength(2);
    expect(socket.sent.at(-1)).toEqual({ type: 'ack', msgid: 'm2' });
  });

  test('has one audio stream, which it outlives, and none after its end', async () => {
    const { socket, opened, applications, served, hasEnded } = application();
    await begin(socket);
    const grant = opened[0] ?? GRANT;
    const [earlier, later] = [new MemorySocket(), new MemorySocket()];
    const endEarlier = applications.beginAudio(grant, earlier);
    const endLater = applications.beginAudio(grant, later);
    expect([earlier.isTerminated, later.isTerminated]).toEqual([true, false]);
    endEarlier?.();
    await socket.receive({ type: 'call:status', msgid: 'm2', data: { call_status: 'completed' } });
    expect([hasEnded(), applications.hasEnded(grant)]).toEqual([false, false]);
    expect(later.closes).toMatchObject([[1000, expect.any(String)]]);
    endLater?.();
    await served;
    expect(applications.hasEnded(grant)).toBe(true);
  });

  test('survives garbage, and answers hooks that it did not ask for', async () => {
    const { socket } = application();
    for (const garbage of [
      '',
      '[]',
      'null',
      '{"type":7}',
      '{"type":"session:new"}',
      '{"type":"verb:hook","msgid":{}}',
    ])
      await socket.receive(garbage);
    await socket.receive({ type: 'verb:hook', msgid: 'm9', hook: '/other', data: null });
    await socket.receive({ type: 'jambonz:error', msgid: 'm10', data: {} });
    expect(socket.sent).toEqual([{ type: 'ack', msgid: 'm9' }]);
    expect(socket.closes).toEqual([]);
  });

  test('without a session, in a flood, and half-open is closed', async () => {
    const silent = application();
    silent.clock.advance(5000);
    expect(silent.socket.closes).toMatchObject([[1002, expect.any(String)]]);
    const flooded = application();
    for (let n = 0; n <= 2000; n++) flooded.socket.emit('message', Buffer.from('{}'), false);
    expect(flooded.socket.closes).toMatchObject([[1008, expect.any(String)]]);
    const large = application();
    for (let n = 0; n <= 125; n++) large.socket.emit('message', Buffer.alloc(256 * 1024), true);
    expect(large.socket.closes).toMatchObject([[1008, expect.any(String)]]);
    const gone = application();
    await begin(gone.socket);
    gone.clock.advance(90_000);
    expect(gone.socket.isTerminated).toBe(true);
    await Promise.all([silent.served, flooded.served, large.served, gone.served]);
  });
});

test('The ticket of an application’s audio is public, and leads to its voice thread', async () => {
  const issued: (StreamGrant | RelayGrant)[] = [];
  const open = createAudioOpener(
    unused<StreamTickets>('tickets', { issue: async (_ticket, grant) => void issued.push(grant) }),
    () => 'http://10.0.0.7:9000',
  );
  expect(await open(GRANT)).toMatch(/^wss:\/\/voice\.example\.com\/v1\/media-streams\//);
  expect(issued).toEqual([
    GRANT,
    { relayTo: expect.stringMatching(/^ws:\/\/10\.0\.0\.7:9000\/v1\/media-streams\//) },
  ]);
});
