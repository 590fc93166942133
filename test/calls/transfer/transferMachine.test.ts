import { describe, expect, test } from 'vitest';

import {
  advanceTransfer,
  newTransfer,
  type TransferEffect,
  type TransferEvent,
  type TransferState,
} from '../../../src/calls/transfer/transferMachine.ts';

type Plan = Partial<TransferState['plan']>;
/** An event of target 0, unless it names another. */
type Step = TransferEvent['type'] | TransferEvent;

const WARM: Plan = { mode: 'warm' };
const BY_DIGIT: Plan = { ...WARM, acceptBy: 'digit' };
const BY_SPEECH: Plan = { ...WARM, acceptBy: 'speech' };

const busy = (target: number) =>
  ({ type: 'left', target, hungUp: false, outcome: 'busy', reason: 'busy: 486' }) as const;
const hangsUp = (target = 0) =>
  ({ type: 'left', target, hungUp: true, outcome: 'failed', reason: 'hung up' }) as const;
const lost = { type: 'left', target: 0, hungUp: false, outcome: 'failed', reason: 'lost' } as const;
const answers = (target: number) => ({ type: 'answered', target }) as const;
const digit = (pressed: string) => ({ type: 'digit', target: 0, digit: pressed }) as const;
const replies = (accepts: boolean) => ({ type: 'replied', target: 0, accepts }) as const;

/** What the last step does; `dial 0` for each effect. */
function play(plan: Plan, targets: number, steps: readonly Step[]): string[] {
  const settings = {
    mode: 'blind',
    acceptBy: 'answer',
    acceptDigit: '1',
    strategy: 'sequential',
    ...plan,
  } as const;
  let state = newTransfer(settings, targets);
  let effects: readonly TransferEffect[] = [];
  for (const step of ['start', ...steps] as const) {
    const event = typeof step === 'string' ? ({ type: step, target: 0 } as TransferEvent) : step;
    ({ state, effects } = advanceTransfer(state, event));
  }
  return effects.filter(({ type }) => type !== 'stop_timer').map(shown);
}

function shown(effect: TransferEffect): string {
  if (effect.type === 'end_call') return effect.type;
  const { type, target } = effect;
  if (effect.type === 'report') return `${effect.status} ${target}`;
  if (effect.type === 'report_accepted') return `accepted ${target} by ${effect.by}`;
  if (effect.type === 'report_end') return `${effect.outcome} ${target}, ${effect.targetsLeft} left`;
  return effect.type === 'give_back' ? `give back: ${effect.outcome}, ${effect.reason}` : `${type} ${target}`;
}

const BACK = (outcome: string, reason: string) => [
  'hang_up 0',
  `${outcome} 0, 0 left`,
  `give back: ${outcome}, ${reason}`,
];
const taken = (by = 'answer') => [`accepted 0 by ${by}`, 'join 0'];

