import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Simulator, startSimulator, trunkTo } from '../../../src/app/simulator/simulator.ts';
import type { LegEnd } from '../../../src/calls/telephony.ts';
import { BEHAVIOURS, type BehaviourInput } from '../../../src/testing/simulator/script.ts';
import type { SimulatedCallerEvent } from '../../../src/testing/simulator/simulatedCaller.ts';
import { detectLeaks } from '../../support/leaks.ts';
import { synthesizeSpeech } from '../../support/synthesizedSpeech.ts';
import { makeTempDir } from '../../support/tempDir.ts';
import { encodeWav } from '../../support/wavFile.ts';

const CALLEE = '+886912345678';
const CALLER = '+886223456789';
const TIMEOUT = 60_000;

/** Two carriers: a phone of one calls a phone of the other, over real SIP and RTP. */
interface Rig {
  readonly near: Simulator;
  readonly far: Simulator;
  readonly warnings: string[];
  call(script: Script, more?: { readonly stays?: boolean }): Promise<LegEnd>;
  /** Events of this phone since the start of the test. */
  of(who: string): SimulatedCallerEvent[];
  kinds(who: string): string[];
}

type Script = Extract<BehaviourInput, { kind: 'answers' }>['script'];

let assertNoLeaks: () => Promise<void>;
let rig: Rig;
const seen: { readonly who: string; readonly event: SimulatedCallerEvent }[] = [];

