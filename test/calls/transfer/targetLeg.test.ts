import { expect, test } from 'vitest';
import { createEmitter } from '../../../src/base/emitter.ts';
import { CallwayError } from '../../../src/base/errors.ts';
import type { CallLeg, LegEnd, LegEvents } from '../../../src/calls/telephony.ts';
import { TargetLeg, type TargetListener } from '../../../src/calls/transfer/targetLeg.ts';
import type { MediaEvents, MediaSession } from '../../../src/media/mediaSession.ts';

const settled = () => new Promise(setImmediate);
const END: LegEnd = { outcome: 'remote_hangup', sip: null, q850Cause: null };

/** A target, and what it does; each leg is dialed once the one before it has ended. */
function target({ hasMedia = true, dial = () => undefined as unknown } = {}) {
  const heard: unknown[] = [];
  const note =
    (what: string) =>
    (...args: unknown[]) =>
      void heard.push([what, ...args]);
  const names = [
    'ringing',
    'answered',
    'digit',
    'command',
    'streamClosed',
    'held',
    'mediaTimeout',
    'left',
  ] as const;
  const listener = Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as TargetListener;
  const one = new TargetLeg(listener, (_error, what) => void heard.push(what));
  const legs: ReturnType<typeof open>[] = [];
  function open() {
    const [events, mediaEvents] = [
      createEmitter<LegEvents>(() => undefined),
      createEmitter<MediaEvents>(() => undefined),
    ];
    const media = {
      events: mediaEvents,
      receiveDtmf: async ({ digit }: { digit: string }) => {
        note('receive')(digit);
        if (digit === '#') throw new Error('gone');
      },
    } as unknown as MediaSession;
    const leg = {
      events,
      media: hasMedia ? media : undefined,
      async hangup() {
        note('hang up')();
        throw new Error('away');
      },
    } as unknown as CallLeg;
    return { leg, events, mediaEvents, media };
  }
  async function* dialed() {
    dial();
    for (;;) {
      const next = open();
      legs.push(next);
      yield next.leg;
    }
  }
  const dialing = one.dial(dialed());
  return { one, legs, heard, dialing };
}

test('What an answered target does is told, and its audio’s loss hangs it up', async () => {
  const { one, legs, heard, dialing } = target();
  await settled();
  const [leg] = legs;
  leg?.events.emit('ringing', { hasEarlyMedia: false });
  leg?.events.emit('ringing', { hasEarlyMedia: true });
  leg?.events.emit('answered', { atMs: 0 });
  leg?.events.emit('held', { isHeld: true });
  for (const digit of ['1', '#']) leg?.events.emit('dtmf', { digit, durationMs: 100 });
  leg?.mediaEvents.emit('dtmf', { digit: '2', durationMs: 100 });
  leg?.mediaEvents.emit('command', { kind: 'hangup' });
  leg?.mediaEvents.emit('streamClosed', { how: 'broken', code: 1006, reason: '' });
  leg?.mediaEvents.emit('mediaTimeout', { forMs: 10_000 });
  await settled();
  expect([one.current, one.media]).toEqual([leg?.leg, leg?.media]);
  expect(heard).toEqual([
    ['ringing', undefined],
    ['ringing', leg?.media],
    ['answered'],
    ['held', true],
    ['receive', '1'],
    ['receive', '#'],
    ['digit', '2'],
    ['command', { kind: 'hangup' }],
    ['streamClosed'],
    ['mediaTimeout'],
    'DTMF digit not passed on',
  ]);
  heard.length = 0;
  leg?.mediaEvents.emit('lost', { reason: 'thread' });
  await settled();
  expect(heard).toEqual([['hang up'], 'transfer target not hung up']);
  leg?.events.emit('ended', END);
  await dialing;
  expect(heard.at(-1)).toEqual(['left', true, 'failed', 'hung up']);
  expect([one.current, one.media, legs.length]).toEqual([undefined, undefined, 1]);
});

test.each<[string, Partial<LegEnd>, unknown[]]>([
  [
    'that is busy',
    { outcome: 'busy', sip: { code: 486, reason: 'Busy Here' } },
    [false, 'busy', 'busy: 486 Busy Here'],
  ],
  ['that does not answer', { outcome: 'no_answer' }, [false, 'no_answer', 'no_answer']],
  [
    'that declines',
    { outcome: 'declined', sip: { code: 603, reason: 'No' } },
    [false, 'refused', 'declined: 603 No'],
  ],
])('A target %s is left', async (_what, end, expected) => {
  const { legs, heard, dialing } = target();
  await settled();
  legs[0]?.events.emit('ended', { ...END, ...end });
  await dialing;
  expect([heard, legs.length]).toEqual([[['left', ...expected]], 1]);
});

test('A trunk that fails is followed by the next one, unless the target is given up meanwhile', async () => {
  const { one, legs, heard, dialing } = target();
  await settled();
  const failed: LegEnd = { ...END, outcome: 'trunk_error', sip: { code: 503, reason: 'No' } };
  legs[0]?.events.emit('ended', failed);
  await settled();
  expect(legs).toHaveLength(2);
  one.hangUp();
  legs[1]?.events.emit('answered', { atMs: 0 });
  legs[1]?.events.emit('ended', failed);
  await dialing;
  expect([heard.at(-1), legs.length]).toEqual([['left', false, 'failed', 'trunk_error: 503 No'], 2]);
  expect(heard).not.toContainEqual(['answered']);
});

test('A target that answers without audio is hung up', async () => {
  const { legs, heard } = target({ hasMedia: false });
  await settled();
  legs[0]?.events.emit('answered', { atMs: 0 });
  expect(heard).toEqual([['hang up']]);
});

test.each([
  [
    'is refused',
    new CallwayError('unprocessable', 'no', 'Not there'),
    ['left', false, 'failed', 'Not there'],
    1,
  ],
  ['fails', new Error('defect'), ['left', false, 'failed', 'it could not be called'], 2],
])('A target whose dialing %s is left', async (_what, error, expected, count) => {
  const { heard, dialing } = target({
    dial: () => {
      throw error;
    },
  });
  await dialing;
  expect([heard.at(-1), heard.length]).toEqual([expected, count]);
});

test('A target for which no trunk has room is left', async () => {
  const heard: unknown[] = [];
  const listener = { left: (...args: unknown[]) => void heard.push(args) } as unknown as TargetListener;
  await new TargetLeg(listener, () => undefined).dial((async function* () {})());
  expect(heard).toEqual([[false, 'failed', 'no trunk of the number has room for another call']]);
});
