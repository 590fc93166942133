import { describe, expect, test } from 'vitest';

import {
  type CallMediaInput,
  callMediaInput,
  openMediaHeaders,
  sealMedia,
} from '../../../src/calls/numbers/callMedia.ts';
import { phoneNumberInput, phoneNumberPatch } from '../../../src/calls/numbers/phoneNumber.ts';
import { twilioSignature } from '../../../src/dialects/twilioSignature.ts';

const BOT = { url: 'wss://bot.example/audio', dialect: 'callway' } as const;
const authorization = { key: 'AUTHORIZATION', value: 'x' };

test.each([
  [BOT, true],
  [{ ...BOT, username: 'u', password: '' }, true],
  [{ ...BOT, username: 'u' }, false],
  [{ ...BOT, password: 'p' }, false],
  [{ ...BOT, username: 'u:v', password: 'p' }, false],
  [{ ...BOT, headers: [authorization] }, true],
  [{ ...BOT, headers: [authorization], username: 'u', password: 'p' }, false],
  [{ ...BOT, headers: [{ key: 'x-token', value: 'x' }], username: 'u', password: 'p' }, true],
  [{ url: 'tcp://bot.example:9092', dialect: 'audiosocket' }, true],
  [{ url: 'tcp://bot.example:9092', dialect: 'audiosocket', headers: [authorization] }, false],
  [{ url: 'tcp://bot.example:9092', dialect: 'audiosocket', username: 'u', password: 'p' }, false],
])('Of own bots, %j is accepted: %s', (media, isAccepted) => {
  expect(callMediaInput.safeParse(media).success).toBe(isAccepted);
});

describe('The secrets of an own bot', () => {
  const seal = (text: string) => `sealed ${text}`;
  const deps = {
    open: (sealed: string) => sealed.slice('sealed '.length),
    twilioToken: async () => undefined,
  };
  const headersOf = (input: CallMediaInput, token?: string) =>
    openMediaHeaders('p', sealMedia(input, seal), { ...deps, twilioToken: async () => token });

  test('are sealed, and nothing is where there are none', () => {
    expect(sealMedia(BOT, seal)).toEqual(BOT);
    expect(sealMedia({ ...BOT, username: 'u', password: 'p' }, seal)).toEqual({
      ...BOT,
      username: 'u',
      sealed: 'sealed {"password":"p"}',
    });
    const stored = JSON.parse(JSON.stringify(sealMedia({ ...BOT, headers: [authorization] }, seal)));
    expect(Object.keys(stored)).toEqual(['url', 'dialect', 'sealed']);
  });

  test('are sent with the request that opens its WebSocket', async () => {
    expect(await headersOf(BOT)).toEqual({});
    expect(await headersOf({ ...BOT, headers: [{ key: 'x-token', value: 'shh' }] })).toEqual({
      'x-token': 'shh',
    });
    expect(
      await headersOf({ ...BOT, headers: [{ key: 'x-token', value: 'shh' }], username: 'ü', password: 'p' }),
    ).toEqual({ 'x-token': 'shh', Authorization: `Basic ${Buffer.from('ü:p').toString('base64')}` });
  });

  test('are beside Twilio’s signature, where the project has a token', async () => {
    const twilio = { ...BOT, dialect: 'twilio' } as const;
    expect(await headersOf(twilio)).toEqual({});
    expect(Object.values(await headersOf(twilio, 'token'))).toEqual([twilioSignature('token', BOT.url)]);
    expect(await headersOf(BOT, 'token')).toEqual({});
  });
});

test('A new number places calls and takes none, and does the rest as the agent says', () => {
  expect(phoneNumberInput.parse({ number: '+886223456789' })).toEqual({
    number: '+886223456789',
    trunkIds: [],
    outboundStatus: 'active',
    inboundEnabled: false,
    record: null,
    noiseSuppression: null,
    media: null,
    startNodeId: null,
    variables: {},
  });
});

test.each([
  [{}, true],
  [{ line: 'sales' }, true],
  [{ call: {} }, false],
  [{ channel: 'phone' }, false],
])('Of a number’s variables, %j is accepted: %s', (variables, isAccepted) => {
  expect(phoneNumberPatch.safeParse({ variables }).success).toBe(isAccepted);
});