beforeAll(async () => {
  assertNoLeaks = detectLeaks();
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
  const begin = events.find(({ kind }) => kind === 'speech_started');
  const end = events.findLast(({ kind }) => kind === 'speech_ended');
  return (end?.atMs ?? 0) - (begin?.atMs ?? 0);
};

/** Events with adjacent speech merged: on a slow machine speech has gaps. */
function story(events: readonly SimulatedCallerEvent[]): string[] {
  const kinds = events.map(({ kind }) => kind);
  return kinds.filter(
    (kind, at) =>
      !(kind === 'speech_ended' && kinds[at + 1] === 'speech_started') &&
      !(kind === 'speech_started' && kinds[at - 1] === 'speech_ended'),
  );
}

describe('A call between two simulated phones', { timeout: TIMEOUT }, () => {
  test('can be hung up while digits are sent', async () => {
    rig.far.phones.set('0912345678', { kind: 'answers', afterMs: 0, script: [], stays: true });
    const keys = Array.from({ length: 8 }, () => ({ do: 'send_dtmf', digits: '1' }) as const);
    expect((await rig.call([{ do: 'wait', ms: 400 }, ...keys])).outcome).toBe('local_hangup');
    expect(rig.warnings).toEqual([]);
  });

  test('lets both parties say their lines, hear each other and send digits', async () => {
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
        { do: 'send_dtmf', digits: '42#' },
      ],
      { stays: true },
    );
    expect(end).toMatchObject({ outcome: 'remote_hangup', sip: { code: 200 } });
    const [caller, callee] = [rig.of(CALLER), rig.of(CALLEE)];
    expect(story(caller)).toEqual([
      'speech_started',
      'speech_ended',
      'said',
      'speech_started',
      'speech_ended',
      'digits_sent',
      'hung_up',
    ]);
    expect(callee.flatMap((event) => (event.kind === 'said' ? [event.text] : []))).toEqual([
      'Hello, this is Ada.',
      'Which key?',
    ]);
    expect(callee.flatMap((event) => (event.kind === 'digit_received' ? [event.digit] : []))).toEqual([
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
      .findLast(({ kind }) => kind === 'speech_ended');
    // Complete, except for the silence around synthesized speech, plus the listener's hangover.
    expect(heard?.atMs).toBeGreaterThan((said?.kind === 'said' ? said.durationMs : 0) - 500);
    expect(caller.at(-1)).toMatchObject({ kind: 'hung_up', by: 'peer' });
    expect(callee.at(-1)).toMatchObject({ kind: 'hung_up', by: 'self' });
    await expect.poll(() => rig.near.phones.active + rig.far.phones.active).toBe(0);
    expect(rig.warnings).toEqual([]);
  });

  test('can be interrupted while the other party speaks', async () => {
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
    await rig.call([{ do: 'interrupt', afterMs: 600, text: 'uh huh' }], { stays: true });
    const caller = rig.of(CALLER);
    const at = caller.findIndex(({ kind }) => kind === 'said');
    const [before, said, after] = caller.slice(at - 1, at + 2);
    expect([before?.kind, after?.kind]).toEqual(['speech_started', 'speech_ended']);
    expect((said?.atMs ?? 0) - (before?.atMs ?? 0)).toBeLessThan(800);
    expect(story(rig.of(CALLEE))).toEqual(['said', 'speech_started', 'speech_ended', 'hung_up']);
  });

  test('A voice mail speaks its greeting and beeps; the caller hears both', async () => {
    rig.far.phones.set(CALLEE, BEHAVIOURS.voicemail);
    const end = await rig.call([
      { do: 'listen', quietMs: 2000 },
      { do: 'say', text: 'Please call me back.' },
    ]);
    expect(end.outcome).toBe('local_hangup');
    expect(durationMs(rig.of(CALLER))).toBeGreaterThan(6000);
    expect(rig.kinds(CALLEE)).toEqual(expect.arrayContaining(['said', 'speech_started', 'hung_up']));
    expect(rig.of(CALLEE).at(-1)).toMatchObject({ by: 'peer' });
  });

  test('A screening service asks for the caller’s name before the callee answers', async () => {
    rig.far.phones.set(CALLEE, BEHAVIOURS.screening);
    await rig.call([{ do: 'listen' }, { do: 'say', text: 'This is Callway.' }, { do: 'listen' }]);
    const said = rig.of(CALLEE).flatMap((event) => (event.kind === 'said' ? [event.text] : []));
    expect(said).toEqual([expect.stringContaining('state your name'), 'Hello, this is Ada. Yes.']);
  });

  test('A played file is heard at any sample rate of telephony', async () => {
    const folder = makeTempDir();
    onTestFinished(folder.remove);
    const file = join(folder.path, 'sound.wav');
    const second = await synthesizeSpeech('I would like to book a table for six people.', 16_000);
    await writeFile(file, encodeWav(second, 16_000));
    rig.far.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [], stays: true });
    const end = await rig.call([{ do: 'play', file }]);
    expect(end.outcome).toBe('local_hangup');
    const soundMs = (second.length / 16_000) * 1000;
    expect(durationMs(rig.of(CALLEE))).toBeGreaterThan(soundMs - 500);
    expect(durationMs(rig.of(CALLEE))).toBeLessThan(soundMs + 500);
  });

  test('A caller whose file is missing hangs up and reports it', async () => {
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
  ])('is rejected by a phone that is %s', async (_what, how, end) => {
    rig.far.phones.set(CALLEE, how);
    expect(await rig.call([])).toMatchObject(end);
    expect(rig.of(CALLEE)).toEqual([]);
  });

  test('is rejected with 404 for an unknown number', async () => {
    const toNumber = '+886912000000';
    const end = await rig.near.phones.call({
      trunk: trunkTo(rig.far.sipPort),
      fromNumber: CALLER,
      toNumber,
      how: { kind: 'answers', script: [] },
    });
    expect(end).toMatchObject({ outcome: 'invalid_number', sip: { code: 404 } });
  });

  test('rings without an answer, and a phone that would answer later stays silent', async () => {
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

test('An invalid behaviour is rejected', async () => {
  expect(() =>
    rig.near.phones.set(CALLEE, { kind: 'answers', script: [{ do: 'send_dtmf', digits: 'x' }] }),
  ).toThrow('digits');
  expect(() => rig.near.phones.set(CALLEE, { kind: 'refuses', sipCode: 200 })).toThrow('sipCode');
});

test('ends at both parties when a carrier closes', { timeout: TIMEOUT }, async () => {
  rig.far.phones.set(CALLEE, { kind: 'answers', afterMs: 0, script: [], stays: true });
  const ended = rig.call([], { stays: true });
  await expect.poll(() => rig.far.phones.active, { timeout: 5000 }).toBe(1);
  await rig.far.close();
  expect(await ended).toMatchObject({ outcome: 'remote_hangup' });
  expect(await rig.call([])).toMatchObject({ outcome: 'unreachable' });
});

test('A line that loses all packets is silent', { timeout: TIMEOUT }, async () => {
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
