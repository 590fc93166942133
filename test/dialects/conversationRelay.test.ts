import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { conversationRelay } from '../../src/dialects/conversationRelay.ts';
import type { TextBotHandler, TextGatewayHandler } from '../../src/dialects/textDialect.ts';

const SETUP = {
  type: 'setup',
  sessionId: 'VX1',
  callSid: 'CA1',
  from: '+15551112222',
  to: '+15553334444',
  direction: 'inbound',
  customParameters: { name: 'Ada', nested: { a: 1 } },
};

/** Each member of a handler as a list of calls. */
function recorder<Handler extends object>(names: readonly (keyof Handler & string)[]) {
  const calls: unknown[][] = [];
  const handler = Object.fromEntries(
    names.map((name) => [name, (...given: unknown[]) => void calls.push([name, ...given])]),
  ) as unknown as Handler;
  return { handler, calls };
}

function connection() {
  const sent: unknown[] = [];
  const send = (message: string | Uint8Array) => void sent.push(JSON.parse(String(message)));
  return { sent, connection: { send, close: () => undefined } };
}

const asMessage = (message: object | string) =>
  typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message);

function openServer() {
  const { sent, connection: own } = connection();
  const server = conversationRelay.openTextServer(own);
  return {
    server,
    sent,
    read(message: object | string) {
      const { handler, calls } = recorder<TextGatewayHandler>([
        'words',
        'dtmf',
        'interrupted',
        'played',
        'silent',
        'fault',
        'malformed',
      ]);
      server.read(asMessage(message), handler);
      return calls;
    },
  };
}

function openClient() {
  const { sent, connection: own } = connection();
  const client = conversationRelay.openTextClient(own, {
    streamId: 'S1',
    callId: 'C1',
    customParameters: {
      fromNumber: '+15551112222',
      toNumber: '+15553334444',
      direction: 'inbound',
      name: 'Ada',
    },
  });
  return {
    client,
    sent,
    read(message: object | string) {
      const { handler, calls } = recorder<TextBotHandler>([
        'say',
        'play',
        'sendDigits',
        'useLanguage',
        'end',
        'malformed',
      ]);
      client.read(asMessage(message), handler);
      return calls;
    },
  };
}

describe('ConversationRelay, our agent’s end', () => {
  test('starts with setup, whose texts are custom parameters', () => {
    const { server } = openServer();
    expect(server.readStart('{"type":"prompt","voicePrompt":"Hi"}')).toBeUndefined();
    expect(server.readStart(JSON.stringify(SETUP))).toEqual({ customParameters: { name: 'Ada' } });
    expect(server.readStart('{"type":"setup"}')).toEqual({ customParameters: {} });
  });

  test.each([
    [SETUP, []],
    [{ type: 'prompt', voicePrompt: 'Hi!', lang: 'en-US', last: true }, [['words', 'Hi!', 'en-US', true]]],
    [{ type: 'prompt', voicePrompt: 'Hi', last: false }, [['words', 'Hi', undefined, false]]],
    [{ type: 'prompt', voicePrompt: 'Hi', lang: '<b>' }, [['words', 'Hi', undefined, true]]],
    [{ type: 'prompt', voicePrompt: 'x'.repeat(10_001) }, [['malformed']]],
    [{ type: 'prompt' }, [['malformed']]],
    [{ type: 'dtmf', digit: '#' }, [['dtmf', '#']]],
    [{ type: 'dtmf', digit: 'x' }, [['malformed']]],
    [
      { type: 'interrupt', utteranceUntilInterrupt: 'Life is', durationUntilInterruptMs: '460' },
      [['interrupted', 'Life is', 460]],
    ],
    [{ type: 'interrupt', utteranceUntilInterrupt: '' }, [['interrupted', '', undefined]]],
    [{ type: 'interrupt' }, [['malformed']]],
    [{ type: 'info', name: 'tokensPlayed', value: 'Hello ' }, [['played', 'Hello ']]],
    [{ type: 'info', name: 'agentSpeaking', value: 'off' }, [['silent']]],
    [{ type: 'info', name: 'agentSpeaking', value: 'on' }, []],
    [{ type: 'error', description: 'Invalid message' }, [['fault', 'Invalid message']]],
    [{ type: 'error' }, [['fault', 'The gateway names no reason']]],
    [{ type: 'media' }, [['malformed']]],
    ['not JSON', [['malformed']]],
  ])('reads %j', (message, calls) => {
    expect(openServer().read(message)).toEqual(calls);
  });

  test('sends tokens, digits, languages and the end', () => {
    const { server, sent } = openServer();
    server.say({ text: 'Hello ', isLast: false, language: 'en-US', interruptible: true });
    server.say({ text: '', isLast: true, language: undefined, interruptible: false });
    server.useLanguage('es-MX');
    server.sendDigits('12#');
    server.end({ reasonCode: 'hangup', sessionId: 's' });
    expect(sent).toEqual([
      { type: 'text', token: 'Hello ', last: false, lang: 'en-US', interruptible: true, preemptible: false },
      { type: 'text', token: '', last: true, interruptible: false, preemptible: false },
      { type: 'language', ttsLanguage: 'es-MX', transcriptionLanguage: 'es-MX' },
      { type: 'sendDigits', digits: '12#' },
      { type: 'end', handoffData: '{"reasonCode":"hangup","sessionId":"s"}' },
    ]);
  });
});

