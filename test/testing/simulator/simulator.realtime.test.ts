import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Simulator, startSimulator, trunkTo } from '../../../src/app/simulator.ts';
import type { LegEnd } from '../../../src/calls/telephony.ts';
import { BEHAVIOURS, type BehaviourInput } from '../../../src/testing/simulator/script.ts';
import type { SimulatedCallerEvent } from '../../../src/testing/simulator/simulatedCaller.ts';
import { watchLeaks } from '../../support/leaks.ts';
import { spoken } from '../../support/spoken.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { wavOf } from '../../support/wavFile.ts';

const CALLEE = '+886912345678';
const CALLER = '+886223456789';
const TIMEOUT = 60_000;

/** Two carriers: over real SIP and RTP, a phone of the one calls a phone of the other. */
interface Rig {
  readonly near: Simulator;
  readonly far: Simulator;
  readonly warnings: string[];
  call(script: Script, more?: { readonly stays?: boolean }): Promise<LegEnd>;
  /** What happened at this phone since the test began. */
  of(who: string): SimulatedCallerEvent[];
  kinds(who: string): string[];
}

type Script = Extract<BehaviourInput, { kind: 'answers' }>['script'];

let assertNoLeaks: () => Promise<void>;
let rig: Rig;
const seen: { readonly who: string; readonly event: SimulatedCallerEvent }[] = [];

beforeAll(async () => {
  assertNoLeaks = watchLeaks();
  rig = await twoCarriers();
});
afterEach(() => {
  seen.splice(0);
});
afterAll(async () => {
  await rig.near.close();
  await rig.far.close();
  await assertNoLeaks();
});

async function twoCarriers(): Promise<Rig> {
  const warnings: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const onEvent = (who: string, event: SimulatedCallerEvent) => void seen.push({ who, event });
  const [near, far] = await Promise.all([
    startSimulator({ logger, onEvent }),
    startSimulator({ logger, onEvent }),
  ]);
  const of = (who: string) => seen.filter((one) => one.who === who).map(({ event }) => event);
  return {
    near,
    far,
    warnings,
    call: (script, more = {}) =>
      near.phones.call({
        trunk: trunkTo(far.sipPort),
        fromNumber: CALLER,
        toNumber: CALLEE,
        how: { kind: 'answers', script, ...more },
      }),
    of,
    kinds: (who) => of(who).map(({ kind }) => kind),
  };
}

const durationMs = (events: readonly SimulatedCallerEvent[]) => {
  const begin = events.find(({ kind }) => kind === 'heard_begin');
  const end = events.findLast(({ kind }) => kind === 'heard_end');
  return (end?.atMs ?? 0) - (begin?.atMs ?? 0);
};

/** What happened, with all that was heard at one go told once: on a slow machine speech has holes. */
function story(events: readonly SimulatedCallerEvent[]): string[] {
  const kinds = events.map(({ kind }) => kind);
  return kinds.filter(
    (kind, at) =>
      !(kind === 'heard_end' && kinds[at + 1] === 'heard_begin') &&
      !(kind === 'heard_begin' && kinds[at - 1] === 'heard_end'),
  );
}

