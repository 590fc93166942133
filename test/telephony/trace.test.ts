import { expect, test } from 'vitest';
import type { SipTraceMessage } from '../../src/calls/sipTraceStore.ts';
import { redactSip, traceCall } from '../../src/telephony/trace.ts';
import { createSimulatedClock } from '../support/simulatedClock.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const message = (text: string): SipTraceMessage => ({
  at: '2026-01-01T00:00:00.000Z',
  direction: 'in',
  transport: 'udp',
  remote: '192.0.2.1:5060',
  text,
});

function begin() {
  const clock = createSimulatedClock();
  const kept: string[][] = [];
  const times: string[] = [];
  const errors: string[] = [];
  let listener: ((messages: readonly SipTraceMessage[]) => void) | undefined;
  let isBroken = false;
  const trace = traceCall(
    {
      source: {
        follow(_callId, next) {
          listener = next;
          return () => {
            listener = undefined;
          };
        },
      },
      sink: {
        async append(projectId, callId, messages) {
          if (isBroken) throw new Error('away');
          kept.push([projectId, callId, ...messages.map(({ text }) => text)]);
          times.push(...messages.map(({ at }) => at));
        },
      },
      clock,
      onError: (_error, what) => errors.push(what),
    },
    'sip-1',
  );
  return {
    clock,
    kept,
    times,
    errors,
    trace,
    say: (text: string) => listener?.([message(text)]),
    isFollowed: () => listener !== undefined,
    breakSink: () => {
      isBroken = true;
    },
    repairSink: () => {
      isBroken = false;
    },
  };
}

test('Messages before the call is assigned are buffered; later ones are stored in batches, the last ones soon', async () => {
  const { clock, kept, trace, say, isFollowed } = begin();
  trace.add(message('INVITE'));
  clock.advance(1000);
  expect(kept).toEqual([]);
  trace.assign('p', 'c');
  say('200');
  clock.advance(500);
  await settle();
  say('BYE');
  trace.end();
  trace.end();
  say('200 BYE');
  clock.advance(20);
  await settle();
  expect(kept).toEqual([
    ['p', 'c', 'INVITE', '200'],
    ['p', 'c', 'BYE', '200 BYE'],
  ]);
  say('200 BYE again');
  clock.advance(20);
  await settle();
  expect(kept.slice(2)).toEqual([['p', 'c', '200 BYE again']]);
  clock.advance(1960);
  expect(isFollowed()).toBe(false);
  expect(clock.pendingTimers()).toBe(0);
});

test('No message has an earlier time than the one before it', async () => {
  const { clock, trace, times } = begin();
  trace.assign('p', 'c');
  const seconds = ['10.001', '10.000', '10.002'].map((second) => `2026-01-01T00:00:${second}Z`);
  for (const at of seconds) trace.add({ ...message('OPTIONS'), at });
  clock.advance(1000);
  await settle();
  expect(times).toEqual([seconds[0], seconds[0], seconds[2]]);
});

test('A flood of messages is stored as far as a million characters', async () => {
  const { clock, kept, trace, say } = begin();
  trace.assign('p', 'c');
  for (let n = 0; n < 4; n++) say(String(n).repeat(400_000));
  say('BYE');
  clock.advance(500);
  await settle();
  expect(kept.flat().map((text) => text.slice(0, 3))).toEqual(['p', 'c', '000', '111', 'BYE']);
});

test('The trace of an unassigned call is not stored', () => {
  const { clock, kept, trace, say, isFollowed } = begin();
  say('INVITE');
  trace.end();
  expect(isFollowed()).toBe(false);
  expect(kept).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});

test('A trace holds 500 messages', async () => {
  const { clock, kept, trace, say } = begin();
  trace.assign('p', 'c');
  for (let count = 0; count < 600; count += 1) say('INFO');
  clock.advance(500);
  await settle();
  expect(kept[0]).toHaveLength(502);
});

test('Messages that could not be stored are stored later, in order; an outage is reported, and bounds what is kept', async () => {
  const { clock, kept, errors, trace, say, breakSink, repairSink } = begin();
  breakSink();
  trace.assign('p', 'c');
  say('INVITE');
  clock.advance(500);
  await settle();
  expect(errors).toEqual(['storing a SIP trace failed']);
  say('200');
  repairSink();
  clock.advance(2000);
  await settle();
  expect(kept).toEqual([['p', 'c', 'INVITE', '200']]);

  breakSink();
  say('BYE');
  for (let failure = 0; failure < 5; failure += 1) {
    clock.advance(2000);
    await settle();
  }
  repairSink();
  say('200 BYE');
  clock.advance(2000);
  await settle();
  expect(kept.slice(1)).toEqual([['p', 'c', '200 BYE']]);
});

test('Credentials and SRTP keys are redacted, and nothing else', () => {
  const message = [
    'INVITE sip:a@b SIP/2.0',
    'Authorization: Digest username="u",',
    '  response="5ecre7"',
    'PROXY-AUTHORIZATION :Digest response="5ecre7"',
    'WWW-Authenticate: Digest realm="r",nonce="n"',
    'Call-ID: 1',
    '',
    'v=0',
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:5ecre7+/==|2^31|1:4 KDR=1',
    'a=crypto:2 X inline:5ecre7;inline:5ecre7|2:4',
    'a=sendrecv',
    '',
  ].join('\r\n');
  const shown = redactSip(message);
  expect(shown).not.toContain('5ecre7');
  expect(shown).toBe(
    [
      'INVITE sip:a@b SIP/2.0',
      'Authorization: Digest [redacted]',
      'PROXY-AUTHORIZATION :Digest [redacted]',
      'WWW-Authenticate: Digest realm="r",nonce="n"',
      'Call-ID: 1',
      '',
      'v=0',
      'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[redacted]|2^31|1:4 KDR=1',
      'a=crypto:2 X inline:[redacted];inline:[redacted]|2:4',
      'a=sendrecv',
      '',
    ].join('\r\n'),
  );
});