describe('A transfer to one target', () => {
  test.each<[string, Plan, Step[], string[]]>([
    ['is dialed', {}, [], ['dial 0']],
    ['is joined when it answers a blind one', {}, ['answered'], taken()],
    ['is told about a warm one', WARM, ['answered'], ['brief 0']],
    ['accepts by answering once it was told', WARM, ['answered', 'told'], taken()],
    ['accepts by answering although it cannot be told', WARM, ['answered', 'briefing_failed'], taken()],
    ['is not asked for an answer in time when answering is enough', WARM, ['answered', 'timed_out'], []],
    ['presses no digit of meaning when answering is enough', WARM, ['answered', digit('2')], []],
    ['accepts by the digit', BY_DIGIT, ['answered', digit('1')], taken('digit')],
    ['has not accepted by being told', BY_DIGIT, ['answered', 'told'], []],
    ['accepts by no words where a digit is wanted', BY_DIGIT, ['answered', replies(true)], []],
    ['accepts by words', BY_SPEECH, ['answered', replies(true)], taken('speech')],
    ['accepts by the digit instead of words', BY_SPEECH, ['answered', digit('1')], taken('digit')],
    ['refuses by another digit', BY_DIGIT, ['answered', digit('2')], BACK('refused', 'pressed 2')],
    ['refuses by words', BY_SPEECH, ['answered', replies(false)], BACK('refused', 'said no')],
    ['refuses by hanging up while it is told', WARM, ['answered', hangsUp()], BACK('refused', 'hung up')],
    ['is lost while it is told', WARM, ['answered', lost], BACK('failed', 'lost')],
    [
      'cannot be told',
      BY_DIGIT,
      ['answered', { type: 'briefing_failed', target: 0, reason: 'no voice' }],
      BACK('failed', 'no voice'),
    ],
    ['is busy', {}, [busy(0)], BACK('busy', 'busy: 486')],
    ['does not answer in time', {}, ['timed_out'], BACK('no_answer', 'not answered in time')],
    [
      'does not accept in time',
      BY_DIGIT,
      ['answered', 'timed_out'],
      BACK('no_answer', 'not accepted in time'),
    ],
    ['is joined', {}, ['answered', 'joined'], ['joined 0']],
    ['hangs up while it is being joined', {}, ['answered', hangsUp()], BACK('failed', 'hung up')],
    ['cannot be joined', {}, ['answered', 'join_failed'], BACK('failed', 'it could not be joined')],
    ['ends the call by hanging up once it is joined', {}, ['answered', 'joined', hangsUp()], ['end_call']],
    ['has no time limit once it is joined', {}, ['answered', 'joined', 'timed_out'], []],
    [
      'is canceled when the caller hangs up while it rings',
      {},
      ['caller_left'],
      ['hang_up 0', 'failed 0, 0 left'],
    ],
    [
      'is hung up when the caller hangs up while it is told',
      WARM,
      ['answered', 'caller_left'],
      ['hang_up 0', 'failed 0, 0 left'],
    ],
    [
      'is hung up when the caller hangs up after the join',
      {},
      ['answered', 'joined', 'caller_left'],
      ['hang_up 0'],
    ],
    ['hangs up just before the caller', WARM, ['answered', hangsUp(), 'caller_left'], []],
    ['hangs up just after the caller', WARM, ['answered', 'caller_left', hangsUp()], []],
    ['answers just after the caller has hung up', {}, ['caller_left', 'answered'], []],
    ['presses the digit just after the time is over', BY_DIGIT, ['answered', 'timed_out', digit('1')], []],
    ['is joined just after the caller has hung up', {}, ['answered', 'caller_left', 'joined'], []],
  ])('%s', (_what, plan, steps, effects) => {
    expect(play(plan, 1, steps)).toEqual(effects);
  });
});

describe('A transfer to several targets', () => {
  const AT_ONCE: Plan = { strategy: 'simultaneous' };
  test.each<[string, Plan, Step[], string[]]>([
    ['dials one after the other', {}, [busy(0)], ['hang_up 0', 'busy 0, 1 left', 'dial 1']],
    ['dials no other one while one is told', WARM, ['answered'], ['brief 0']],
    [
      'goes on after a refusal',
      BY_DIGIT,
      ['answered', digit('9')],
      ['hang_up 0', 'refused 0, 1 left', 'dial 1'],
    ],
    [
      'gives the caller back with the outcome of the last one',
      {},
      [busy(0), { type: 'timed_out', target: 1 }],
      ['hang_up 1', 'no_answer 1, 0 left', 'give back: no_answer, not answered in time'],
    ],
    [
      'dials the next one where one cannot be joined',
      {},
      ['answered', 'join_failed'],
      ['hang_up 0', 'failed 0, 1 left', 'dial 1'],
    ],
    ['dials all at once', AT_ONCE, [], ['dial 0', 'dial 1']],
    ['waits for the others of those dialed at once', AT_ONCE, [busy(1)], ['hang_up 1', 'busy 1, 1 left']],
    [
      'gives the call to the first to accept and cancels the others',
      AT_ONCE,
      [answers(1)],
      ['accepted 1 by answer', 'hang_up 0', 'canceled 0', 'join 1'],
    ],
    ['tells two at once', { ...AT_ONCE, ...BY_DIGIT }, [answers(1), answers(0)], ['brief 0']],
    [
      'ignores one that accepts second',
      { ...AT_ONCE, ...WARM },
      [answers(0), answers(1), { type: 'told', target: 1 }, 'told'],
      [],
    ],
    [
      'hangs up all when the caller does',
      AT_ONCE,
      ['caller_left'],
      ['hang_up 0', 'failed 0, 0 left', 'hang_up 1', 'failed 1, 0 left'],
    ],
  ])('%s', (_what, plan, steps, effects) => {
    expect(play(plan, 2, steps)).toEqual(effects);
  });
});
