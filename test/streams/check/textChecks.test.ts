import { describe, expect, test } from 'vitest';
import { conversationRelay } from '../../../src/dialects/conversationRelay.ts';
import type { TextBotHandler } from '../../../src/dialects/textDialect.ts';
import { acceptTextStream } from '../../../src/streams/acceptStream.ts';
import type { Finding } from '../../../src/streams/check/finding.ts';
import { checkTextBot } from '../../../src/streams/check/text/checkTextBot.ts';
import { checkTextGateway } from '../../../src/streams/check/text/checkTextGateway.ts';
import { PROJECT } from '../../support/memoryEngine.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { textCall } from '../../text/support/textCall.ts';
import { drive, type MemorySocket, memorySockets } from '../support/memorySockets.ts';

type Message = Readonly<Record<string, unknown>>;
/** The other end of a check: its reaction to each message. */
type Peer = (socket: MemorySocket, message: Message) => void;

const say = (socket: MemorySocket, message: object | string) =>
  socket.send(typeof message === 'string' ? message : JSON.stringify(message));
const answer = (socket: MemorySocket, text = 'Very well.') => {
  say(socket, { type: 'text', token: `${text} `, last: false });
  say(socket, { type: 'text', token: 'Bye.', last: true });
};
const isPrompt = ({ type, last }: Message) => type === 'prompt' && last !== false;
const goodApp: Peer = (socket, message) => isPrompt(message) && answer(socket);
/** Answers, and says one message more at the setup. */
const appThatSays =
  (...messages: readonly (object | string)[]): Peer =>
  (socket, message) => {
    if (message.type === 'setup') for (const one of messages) say(socket, one);
    else goodApp(socket, message);
  };

interface CheckOptions {
  readonly hasPartialPrompts?: boolean;
  readonly isListenOnly?: boolean;
  readonly isDeaf?: boolean;
}

async function checkApp(app: Peer, { isDeaf = false, ...options }: CheckOptions = {}) {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  end.isDeaf = isDeaf;
  const received: Message[] = [];
  end.on('message', (data: Buffer) => {
    const message = JSON.parse(String(data)) as Message;
    received.push(message);
    app(end, message);
  });
  const target = { streamId: 'VX1', customParameters: { name: 'Ada' } };
  const check = { dialect: conversationRelay, socket, clock, target, text: 'Is it open today', ...options };
  const findings = await drive(clock, checkTextBot(check));
  return { received, found: new Map(findings.map((finding) => [finding.check, finding])) };
}

const statuses = (found: ReadonlyMap<string, Finding>) =>
  [...found.values()].map(({ check, status }) => `${check} ${status}`);

