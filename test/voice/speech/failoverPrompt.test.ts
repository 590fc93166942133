import { describe, expect, test } from 'vitest';

import { type SimulatedCall, simulatedCall, soundMs } from '../support/simulatedCall.ts';

const SPOKEN = 'Hello there.';
const open = (standby?: { placeholder: string | undefined; language: string | undefined }) =>
  simulatedCall({
    answer: () => ({ text: SPOKEN }),
    ...(standby ? { serve: { failoverPrompt: async () => standby } } : {}),
  });
const left = (call: SimulatedCall) =>
  call.stream.words.map(({ waiting, apology }) => [soundMs(waiting, 8000), soundMs(apology, 8000)]);

describe('words for the case that a node dies', () => {
  test.each([
    ['the agent’s own', { placeholder: 'Hold on.', language: 'en' }, 'Hold on.', /^I am sorry/],
    [
      'ours where the agent has none',
      { placeholder: undefined, language: undefined },
      'One moment, please.',
      /^I am/,
    ],
    [
      'in the session’s language',
      { placeholder: undefined, language: 'de-AT' },
      'Einen Moment, bitte.',
      /^Es tut/,
    ],
  ])('are left once the greeting has begun: %s', async (_whose, standby, waiting, apology) => {
    const call = open(standby);
    await call.stream.advance(1900);
    expect(left(call)).toEqual([]);
    await call.stream.advance(200);
    expect(left(call)).toEqual([[expect.any(Number), expect.any(Number)]]);
    expect(left(call)[0]?.every((ms) => ms > 0)).toBe(true);
    expect(call.voice.texts).toEqual([SPOKEN, waiting, expect.stringMatching(apology)]);
    await call.stream.hangUp();
    await call.report;
  });

  test('are not made where nobody seeks another engine, nor for a call that is over before', async () => {
    const foreign = open();
    await foreign.stream.advance(4000);
    expect(foreign.voice.texts).toEqual([SPOKEN]);
    await foreign.stream.hangUp();
    const short = open({ placeholder: 'Hold on.', language: 'en' });
    await short.stream.advance(1000);
    await short.stream.hangUp();
    await short.report;
    short.clock.advance(10_000);
    expect(short.voice.texts).toEqual([SPOKEN]);
  });

  test('that cannot be made are an error in the log, and the talk goes on', async () => {
    const call = simulatedCall({
      answer: () => ({ text: SPOKEN }),
      serve: { failoverPrompt: async () => Promise.reject(new Error('the database is away')) },
    });
    await call.stream.advance(4000);
    expect(call.errors).toEqual([new Error('the database is away')]);
    expect(call.stream.isClosed()).toBe(false);
    await call.stream.hangUp();
  });
});
