import { describe, expect, test } from 'vitest';
import { checkGateway } from '../../../src/streams/check/checkGateway.ts';
import type { Finding } from '../../../src/streams/check/finding.ts';
import type { SimulatedClock } from '../../support/simulatedClock.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { drive, type MemorySocket, memorySockets } from '../support/memorySockets.ts';

const START = {
  event: 'start',
  start: { streamSid: 'MZ1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 } },
};

/** What the gateway does otherwise than a right one. */
interface Fault {
  readonly saysFirst?: object;
  readonly start?: object | 'none';
  /** When a mark is returned, in milliseconds after the start; undefined for never. */
  readonly played?: number | undefined;
  readonly cleared?: number | undefined;
  readonly frameMs?: number;
  /** Audio is sent until then. */
  readonly silentFromMs?: number;
  readonly says?: object;
  readonly isDeaf?: boolean;
  readonly closesWith?: number;
}

/** A gateway in the dialect of Twilio that plays two seconds, and is cleared at five. */
function gateway(socket: MemorySocket, clock: SimulatedClock, fault: Fault) {
  const { start = START, frameMs = 20, silentFromMs = 60_000, says, closesWith } = fault;
  const played = 'played' in fault ? fault.played : 2040;
  const cleared = 'cleared' in fault ? fault.cleared : 5040;
  const send = (message: object) => socket.send(JSON.stringify(message));
  const mark = (name: string) => send({ event: 'mark', streamSid: 'MZ1', mark: { name } });
  socket.isDeaf = fault.isDeaf === true;
  if (fault.saysFirst) send(fault.saysFirst);
  if (start !== 'none') send(start);
  if (says) send(says);
  const payload = Buffer.alloc(frameMs * 8, 0xff).toString('base64');
  let atMs = 0;
  clock.setTimer(function frame() {
    if (atMs < silentFromMs) send({ event: 'media', media: { track: 'inbound', payload } });
    atMs += 20;
    if (atMs === played) mark('check-played');
    if (atMs === cleared) mark('check-cleared');
    if (atMs === 3000 && closesWith !== undefined) socket.close(closesWith);
    clock.setTimer(frame, 20);
  }, 20);
}

async function check(fault: Fault) {
  const clock = createSimulatedClock();
  const [socket, end] = memorySockets();
  const running = checkGateway({ dialect: 'twilio', socket, clock });
  gateway(end, clock, fault);
  const findings = await drive(clock, running);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

test('A gateway that does everything right passes every check', async () => {
  const saysFirst = { event: 'connected', protocol: 'Call', version: '1.0.0' };
  const found = await check({ saysFirst, says: { event: 'dtmf', dtmf: { digit: '7' } } });
  expect([...found.values()].map(({ check: name, status }) => `${name} ${status}`)).toEqual([
    ...['start pass', 'messages pass', 'audio pass', 'pacing pass', 'marks pass', 'clear pass'],
    ...['keys pass', 'hang-up pass', 'closing pass'],
  ]);
  expect(found.get('start')?.detail).toBe('8000 Hz, no custom parameters');
});

describe('A wrong gateway fails the check', () => {
  const wrongFormat = { ...START, start: { ...START.start, mediaFormat: { encoding: 'audio/opus' } } };
  const cases: readonly (readonly [Finding['check'], string, Fault, RegExp])[] = [
    ['start', 'without a start', { start: 'none' }, /no start message came within 5000 ms/],
    ['start', 'with another format', { start: wrongFormat }, /must be audio\/x-mulaw/],
    [
      'messages',
      'with an unknown event',
      { says: { event: 'ringing' } },
      /cannot be read: \{"event":"ringing"/,
    ],
    [
      'messages',
      'with audio before the start',
      { saysFirst: { event: 'media', media: { track: 'inbound', payload: '//8=' } } },
      /came before the start: \{"event":"media"/,
    ],
    ['audio', 'without audio', { silentFromMs: 0 }, /sent none/],
    ['pacing', 'faster than real time', { frameMs: 40 }, /ahead of real time/],
    ['pacing', 'with half of the audio', { frameMs: 10 }, /are missing/],
    ['marks', 'that returns no mark', { played: undefined }, /was not returned as played/],
    ['marks', 'that returns a mark at once', { played: 40 }, /was returned after \d\d ms/],
    ['marks', 'that returns a mark late', { played: 3200 }, /was returned 1\d{3} ms after/],
    ['marks', 'that makes a mark up', { says: { event: 'mark', mark: { name: 'x' } } }, /"x" was never sent/],
    ['clear', 'that plays on', { cleared: 7000 }, /as if the audio was played/],
    ['clear', 'that keeps the mark', { cleared: undefined }, /was not returned/],
    ['clear', 'that returns it before', { cleared: 4000 }, /before its audio was cleared/],
    ['hang-up', 'that stays', { isDeaf: true }, /not closed within 5000 ms after the bot hung up/],
    ['closing', 'that fails', { closesWith: 1011 }, /closed with 1011/],
  ];
  test.each(cases)('%s: %s', async (name, _, fault, detail) => {
    const found = await check(fault);
    expect(found.get(name)).toEqual({ check: name, status: 'fail', detail: expect.stringMatching(detail) });
  });
});