describe('a call between two simulated phones', { timeout: TIMEOUT }, () => {
  test('is hung up in the middle of keys, and the rest of them fail nothing', async () => {
    rig.far.phones.set('0912345678', { kind: 'answers', afterMs: 0, script: [], stays: true });
    const keys = Array.from({ length: 8 }, () => ({ do: 'press', digits: '1' }) as const);
    expect((await rig.call([{ do: 'wait', ms: 400 }, ...keys])).outcome).toBe('local_hangup');
    expect(rig.warnings).toEqual([]);
  });

  test('is a talk: each says its lines, hears the other’s, and presses keys', async () => {
    rig.far.phones.set('0912345678', {
      kind: 'answers',
      afterMs: 100,
      script: [
        { do: 'say', text: 'Hello, this is Ada.' },
        { do: 'listen' },
        { do: 'say', text: 'Which key?' },
        { do: 'wait', ms: 3000 },
      ],
    });
    const end = await rig.call(
      [
        { do: 'listen' },
        { do: 'say', text: 'Good morning, Ada.' },
        { do: 'listen' },
        { do: 'press', digits: '42#' },
      ],
      { stays: true },
    );
    expect(end).toMatchObject({ outcome: 'remote_hangup', sip: { code: 200 } });
    const [caller, callee] = [rig.of(CALLER), rig.of(CALLEE)];
    expect(story(caller)).toEqual([
      'heard_begin',
      'heard_end',
      'said',
      'heard_begin',
      'heard_end',
      'pressed',
      'hung_up',
    ]);
    expect(callee.flatMap((event) => (event.kind === 'said' ? [event.text] : []))).toEqual([
      'Hello, this is Ada.',
      'Which key?',
    ]);
    expect(callee.flatMap((event) => (event.kind === 'heard_digit' ? [event.digit] : []))).toEqual([
      '4',
      '2',
      '#',
    ]);
    const said = callee.find((event) => event.kind === 'said');
    const heard = caller
      .slice(
        0,
        caller.findIndex(({ kind }) => kind === 'said'),
      )
      .findLast(({ kind }) => kind === 'heard_end');
    // The whole of it: less the quiet that synthesised speech begins and ends with, more the hangover of the ear.
    expect(heard?.atMs).toBeGreaterThan((said?.kind === 'said' ? said.durationMs : 0) - 500);
    expect(caller.at(-1)).toMatchObject({ kind: 'hung_up', by: 'other' });
    expect(callee.at(-1)).toMatchObject({ kind: 'hung_up', by: 'me' });
    await expect.poll(() => rig.near.phones.active + rig.far.phones.active).toBe(0);
    expect(rig.warnings).toEqual([]);
  });

  test('can be cut into: the words come while the other side still speaks', async () => {
    rig.far.phones.set(CALLEE, {
      kind: 'answers',
      afterMs: 0,
      script: [
        {
          do: 'say',
          text: 'This is a rather long sentence, which goes on and on, until nobody listens any more.',
        },
        { do: 'wait', ms: 500 },
      ],
    });
    await rig.call([{ do: 'cut_in', afterMs: 600, text: 'uh huh' }], { stays: true });
    const caller = rig.of(CALLER);
    const at = caller.findIndex(({ kind }) => kind === 'said');
    const [before, said, after] = caller.slice(at - 1, at + 2);
    expect([before?.kind, after?.kind]).toEqual(['heard_begin', 'heard_end']);
    expect((said?.atMs ?? 0) - (before?.atMs ?? 0)).toBeLessThan(800);
    expect(story(rig.of(CALLEE))).toEqual(['said', 'heard_begin', 'heard_end', 'hung_up']);
  });

  test('a voice mail speaks its greeting and beeps; who listens hears both', async () => {
    rig.far.phones.set(CALLEE, BEHAVIOURS.voicemail);
    const end = await rig.call([
      { do: 'listen', quietMs: 2000 },
      { do: 'say', text: 'Please call me back.' },
    ]);
    expect(end.outcome).toBe('local_hangup');
    expect(durationMs(rig.of(CALLER))).toBeGreaterThan(6000);
    expect(rig.kinds(CALLEE)).toEqual(expect.arrayContaining(['said', 'heard_begin', 'hung_up']));
    expect(rig.of(CALLEE).at(-1)).toMatchObject({ by: 'other' });
  });

  test('a screening service asks who calls before the person comes', async () => {
    rig.far.phones.set(CALLEE, BEHAVIOURS.screening);
    await rig.call([{ do: 'listen' }, { do: 'say', text: 'This is Callway.' }, { do: 'listen' }]);
    const said = rig.of(CALLEE).flatMap((event) => (event.kind === 'said' ? [event.text] : []));
    expect(said).toEqual([expect.stringContaining('state your name'), 'Hello, this is Ada. Yes.']);
  });

  test('who plays a file is heard with what is in it, at any rate of telephony', async () => {
    const folder = makeTempDir();
    onTestFinished(folder.remove);
    const file = join(folder.path, 'sound.wav');
    const second = await spoken('I would like to book a table for six people.', 16_000);
    await writeFile(file, wavOf(second, 16_000));
    rig.far.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [], stays: true });
    const end = await rig.call([{ do: 'play', file }]);
    expect(end.outcome).toBe('local_hangup');
    const soundMs = (second.length / 16_000) * 1000;
    expect(durationMs(rig.of(CALLEE))).toBeGreaterThan(soundMs - 500);
    expect(durationMs(rig.of(CALLEE))).toBeLessThan(soundMs + 500);
  });

  test('who has no such file hangs up, and says why', async () => {
    rig.far.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [], stays: true });
    const end = await rig.call([{ do: 'play', file: '/nowhere/sound.wav' }]);
    expect(end.outcome).toBe('local_hangup');
    expect(rig.warnings.splice(0)).toEqual([expect.stringContaining('/nowhere/sound.wav')]);
  });

  test.each<[string, BehaviourInput, object]>([
    ['busy', BEHAVIOURS.busy, { outcome: 'busy', sip: { code: 486 } }],
    ['declining', BEHAVIOURS.declines, { outcome: 'declined', sip: { code: 603 } }],
    ['unknown', BEHAVIOURS.unknown_number, { outcome: 'invalid_number', sip: { code: 404 } }],
    [
      'broken',
      { kind: 'refuses', sipCode: 503, afterMs: 10 },
      { outcome: 'trunk_error', sip: { code: 503 } },
    ],
  ])('is refused by a phone that is %s', async (_what, how, end) => {
    rig.far.phones.set(CALLEE, how);
    expect(await rig.call([])).toMatchObject(end);
    expect(rig.of(CALLEE)).toEqual([]);
  });

  test('is 404 where nobody has the number', async () => {
    const toNumber = '+886912000000';
    const end = await rig.near.phones.call({
      trunk: trunkTo(rig.far.sipPort),
      fromNumber: CALLER,
      toNumber,
      how: { kind: 'answers', script: [] },
    });
    expect(end).toMatchObject({ outcome: 'invalid_number', sip: { code: 404 } });
  });

  test('rings out where nobody answers, and a phone that would have answered later stays quiet', async () => {
    rig.far.phones.set(CALLEE, BEHAVIOURS.never_answers);
    const call = (toNumber: string) =>
      rig.near.phones.call({
        trunk: trunkTo(rig.far.sipPort),
        fromNumber: CALLER,
        toNumber,
        how: { kind: 'answers', script: [] },
        ringTimeoutMs: 400,
      });
    expect(await call(CALLEE)).toMatchObject({ outcome: 'no_answer' });
    rig.far.phones.set('+886912345679', { kind: 'answers', afterMs: 900, script: [] });
    expect(await call('+886912345679')).toMatchObject({ outcome: 'no_answer' });
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect([rig.far.phones.active, rig.warnings]).toEqual([0, []]);
  });
});

