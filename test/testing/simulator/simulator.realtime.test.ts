import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Simulator, startSimulator, trunkTo } from '../../../src/app/simulator/simulator.ts';
import type { LegEnd } from '../../../src/calls/telephony.ts';
import { BEHAVIOURS, type BehaviourInput } from '../../../src/testing/simulator/script.ts';
import type { SimulatedCallerEvent } from '../../../src/testing/simulator/simulatedCaller.ts';
import { detectLeaks } from '../../support/leaks.ts';

const MISSING_FILE = '/nowhere/sound.wav';

/** Two carriers: a phone of one calls a phone of the other, over real SIP and RTP. */
interface Rig {
  readonly near: Simulator;
  readonly far: Simulator;
  readonly warnings: string[];
  /** Two phones of a test's own. */
  pair(): Pair;
}

interface Pair {
  readonly caller: string;
  readonly callee: string;
  /** The callee's number as its country writes it. */
  readonly nationalCallee: string;
  call(script: Script, more?: { readonly stays?: boolean }): Promise<LegEnd>;
  /** Events of this phone. */
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
  let lastPair = 0;
  return {
    near,
    far,
    warnings,
    pair() {
      lastPair += 1;
      const digits = String(lastPair).padStart(3, '0');
      const [caller, callee] = [`+886223456${digits}`, `+886912345${digits}`];
      const of = (who: string) => seen.filter((one) => one.who === who).map(({ event }) => event);
      return {
        caller,
        callee,
        nationalCallee: `0912345${digits}`,
        async call(script, more = {}) {
          const end = await near.phones.call({
            trunk: trunkTo(far.sipPort),
            fromNumber: caller,
            toNumber: callee,
            how: { kind: 'answers', script, ...more },
          });
          // The other phone gets the BYE a moment later.
          if (end.outcome === 'local_hangup') {
            await vi.waitFor(() => expect(of(callee).at(-1)?.kind).toBe('hung_up'));
          }
          return end;
        },
        of,
        kinds: (who) => of(who).map(({ kind }) => kind),
      };
    },
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

describe.concurrent('A call between two simulated phones', () => {
  test('can be hung up while digits are sent', async () => {
    const { nationalCallee, call } = rig.pair();
    rig.far.phones.set(nationalCallee, { kind: 'answers', afterMs: 0, script: [], stays: true });
    const keys = Array.from({ length: 8 }, () => ({ do: 'send_dtmf', digits: '1' }) as const);
    expect((await call([{ do: 'wait', ms: 400 }, ...keys])).outcome).toBe('local_hangup');
  });

  test('lets both parties say their lines, hear each other and send digits', async () => {
    const { caller, callee, nationalCallee, call, of } = rig.pair();
    rig.far.phones.set(nationalCallee, {
      kind: 'answers',
      afterMs: 100,
      script: [
        { do: 'say', text: 'Hello, this is Ada.' },
        { do: 'listen' },
        { do: 'say', text: 'Which key?' },
        { do: 'wait', ms: 3000 },
      ],
    });
    const end = await call(
      [
        { do: 'listen' },
        { do: 'say', text: 'Good morning, Ada.' },
        { do: 'listen' },
        { do: 'send_dtmf', digits: '42#' },
      ],
      { stays: true },
    );
    expect(end).toMatchObject({ outcome: 'remote_hangup', sip: { code: 200 } });
    const [callerEvents, calleeEvents] = [of(caller), of(callee)];
    expect(story(callerEvents)).toEqual([
      'speech_started',
      'speech_ended',
      'said',
      'speech_started',
      'speech_ended',
      'digits_sent',
      'hung_up',
    ]);
    expect(calleeEvents.flatMap((event) => (event.kind === 'said' ? [event.text] : []))).toEqual([
      'Hello, this is Ada.',
      'Which key?',
    ]);
    expect(calleeEvents.flatMap((event) => (event.kind === 'digit_received' ? [event.digit] : []))).toEqual([
      '4',
      '2',
      '#',
    ]);
    const said = calleeEvents.find((event) => event.kind === 'said');
    const heard = callerEvents
      .slice(
        0,
        callerEvents.findIndex(({ kind }) => kind === 'said'),
      )
      .findLast(({ kind }) => kind === 'speech_ended');
    // Complete, except for the silence around synthesized speech, plus the listener's hangover.
    expect(heard?.atMs).toBeGreaterThan((said?.kind === 'said' ? said.durationMs : 0) - 500);
    expect(callerEvents.at(-1)).toMatchObject({ kind: 'hung_up', by: 'peer' });
    expect(calleeEvents.at(-1)).toMatchObject({ kind: 'hung_up', by: 'self' });
  });

  test('can be interrupted while the other party speaks', async () => {
    const { caller, callee, call, of } = rig.pair();
    rig.far.phones.set(callee, {
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
    await call([{ do: 'interrupt', afterMs: 600, text: 'uh huh' }], { stays: true });
    const events = of(caller);
    const at = events.findIndex(({ kind }) => kind === 'said');
    const [before, said, after] = events.slice(at - 1, at + 2);
    expect([before?.kind, after?.kind]).toEqual(['speech_started', 'speech_ended']);
    expect((said?.atMs ?? 0) - (before?.atMs ?? 0)).toBeLessThan(800);
    expect(story(of(callee))).toEqual(['said', 'speech_started', 'speech_ended', 'hung_up']);
  });

  test('repeats what it said when the other party falls silent before', async () => {
    const { callee, call, of, caller } = rig.pair();
    rig.far.phones.set(callee, {
      kind: 'answers',
      afterMs: 0,
      script: [
        { do: 'say', text: 'Again?' },
        { do: 'listen', quietMs: 500 },
        {
          do: 'say',
          text: 'This is a rather long sentence, which goes on and on, until nobody listens any more.',
        },
        { do: 'wait', ms: 500 },
      ],
    });
    await call([{ do: 'interrupt', afterMs: 1200, text: 'uh huh', repeat: 'I said yes.' }], { stays: true });
    const said = of(caller).flatMap((event) => (event.kind === 'said' ? [event.text] : []));
    expect(said).toEqual(['I said yes.', 'uh huh']);
  });

  test('A voice mail speaks its greeting and beeps; the caller hears both', async () => {
    const { caller, callee, call, of, kinds } = rig.pair();
    rig.far.phones.set(callee, BEHAVIOURS.voicemail);
    const end = await call([
      { do: 'listen', quietMs: 2000 },
      { do: 'say', text: 'Please call me back.' },
    ]);
    expect(end.outcome).toBe('local_hangup');
    expect(durationMs(of(caller))).toBeGreaterThan(6000);
    expect(kinds(callee)).toEqual(expect.arrayContaining(['said', 'speech_started', 'hung_up']));
    expect(of(callee).at(-1)).toMatchObject({ by: 'peer' });
  });

  test('A screening service asks for the caller’s name before the callee answers', async () => {
    const { callee, call, of } = rig.pair();
    rig.far.phones.set(callee, BEHAVIOURS.screening);
    await call([{ do: 'listen' }, { do: 'say', text: 'This is Callway.' }, { do: 'listen' }]);
    const said = of(callee).flatMap((event) => (event.kind === 'said' ? [event.text] : []));
    expect(said).toEqual([expect.stringContaining('state your name'), 'Hello, this is Ada. Yes.']);
  });

  test('A caller whose file is missing hangs up and reports it', async () => {
    const { callee, call } = rig.pair();
    rig.far.phones.set(callee, { kind: 'answers', afterMs: 0, script: [], stays: true });
    const end = await call([{ do: 'play', file: MISSING_FILE }]);
    expect(end.outcome).toBe('local_hangup');
    expect(rig.warnings).toContainEqual(expect.stringContaining(MISSING_FILE));
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
    const { callee, call, of } = rig.pair();
    rig.far.phones.set(callee, how);
    expect(await call([])).toMatchObject(end);
    expect(of(callee)).toEqual([]);
  });

  test('rings without an answer, and a phone that would answer later stays silent', async () => {
    const { caller, callee } = rig.pair();
    const { callee: slowCallee } = rig.pair();
    rig.far.phones.set(callee, BEHAVIOURS.never_answers);
    const callUntilTimeout = (toNumber: string) =>
      rig.near.phones.call({
        trunk: trunkTo(rig.far.sipPort),
        fromNumber: caller,
        toNumber,
        how: { kind: 'answers', script: [] },
        ringTimeoutMs: 400,
      });
    expect(await callUntilTimeout(callee)).toMatchObject({ outcome: 'no_answer' });
    rig.far.phones.set(slowCallee, { kind: 'answers', afterMs: 900, script: [] });
    expect(await callUntilTimeout(slowCallee)).toMatchObject({ outcome: 'no_answer' });
    await new Promise((resolve) => setTimeout(resolve, 800));
  });
});

test('Finished calls leave nothing behind and log no warning', async () => {
  await expect.poll(() => rig.near.phones.active + rig.far.phones.active).toBe(0);
  expect(rig.warnings.filter((warning) => !warning.includes(MISSING_FILE))).toEqual([]);
});

test('An invalid behaviour is rejected', async () => {
  const { callee } = rig.pair();
  expect(() =>
    rig.near.phones.set(callee, { kind: 'answers', script: [{ do: 'send_dtmf', digits: 'x' }] }),
  ).toThrow('digits');
  expect(() => rig.near.phones.set(callee, { kind: 'refuses', sipCode: 200 })).toThrow('sipCode');
});

test('ends at both parties when a carrier closes', async () => {
  const { callee, call } = rig.pair();
  rig.far.phones.set(callee, { kind: 'answers', afterMs: 0, script: [], stays: true });
  const ended = call([], { stays: true });
  await expect.poll(() => rig.far.phones.active).toBe(1);
  await rig.far.close();
  expect(await ended).toMatchObject({ outcome: 'remote_hangup' });
  expect(await call([])).toMatchObject({ outcome: 'unreachable' });
});
