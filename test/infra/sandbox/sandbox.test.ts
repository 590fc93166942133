import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Sandbox } from '../../../src/infra/sandbox/sandbox.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

const TIME_LIMIT_MS = 3_000;
const REST_MS = 10_000;

let clock: SimulatedClock;
let sandbox: Sandbox;
let cpuMs: () => number;
beforeEach(() => {
  clock = createSimulatedClock();
  cpuMs = () => clock.monotonicMs();
  sandbox = new Sandbox({ clock, cpuMs: () => cpuMs() });
});
afterEach(() => sandbox.close());

/** Each definition refers to the next one twice, so that validation doubles forty times. */
const UNFOLDING = {
  $ref: '#/$defs/d0',
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const next = { $ref: `#/$defs/d${n + 1}` };
        return [`d${n}`, { allOf: [next, next] }];
      }),
    ),
    d40: { type: 'object' },
  },
};
/** Takes more memory than a thread has. */
const HUGE = { enum: Array.from({ length: 300_000 }, (_, n) => ({ [`k${n}`]: n })) };
const BUSY = { code: 'project_busy', category: 'rate_limited' };
const TOO_SLOW = { code: 'check_too_slow', category: 'invalid' };

/** Starts a check that never answers. @returns Its result, once a thread runs it. */
async function hang(projectId: string) {
  const before = clock.pendingTimers();
  const result = sandbox.checkSchema(projectId, UNFOLDING).catch((error: unknown) => error);
  await vi.waitFor(() => expect(clock.pendingTimers()).toBe(before + 1), { timeout: 30_000 });
  return { result };
}

describe('On one thread', () => {
  const shared = new Sandbox({ clock: createSimulatedClock() });
  afterAll(() => shared.close());

  test.each([
    ['^a+$', 'aaa', true],
    ['^a+$', 'aab', false],
    // Takes exponential time by backtracking.
    ['^(a+)+$', `${'a'.repeat(5_000)}!`, false],
    ['(x+x+)+y', 'x'.repeat(5_000), false],
  ])('The pattern %s is searched in linear time', async (pattern, text, found) => {
    expect(await shared.findPattern('p', pattern, text)).toBe(found);
  });

  test.each(['(?=a)b', '(a)\\1', '(', 'a{5000}'])('The pattern %s is refused', async (pattern) => {
    expect(await shared.checkPattern('p', pattern)).toEqual(expect.any(String));
    expect(await shared.findPattern('p', pattern, 'aa')).toBe(false);
  });

  test('Schemas and arguments are checked, with what is wrong', async () => {
    const schema = {
      type: 'object',
      properties: { when: { type: 'string', pattern: '^(a+)+$' } },
      required: ['when'],
    };
    expect(await shared.checkSchema('p', schema)).toBeUndefined();
    expect(await shared.checkSchema('p', { type: 'nothing' })).toContain('type');
    expect(await shared.checkSchema('p', { $ref: 'https://example.com/schema' })).toEqual(expect.any(String));
    expect(await shared.checkArguments('p', schema, { when: 'aaa' })).toBeUndefined();
    expect(await shared.checkArguments('p', schema, {})).toContain('when');
    expect(await shared.checkArguments('p', schema, { when: 'aaa', more: 1 })).toContain('"more"');
    expect(await shared.checkArguments('p', schema, { when: `${'a'.repeat(5_000)}!` })).toContain('pattern');
  });
});

test('A check that hangs is stopped, its project rests, and another thread replaces the stopped one', async () => {
  const { result } = await hang('hostile');
  clock.advance(TIME_LIMIT_MS);
  expect(await result).toMatchObject(TOO_SLOW);
  await expect(sandbox.checkPattern('hostile', 'a')).rejects.toMatchObject(BUSY);
  expect(await sandbox.checkPattern('other', 'a')).toBeUndefined();
  clock.advance(REST_MS);
  expect(await sandbox.checkPattern('hostile', 'a')).toBeUndefined();
});

test('A check without enough memory ends its thread alone, and its project rests', async () => {
  const bomb = sandbox.checkSchema('hostile', HUGE).catch((error: unknown) => error);
  expect(await sandbox.checkPattern('other', 'a')).toBeUndefined();
  expect(await bomb).toMatchObject(TOO_SLOW);
  await expect(sandbox.checkPattern('hostile', 'a')).rejects.toMatchObject(BUSY);
  expect(await sandbox.checkPattern('other', 'b')).toBeUndefined();
});

test('A project whose check hangs holds one thread: others do not wait for it, and its own checks do', async () => {
  const { result } = await hang('hostile');
  const own = sandbox.checkPattern('hostile', 'a');
  const others = Array.from({ length: 50 }, (_, n) => sandbox.checkPattern(`other${n % 5}`, 'a'));
  expect(await Promise.all(others)).toEqual(others.map(() => undefined));
  clock.advance(TIME_LIMIT_MS);
  expect(await result).toMatchObject(TOO_SLOW);
  expect(await own).toBeUndefined();
});

test.each([
  ['until it has had its time', 6_000, true],
  ['for half a minute at most', 30_000, false],
])('A check goes on while other programs have the processor, %s', async (_, untilMs, hasItThen) => {
  cpuMs = () => 0;
  const { result } = await hang('hostile');
  clock.advance(untilMs - 250);
  expect(await Promise.race([result, 'checked'])).toBe('checked');
  if (hasItThen) cpuMs = () => TIME_LIMIT_MS;
  clock.advance(250);
  expect(await result).toMatchObject(TOO_SLOW);
});

test('A project with many checks delays the others by the one that runs', async () => {
  // One thread is left, so that the order is certain.
  const { result } = await hang('hostile');
  const order: string[] = [];
  const check = (projectId: string) =>
    sandbox.findPattern(projectId, 'a', 'a').then(() => order.push(projectId));
  const many = Array.from({ length: 100 }, () => check('busy'));
  const few = Array.from({ length: 5 }, () => check('quiet'));
  await Promise.all([...many, ...few]);
  expect(order.lastIndexOf('quiet')).toBeLessThanOrEqual(10);
  clock.advance(TIME_LIMIT_MS);
  expect(await result).toMatchObject(TOO_SLOW);
});

test('A project has at most 200 checks that wait', async () => {
  const { result } = await hang('hostile');
  const waiting = Array.from({ length: 200 }, () => sandbox.checkPattern('hostile', 'a'));
  await expect(sandbox.checkPattern('hostile', 'a')).rejects.toMatchObject(BUSY);
  clock.advance(TIME_LIMIT_MS);
  expect(await result).toMatchObject(TOO_SLOW);
  expect(await Promise.all(waiting)).toHaveLength(200);
});

test('Closing refuses the checks that run and wait, and all that come', async () => {
  const { result } = await hang('one');
  const waiting = sandbox.checkPattern('one', 'a').catch((error: unknown) => error);
  await Promise.all([sandbox.close(), sandbox.close()]);
  for (const error of [await result, await waiting]) expect(error).toMatchObject({ category: 'unavailable' });
  await expect(sandbox.checkPattern('two', 'a')).rejects.toMatchObject({ category: 'unavailable' });
  expect(clock.pendingTimers()).toBe(0);
});
