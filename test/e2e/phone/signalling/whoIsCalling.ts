import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { twilioSignature } from '../../../../src/dialects/twilioSignature.ts';
import { CODECS } from '../../../media/support/callHarness.ts';
import { tone } from '../../../media/support/signals.ts';
import { callees } from '../../../scenarios/callees.ts';
import { header, SDP } from '../../../sip/support/phone.ts';
import { guideExample, readGuide } from '../../../support/guides.ts';
import { serveOnLoopback } from '../../../support/loopbackServer.ts';
import { startRtpPhone } from '../../../support/media/rtpPhone.ts';
import { startBot } from '../support/bot.ts';
import { startCallee } from '../support/callee.ts';
import { openHandset } from '../support/handset.ts';
import { type Line, type PlacedCall, SLOW } from '../support/line.ts';
import { installation } from './installation.ts';

const TIMEOUT = 120_000;
const CALLER = '+886912345678';
const skip = Boolean(process.env.TEST_WITHOUT_SIP_PEERS);

const guide = readGuide('who-is-calling.md');
const example = (name: string) => guideExample(guide, name);

/** The customer's system of the guide. @param answer - Undefined never answers. */
async function startCrm(answer: object | undefined) {
  const asked: unknown[] = [];
  const server = await serveOnLoopback(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    asked.push(JSON.parse(Buffer.concat(parts).toString()));
    if (answer) response.end(JSON.stringify(answer));
  });
  installation().closeAfterTests(() => server.close());
  const agent = example('agent');
  const url = `http://127.0.0.1:${server.port}/calls`;
  return { asked, agent: { ...agent, beforeStartConfig: { ...agent.beforeStartConfig, url } } };
}

/** A phone that calls a line; its INVITE is sent by `begin`. */
async function callerOf(agent: object, number: object = example('number')) {
  const handset = await openHandset(installation());
  const line = await installation().makeLine({
    agent,
    pathway: example('pathway'),
    trunks: [
      { port: handset.port, inboundCidrs: ['127.0.0.1/32'], optionsIntervalSeconds: 1, ...example('trunk') },
    ],
    number: { inboundEnabled: true, ...number },
  });
  handset.onRequest('OPTIONS', (request) => void handset.answer(request, '200 OK'));
  // The node knows the trunk now.
  await handset.next('OPTIONS');
  const uri = `sip:${line.number}@127.0.0.1:${installation().sipPort}`;
  const callId = `caller-${line.number}`;
  const invite = { callId, branch: `z9hG4bK-${callId}`, uri, to: `<${uri}>` };
  const extra = [`P-Asserted-Identity: <sip:${CALLER}@carrier.example>`, 'X-Customer-ID: 4711'];
  const begin = () => void handset.call('INVITE', { ...invite, extra, body: SDP });
  const hangUp = async (to: string) => {
    handset.call('BYE', { ...invite, to, cseq: 2, branch: `${invite.branch}-bye` });
    await handset.next('200', 'BYE');
  };
  /** @returns The tag of the answered call. */
  const answered = async () => {
    const accepted = await handset.next('200', 'INVITE');
    handset.call('ACK', { ...invite, to: header(accepted, 'To'), branch: `${invite.branch}-ack` });
    return header(accepted, 'To');
  };
  return { handset, line, invite, begin, answered, hangUp };
}

const only = (line: Line): Promise<PlacedCall> =>
  vi.waitFor(async () => {
    const { data } = (await line.api('GET', '/calls')).body;
    expect(data).toHaveLength(1);
    return { callId: data[0].id, sessionId: data[0].sessionId };
  }, SLOW);

const historyOf = async (line: Line, { sessionId }: PlacedCall) =>
  (await line.api('GET', `/session-history/${sessionId}`)).body;

const firstWords = (line: Line, call: PlacedCall): Promise<string> =>
  vi.waitFor(async () => {
    const { messages } = await historyOf(line, call);
    expect(messages).not.toHaveLength(0);
    return messages[0].content;
  }, SLOW);

describe.concurrent('Who is calling', { timeout: TIMEOUT }, () => {
  test('is asked while the phone rings, and greeted by name', async () => {
    const crm = await startCrm(example('answer'));
    const { handset, line, begin, answered, hangUp } = await callerOf(crm.agent);
    begin();
    await handset.next('180');
    const tag = await answered();
    const call = await only(line);
    // Its figures come a moment after its status.
    await vi.waitFor(async () => {
      expect(await line.readCall(call)).toMatchObject({
        status: 'in_progress',
        dynamicVariables: { line: 'sales', customerId: '4711' },
        mediaFigures: { codec: 'PCMU', packetsReceived: 0, mos: null },
      });
    }, SLOW);
    expect(crm.asked).toEqual([
      {
        ...example('asked'),
        projectId: line.id,
        sessionId: call.sessionId,
        call: {
          direction: 'inbound',
          fromNumber: CALLER,
          toNumber: line.number,
          callId: call.callId,
          trunkId: line.trunkIds[0],
        },
      },
    ]);
    expect(await firstWords(line, call)).toBe(example('answer').greeting);
    await hangUp(tag);
    await line.waitForFinalized(call);
    const history = await historyOf(line, call);
    expect(history.variables).toMatchObject({
      name: 'Ada',
      language: 'en',
      line: 'sales',
      customerId: '4711',
    });
    const entered = history.events.filter(({ type }: { type: string }) => type === 'node_entered');
    expect(entered.map(({ data }: { data: { nodeId: string } }) => data.nodeId)).toEqual(['vip']);
    expect(history.call.dynamicVariables).toEqual({ line: 'sales', customerId: '4711' });
  });
});

