import { describe, expect, test } from 'vitest';
import type { WidgetSessions } from '../../src/agents/accounts/widgetToken.ts';
import type { CallSessions } from '../../src/calls/setup/callSessions.ts';
import { isSignedByTwilio, twilioSignature } from '../../src/dialects/twilioSignature.ts';
import { createMediaStreams } from '../../src/streams/mediaStreams.ts';
import type { RelayGrant, StreamGrant } from '../../src/streams/streamTickets.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';
import { unused } from '../support/unused.ts';

const TOKEN = '12345';
const PATH = '/v1/media-streams/ticket-1';
const PUBLIC = 'https://voice.example.com';
const INSIDE = '10.0.0.7:8080';

test('Twilio’s signature is that of its own library', () => {
  // Computed by `getExpectedTwilioSignature` of the package twilio 5.
  expect(twilioSignature(TOKEN, 'wss://voice.example.com/v1/media-streams/ticket-1')).toBe(
    'EuArbZdEXXPE6Fn/54q5/ahl4GY=',
  );
  expect(twilioSignature(TOKEN, 'wss://voice.example.com/relay?a=1&b=c%20d')).toBe(
    'vEQWccgiz4Ic5iWYsmA0SuvTKoc=',
  );
});

describe('A signature', () => {
  test.each([
    ['the address that the API gave', `wss://voice.example.com${PATH}`, PATH],
    ['the same with https', `https://voice.example.com${PATH}`, PATH],
    ['the same with the default port', `wss://voice.example.com:443${PATH}`, PATH],
    ['an address with a query', `wss://voice.example.com${PATH}?a=b%20c`, `${PATH}?a=b%20c`],
    ['the host that the request names', `wss://${INSIDE}${PATH}`, PATH],
  ])('of %s is accepted', (_of, url, path) => {
    const request = { signature: twilioSignature(TOKEN, url), path, host: INSIDE };
    expect(isSignedByTwilio(TOKEN, request, PUBLIC)).toBe(true);
  });

  test('behind a proxy that removes a path is of the public address', () => {
    const signature = twilioSignature(TOKEN, `wss://voice.example.com/callway${PATH}`);
    const request = { signature, path: PATH, host: INSIDE };
    expect(isSignedByTwilio(TOKEN, request, `${PUBLIC}/callway/`)).toBe(true);
    expect(isSignedByTwilio(TOKEN, request, PUBLIC)).toBe(false);
  });

  test('of an address with a port is accepted without it', () => {
    const signature = twilioSignature(TOKEN, `wss://voice.example.com${PATH}`);
    const request = { signature, path: PATH, host: INSIDE };
    expect(isSignedByTwilio(TOKEN, request, `${PUBLIC}:8443`)).toBe(true);
  });

  test.each([
    ['another token', twilioSignature('54321', `wss://voice.example.com${PATH}`)],
    ['another address', twilioSignature(TOKEN, `wss://voice.example.com${PATH}x`)],
    ['another host', twilioSignature(TOKEN, `wss://evil.example.com${PATH}`)],
    ['nothing', ''],
    ['characters of several bytes', 'ä'.repeat(28)],
  ])('of %s is refused', (_of, signature) => {
    expect(isSignedByTwilio(TOKEN, { signature, path: PATH, host: INSIDE }, PUBLIC)).toBe(false);
  });
});

describe('A ticket', () => {
  const admitting = (dialect: StreamGrant['dialect'], token: string | undefined) => {
    const issued: (StreamGrant | RelayGrant)[] = [];
    const streams = createMediaStreams({
      tickets: {
        redeem: async () => ({ projectId: 'p', sessionId: 's', dialect }),
        issue: async (_ticket, grant) => void issued.push(grant),
      },
      twilioToken: async () => token,
      publicUrl: () => PUBLIC,
      selectVoiceNode: async () => ({ url: 'http://voice' }),
      admitOwn: () => undefined,
      callRefusal: () => undefined,
      clock: createSimulatedClock(),
      makeId: () => 'id',
      audioSocketUrl: () => undefined,
      slots: { acquire: async () => undefined, release: async () => undefined },
      widgetSessions: unused<WidgetSessions>('widgetSessions', {
        begin: async () => true,
        end: async () => undefined,
      }),
      sessions: unused<CallSessions>('sessions'),
    });
    const forward = (signature: string | undefined) =>
      streams.forward('ticket-1', { signature, path: PATH, host: INSIDE });
    return { forward, issued };
  };
  const signature = twilioSignature(TOKEN, `wss://voice.example.com${PATH}`);

  test('of a dialect of Twilio needs the signature of the project’s token', async () => {
    const { forward, issued } = admitting('twilio', TOKEN);
    const refused = { category: 'unauthenticated', code: 'invalid_signature' };
    await expect(forward(undefined)).rejects.toMatchObject(refused);
    await expect(forward(twilioSignature('54321', PATH))).rejects.toMatchObject({
      ...refused,
      message: expect.stringContaining('PUBLIC_URL'),
    });
    expect(issued).toEqual([]);
    expect(await forward(signature)).toMatch(/^ws:\/\/voice\/v1\/media-streams\//);
    expect(issued).toMatchObject([{ dialect: 'twilio', isAdmitted: true }]);
  });

  test.each([
    ['twilio', undefined],
    ['callway', TOKEN],
  ] as const)('of %s with the token %s needs none', async (dialect, token) => {
    expect(await admitting(dialect, token).forward(undefined)).toBeDefined();
  });
});