describe('An app of ConversationRelay', () => {
  test('that does everything right passes every check', async () => {
    const { received, found } = await checkApp(
      appThatSays(
        { type: 'play', source: 'https://example.com/hello.wav', loop: 1, preemptible: false },
        { type: 'sendDigits', digits: '1w#' },
        { type: 'language', ttsLanguage: 'de-DE' },
      ),
      { hasPartialPrompts: true },
    );
    expect(statuses(found)).toEqual([
      ...['messages pass', 'tokens pass', 'answers pass', 'partials pass', 'interrupt pass', 'play pass'],
      ...['sendDigits pass', 'language pass', 'keys pass', 'error pass', 'hang-up skipped', 'closing pass'],
    ]);
    expect(received[0]).toMatchObject({ type: 'setup', sessionId: 'VX1', customParameters: { name: 'Ada' } });
    expect(received.slice(1).map(({ type, last }) => (last === undefined ? type : [type, last]))).toEqual([
      ...[
        ['prompt', false],
        ['prompt', false],
        ['prompt', false],
        ['prompt', true],
      ],
      ...[
        ['prompt', false],
        ['prompt', false],
        ['prompt', false],
        ['prompt', true],
      ],
      ...['interrupt', 'dtmf', 'error'],
    ]);
  });

  test.each<readonly [string, Finding['check'], Peer, RegExp]>([
    ['sends no JSON', 'messages', appThatSays('hello'), /hello is no JSON object/],
    ['sends an unknown type', 'messages', appThatSays({ type: 'say' }), /no message of type "say"/],
    ['sends a token that is no text', 'tokens', appThatSays({ type: 'text', token: 1 }), /text\.token/],
    [
      'sends `last` as text',
      'tokens',
      appThatSays({ type: 'text', token: 'a', last: 'true' }),
      /text\.last: .*boolean/,
    ],
    [
      'never sends `last`',
      'answers',
      (socket, message) => isPrompt(message) && say(socket, { type: 'text', token: 'Hi.' }),
      /no token of an answer has "last": true/,
    ],
    ['answers nothing', 'answers', () => undefined, /nothing came within 10000 ms/],
    [
      'answers what is only half said',
      'partials',
      (socket, { type }) => type === 'prompt' && answer(socket),
      /before the caller has finished/,
    ],
    ['plays a file', 'play', appThatSays({ type: 'play', source: 'hello.wav' }), /play\.source/],
    [
      'sends letters as digits',
      'sendDigits',
      appThatSays({ type: 'sendDigits', digits: '1x' }),
      /other than/,
    ],
    ['names no language', 'language', appThatSays({ type: 'language' }), /neither ttsLanguage nor/],
    [
      'hands over an object',
      'hang-up',
      (socket, { type }) => type === 'dtmf' && say(socket, { type: 'end', handoffData: { to: '+1' } }),
      /end\.handoffData: must be a text/,
    ],
    [
      'speaks after the end',
      'hang-up',
      appThatSays({ type: 'end' }, { type: 'text', token: 'Bye.', last: true }),
      /a message follows "end"/,
    ],
    [
      'fails at a key',
      'keys',
      (socket, m) => (m.type === 'dtmf' ? socket.close(1011) : goodApp(socket, m)),
      /1011/,
    ],
    [
      'fails at an error',
      'error',
      (socket, m) => (m.type === 'error' ? socket.terminate() : goodApp(socket, m)),
      /1006/,
    ],
  ])('that %s fails the check %s', async (_what, check, app, detail) => {
    const { found } = await checkApp(app, { hasPartialPrompts: true });
    expect(found.get(check)).toEqual({ check, status: 'fail', detail: expect.stringMatching(detail) });
  });

  test('that goes on when it is interrupted fails', async () => {
    let tokens = 0;
    let isTalking = false;
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    end.on('message', (data: Buffer) => {
      if (isPrompt(JSON.parse(String(data)) as Message)) isTalking = true;
    });
    const target = { streamId: 'VX1', customParameters: {} };
    const running = checkTextBot({ dialect: conversationRelay, socket, clock, target, text: 'Hello' });
    const findings = await drive(clock, running, () => {
      if (isTalking && ++tokens % 5 === 0)
        say(end, { type: 'text', token: 'and ', last: tokens % 100 === 0 });
    });
    const found = findings.find(({ check }) => check === 'interrupt');
    expect(found).toMatchObject({ status: 'fail', detail: expect.stringMatching(/goes on with its answer/) });
  });

  test('may end the call, may only listen, and must close', async () => {
    const ended = await checkApp(
      (socket, m) => isPrompt(m) && say(socket, { type: 'end', handoffData: '{}' }),
    );
    expect(ended.found.get('hang-up')).toMatchObject({
      status: 'pass',
      detail: 'by a message of type "end"',
    });
    expect(ended.found.get('keys')?.status).toBe('skipped');
    const listening = await checkApp(() => undefined, { isListenOnly: true });
    expect(listening.found.get('answers')?.status).toBe('skipped');
    const open = await checkApp(goodApp, { isDeaf: true });
    expect(open.found.get('closing')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/5000/),
    });
  });

  test('is our agent, which does everything right', async () => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const grant = { projectId: PROJECT, sessionId: 's', dialect: 'conversationrelay' } as const;
    const accepting = acceptTextStream(end, grant, { clock, onListenerError: () => undefined });
    const target = { streamId: 'VX1', customParameters: {} };
    const running = checkTextBot({ dialect: conversationRelay, socket, clock, target, text: 'Hello there.' });
    const gateway = await accepting;
    if (!gateway) throw new Error('no stream');
    await textCall({ answer: () => ({ text: 'Very well. And what else?' }), gateway, clock });
    const findings = await drive(clock, running);
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
    const passed = findings.filter(({ status }) => status === 'pass').map(({ check }) => check);
    expect(passed).toEqual(['messages', 'tokens', 'answers', 'interrupt', 'keys', 'error', 'closing']);
  });
});