describe('ConversationRelay, our gateway’s end', () => {
  test('begins with setup, as Twilio does', () => {
    expect(openClient().sent).toEqual([
      {
        type: 'setup',
        sessionId: 'S1',
        accountSid: 'callway',
        parentCallSid: '',
        callSid: 'C1',
        from: '+15551112222',
        to: '+15553334444',
        forwardedFrom: '',
        callType: 'PSTN',
        callerName: '',
        direction: 'inbound',
        callStatus: 'IN_PROGRESS',
        customParameters: {
          fromNumber: '+15551112222',
          toNumber: '+15553334444',
          direction: 'inbound',
          name: 'Ada',
        },
      },
    ]);
  });

  test('sends words, digits and interruptions', () => {
    const { client, sent } = openClient();
    client.words('Hi!', 'en-US');
    client.words('Hi!', undefined);
    client.dtmf('4');
    client.interrupted('Life is', 460);
    expect(sent.slice(1)).toEqual([
      { type: 'prompt', voicePrompt: 'Hi!', lang: 'en-US', last: true },
      { type: 'prompt', voicePrompt: 'Hi!', last: true },
      { type: 'dtmf', digit: '4' },
      { type: 'interrupt', utteranceUntilInterrupt: 'Life is', durationUntilInterruptMs: 460 },
    ]);
  });

  const said = { text: 'Hi', isLast: false, language: undefined, interruptible: true };
  const clip = { url: 'https://x.example/a.wav', times: 1, interruptible: true };
  test.each([
    [{ type: 'text', token: 'Hi' }, [['say', said]]],
    [
      { type: 'text', token: 'Hi', last: true, lang: 'de-DE', interruptible: false, preemptible: true },
      [['say', { text: 'Hi', isLast: true, language: 'de-DE', interruptible: false }]],
    ],
    [{ type: 'play', source: clip.url }, [['play', clip]]],
    [
      { type: 'play', source: clip.url, loop: 3, interruptible: false },
      [['play', { ...clip, times: 3, interruptible: false }]],
    ],
    [{ type: 'play', source: clip.url, loop: 0 }, [['play', { ...clip, times: 1000 }]]],
    [{ type: 'sendDigits', digits: '9www4#' }, [['sendDigits', '94#']]],
    [
      { type: 'language', ttsLanguage: 'sv-SE', transcriptionLanguage: 'en-US' },
      [['useLanguage', { spoken: 'sv-SE', understood: 'en-US' }]],
    ],
    [{ type: 'end', handoffData: '{"a":1}' }, [['end', '{"a":1}']]],
    [{ type: 'end' }, [['end', undefined]]],
  ])('reads %j', (message, calls) => {
    expect(openClient().read(message)).toEqual(calls);
  });

  test.each([
    [{ type: 'text' }],
    [{ type: 'play', source: '' }],
    [{ type: 'sendDigits', digits: 'xyz' }],
    [{ type: 'language' }],
    [{ foo: 'bar' }],
    ['not JSON'],
  ])('tells the bot that %j is invalid', (message) => {
    const { read, sent } = openClient();
    expect(read(message)).toEqual([['malformed']]);
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    expect(sent.at(-1)).toEqual({ type: 'error', description: `Invalid message received: ${text}` });
  });
});

test('ConversationRelay reads arbitrary messages at both ends', () => {
  const [server, client] = [openServer(), openClient()];
  const types = ['setup', 'prompt', 'dtmf', 'interrupt', 'info', 'error', 'text', 'play', 'language', 'end'];
  const message = fc.record({
    type: fc.constantFrom(...types),
    voicePrompt: fc.anything(),
    token: fc.anything(),
    digit: fc.anything(),
    value: fc.anything(),
    source: fc.anything(),
    loop: fc.anything(),
    customParameters: fc.anything(),
  });
  const toText = (value: object) =>
    JSON.stringify(value, (_key, field) => (typeof field === 'bigint' ? 0 : field));
  const read = (text: string | Uint8Array) => {
    server.server.readStart(text);
    server.read(text as string);
    client.read(text as string);
  };
  fc.assert(fc.property(message, (value) => read(toText(value))));
  fc.assert(fc.property(fc.string(), (text) => read(text)));
  fc.assert(fc.property(fc.uint8Array(), (bytes) => read(bytes)));
});