test('a behaviour that is none is refused', async () => {
  expect(() =>
    rig.near.phones.set(CALLEE, { kind: 'answers', script: [{ do: 'press', digits: 'x' }] }),
  ).toThrow('digits');
  expect(() => rig.near.phones.set(CALLEE, { kind: 'refuses', sipCode: 200 })).toThrow('sipCode');
});

test('ends when a carrier closes, at both ends', { timeout: TIMEOUT }, async () => {
  rig.far.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [], stays: true });
  const ended = rig.call([], { stays: true });
  await expect.poll(() => rig.far.phones.active, { timeout: 5000 }).toBe(1);
  await rig.far.close();
  expect(await ended).toMatchObject({ outcome: 'remote_hangup' });
  expect(await rig.call([])).toMatchObject({ outcome: 'unreachable' });
});

test('on a line that loses all packets nobody hears anything', { timeout: TIMEOUT }, async () => {
  const onEvent = (who: string, event: SimulatedCallerEvent) => void seen.push({ who, event });
  const logger = pino({ level: 'silent' });
  const lossy = await startSimulator({ logger, onEvent, impairment: { lossRatio: 1, jitterMs: 0 } });
  lossy.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [{ do: 'say', text: 'Hello?' }] });
  const end = await rig.near.phones.call({
    trunk: trunkTo(lossy.sipPort),
    fromNumber: CALLER,
    toNumber: CALLEE,
    how: { kind: 'answers', script: [], stays: true },
  });
  expect(end.outcome).toBe('remote_hangup');
  expect([rig.kinds(CALLEE), rig.kinds(CALLER)]).toEqual([['said', 'hung_up'], ['hung_up']]);
  await lossy.close();
});