/** A gateway's end: it begins with this message, and reacts to those of the app. */
async function checkGateway(setup: object | string | undefined, gateway: Peer, isDeaf = false) {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  end.isDeaf = isDeaf;
  end.on('message', (data: Buffer) => gateway(end, parsed(String(data))));
  const running = checkTextGateway({ dialect: conversationRelay, socket, clock, durationMs: 8000 });
  if (setup !== undefined) say(end, setup);
  const findings = await drive(clock, running);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

function parsed(text: string): Message {
  try {
    return JSON.parse(text) as Message;
  } catch {
    return { type: 'invalid' };
  }
}

const SETUP = { type: 'setup', sessionId: 'VX1', callSid: 'CA1', customParameters: { name: 'Ada' } };
const goodGateway: Peer = (socket, { type }) => {
  if (type === 'invalid') say(socket, { type: 'error', description: 'Invalid message received' });
  if (type === 'end') socket.close(1000);
};
/** Sends one message more as digits are sent. */
const gatewayThatSays =
  (...messages: readonly (object | string)[]): Peer =>
  (socket, message) => {
    if (message.type === 'sendDigits') for (const one of messages) say(socket, one);
    goodGateway(socket, message);
  };

describe('A gateway of ConversationRelay', () => {
  test('that does everything right passes every check', async () => {
    const found = await checkGateway(
      SETUP,
      gatewayThatSays(
        { type: 'prompt', voicePrompt: 'Good', lang: 'en-US', last: false },
        { type: 'prompt', voicePrompt: 'Good day', lang: 'en-US', last: true },
        { type: 'interrupt', utteranceUntilInterrupt: 'You said', durationUntilInterruptMs: 300 },
        { type: 'dtmf', digit: '7' },
        { type: 'info', name: 'tokensPlayed', value: 'You said' },
      ),
    );
    expect([...found.values()].map(({ check, status, detail }) => `${check} ${status}: ${detail}`)).toEqual([
      'start pass: custom parameters: name',
      'messages pass: all can be read',
      'prompts pass: 1 complete, 1 in part',
      'interrupt pass: 1, of words that the gateway was given',
      'keys pass: 7 was pressed',
      'error pass: “Invalid message received” of invalid JSON',
      'hang-up pass: closed after a message of type "end"',
      'closing pass: closed with 1000 after the end of the call',
    ]);
  });

  test.each<readonly [string, Finding['check'], object | string | undefined, Peer, RegExp]>([
    ['sends no setup', 'start', undefined, goodGateway, /within 5000 ms/],
    ['begins with a prompt', 'start', { type: 'prompt', voicePrompt: 'Hi' }, goodGateway, /is no "setup"/],
    ['names no call', 'start', { type: 'setup', sessionId: 'VX1' }, goodGateway, /setup\.callSid/],
    ['sends no JSON', 'messages', SETUP, gatewayThatSays('hello'), /no JSON object/],
    ['sends words that are no text', 'prompts', SETUP, gatewayThatSays({ type: 'prompt' }), /voicePrompt/],
    ['sends keys together', 'keys', SETUP, gatewayThatSays({ type: 'dtmf', digit: '12' }), /is no key/],
    [
      'says what was heard in other words',
      'interrupt',
      SETUP,
      gatewayThatSays({ type: 'interrupt', utteranceUntilInterrupt: 'Something else' }),
      /never given the words "Something else"/,
    ],
    [
      'refuses what is right',
      'messages',
      SETUP,
      gatewayThatSays({ type: 'error', description: 'no digits' }),
      /refuses what is right: no digits/,
    ],
    [
      'takes invalid JSON',
      'error',
      SETUP,
      (socket, m) => m.type === 'end' && socket.close(1000),
      /no message of type "error"/,
    ],
    [
      'ends at invalid JSON',
      'error',
      SETUP,
      (socket, m) => m.type === 'invalid' && socket.close(1007),
      /with 1007/,
    ],
  ])('that %s fails the check %s', async (_what, check, setup, gateway, detail) => {
    const found = await checkGateway(setup, gateway);
    expect(found.get(check)).toEqual({ check, status: 'fail', detail: expect.stringMatching(detail) });
  });

  test('must close after the end', async () => {
    const found = await checkGateway(SETUP, () => undefined, true);
    expect(found.get('hang-up')).toMatchObject({ status: 'fail', detail: expect.stringMatching(/5000 ms/) });
  });

  test('is ours, which does everything right', async () => {
    const clock = createSimulatedClock();
    const [socket, end] = memorySockets();
    const running = checkTextGateway({ dialect: conversationRelay, socket, clock, durationMs: 8000 });
    const connection = {
      send: (message: string | Uint8Array) => end.send(message),
      close: () => end.close(),
    };
    const call = { streamId: 'VX1', callId: 'CA1', customParameters: { name: 'Ada' } };
    const client = conversationRelay.openTextClient(connection, call);
    const nothing = () => undefined;
    const listener: TextBotHandler = {
      ...{ play: nothing, sendDigits: nothing, useLanguage: nothing, malformed: nothing },
      say: ({ text, isLast }) => {
        if (!text.startsWith('You said') && isLast) client.words('Good day.', 'en-US');
        if (text.startsWith('You said')) client.interrupted('You said: Good', 400);
      },
      end: () => end.close(1000),
    };
    end.on('message', (data: Buffer) => client.read(String(data), listener));
    const findings = await drive(clock, running);
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      ...['start pass', 'messages pass', 'prompts pass', 'interrupt pass', 'keys skipped', 'error pass'],
      ...['hang-up pass', 'closing pass'],
    ]);
  });
});