/** A bot of text turns, and what it was sent. */
async function startTextBot() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  installation().closeAfterTests(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await once(server, 'listening');
  const received: Record<string, unknown>[] = [];
  const connection = once(server, 'connection') as Promise<[WebSocket, IncomingMessage]>;
  const connected = connection.then(([socket, request]) => {
    socket.on('message', (data) => received.push(JSON.parse(String(data))));
    const send = (message: object) => socket.send(JSON.stringify(message));
    return { send, headers: request.headers };
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/relay`;
  return { url, received, connected };
}

describe.concurrent('An order', { timeout: TIMEOUT }, () => {
  test('reaches a bot of text turns, signed, which speaks by our voice and ends the call', async () => {
    const bot = await startTextBot();
    const handset = await openHandset(installation());
    const line = await installation().makeLine({ trunks: [{ port: handset.port, ...example('trunk') }] });
    const asOperator = { key: installation().gateway.adminToken };
    await line.api('PUT', '/providers/twilio', { apiKey: 'auth-token' }, asOperator);
    const media = { url: bot.url, dialect: 'conversationrelay', headers: [{ key: 'X-Bot', value: 'b' }] };
    const call = await line.call({ ...example('order'), media });
    handset.answer(await handset.next('INVITE'), '200 OK', SDP);
    const { send, headers } = await bot.connected;
    expect(headers).toMatchObject({
      'x-bot': 'b',
      'x-twilio-signature': twilioSignature('auth-token', bot.url),
    });
    await vi.waitFor(
      () =>
        expect(bot.received[0]).toMatchObject({
          type: 'setup',
          callSid: call.callId,
          direction: 'outbound',
          customParameters: { name: 'Ada', sessionId: call.sessionId },
        }),
      SLOW,
    );
    handset.onRequest('BYE', (bye) => void handset.answer(bye, '200 OK'));
    send({ type: 'text', token: 'Hello from the bot.', last: true });
    send({ type: 'end', handoffData: '{"reasonCode":"done"}' });
    await line.waitForFinalized(call);
    const history = await historyOf(line, call);
    expect(history.messages).toMatchObject([{ role: 'assistant', content: 'Hello from the bot.' }]);
    expect((await line.readCall(call)).endReason).toBe('agent_hangup');
  });

  test('reaches the INVITE, the bot’s start message, the webhooks and the history', async () => {
    const bot = await startBot('twilio');
    const handset = await openHandset(installation());
    const line = await installation().makeLine({ trunks: [{ port: handset.port, ...example('trunk') }] });
    const order = example('order');
    const call = await line.call({ ...order, media: { url: bot.url, dialect: 'twilio' } });
    const invite = await handset.next('INVITE');
    expect(header(invite, 'X-Ticket')).toBe('T-42');
    handset.answer(invite, '200 OK', SDP);
    const { start, socket } = await bot.nextSession();
    expect(start.customParameters).toMatchObject({
      callId: call.callId,
      direction: 'outbound',
      trunkId: line.trunkIds[0],
      channel: 'phone',
      name: 'Ada',
      campaign: 'spring',
      metadata: JSON.stringify(order.metadata),
      dynamicVariables: JSON.stringify(order.dynamicVariables),
    });
    await line.waitForStatus(call, 'in_progress');
    handset.onRequest('BYE', (bye) => void handset.answer(bye, '200 OK'));
    socket.close();
    await line.waitForFinalized(call);
    const { dynamicVariables, metadata } = order;
    const told = { dynamicVariables, metadata, answeringMachine: null };
    for (const body of installation().webhooks.forSession(call.sessionId))
      expect(body.call).toMatchObject(told);
    expect((await historyOf(line, call)).call).toMatchObject({ ...told, detectAnsweringMachine: false });
  });
});

describe.skipIf(skip)('Who answers', { timeout: TIMEOUT }, () => {
  test.each([
    [true, 'machine'],
    [false, null],
  ])(
    'is detected where detectAnsweringMachine is %s: %s',
    async (detectAnsweringMachine, answeringMachine) => {
      // The beep of a machine, again and again, and each is long: on a busy machine this phone stands still amid one.
      const beep = [...new Int16Array(16_000), ...tone(8000, 1000, 8000)];
      const beeps = Int16Array.from([...Array(5).fill(beep).flat(), ...new Int16Array(80_000)]);
      const phone = await startRtpPhone(CODECS.PCMU, beeps);
      onTestFinished(() => phone.close());
      const callee = await startCallee(callees.answers, { mediaPort: phone.port });
      const line = await installation().makeLine({ trunks: [{ port: callee.port }] });
      const call = await line.call({ detectAnsweringMachine });
      await phone.sendToSource();
      await vi.waitFor(async () => {
        const { mediaFigures } = await line.readCall(call);
        expect(mediaFigures).toMatchObject({ codec: 'PCMU', packetsReceived: expect.any(Number) });
        expect(mediaFigures.packetsReceived).toBeGreaterThan(10);
      }, SLOW);
      if (detectAnsweringMachine) {
        await vi.waitFor(async () => {
          const seen = await line.readCall(call);
          expect(seen.answeringMachine, JSON.stringify(seen)).toBe(answeringMachine);
        }, SLOW);
      }
      await line.api('POST', `/calls/${call.callId}/hangup`);
      expect((await line.waitForEnd(call)).answeringMachine).toBe(answeringMachine);
      await line.waitForFinalized(call);
      const bodies = installation().webhooks.forSession(call.sessionId);
      expect(bodies.find(({ event }) => event === 'call.ended').call.answeringMachine).toBe(answeringMachine);
    },
  );
});
