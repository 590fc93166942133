import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WebhookEventName } from '../../src/agents/agentConfig.ts';
import { expectedEvents } from '../../src/engine/session/sessionEnding.ts';
import {
  type GateEffect,
  type GateEvent,
  type GateState,
  isGateDone,
  liveGate,
  pendingEffects,
  transitionGate,
} from '../../src/webhooks/deliveryGate.ts';
import { WEBHOOK_EVENT_NAMES } from '../../src/webhooks/events.ts';

const recordedCall = expectedEvents({ call: { answered: true, record: true } });
const chat = expectedEvents({});
const finalizeByMs = 120_000;
const ended = (change: Partial<Extract<GateEvent, { type: 'session_ended' }>> = {}): GateEvent => ({
  type: 'session_ended',
  expected: recordedCall,
  subscribed: WEBHOOK_EVENT_NAMES,
  evaluating: false,
  finalizeByMs,
  ...change,
});
const fact = (name: WebhookEventName): GateEvent => ({ type: 'fact_ready', name });
const begun = (name: WebhookEventName): GateEvent => ({ type: 'delivery_begun', name });
const settled = (name: WebhookEventName, attempt = 1): GateEvent => ({
  type: 'delivery_settled',
  name,
  attempt,
  outcome: 'delivered',
});
const lost = (name: WebhookEventName, attempt = 1): GateEvent => ({ type: 'sender_lost', name, attempt });
const returned = (name: WebhookEventName, attempt = 1): GateEvent => ({
  type: 'leave_returned',
  name,
  attempt,
});
const sent = (name: WebhookEventName): GateEvent[] => [begun(name), settled(name)];
const backstop: GateEvent = { type: 'backstop_due' };

describe('expectedEvents', () => {
  it.each([
    ['chat', {}, ['session.ended', 'session.finalized']],
    [
      'a recorded call',
      { call: { answered: true, record: true } },
      ['session.ended', 'call.ended', 'recording.ready', 'session.finalized'],
    ],
    [
      'a call without recording',
      { call: { answered: true, record: false } },
      ['session.ended', 'call.ended', 'session.finalized'],
    ],
    [
      'a call that nobody answered',
      { call: { answered: false, record: true } },
      ['session.ended', 'call.ended', 'session.finalized'],
    ],
  ])('of %s', (_what, session, expected) => {
    expect(expectedEvents(session)).toEqual(expected);
  });
});

describe('the gate', () => {
  it('sends the four events of a recorded call in order, each after the one before has settled', () => {
    expect(story([ended(), begun('session.ended'), settled('session.ended')])).toEqual([
      'arm_backstop',
      'deliver session.ended',
      'send session.ended 1',
    ]);
    expect(
      story([
        ended(),
        fact('recording.ready'),
        fact('call.ended'),
        ...sent('session.ended'),
        ...sent('call.ended'),
        ...sent('recording.ready'),
        ...sent('session.finalized'),
      ]),
    ).toEqual([
      'arm_backstop',
      'deliver session.ended',
      'send session.ended 1',
      'deliver call.ended',
      'send call.ended 1',
      'deliver recording.ready',
      'send recording.ready 1',
      'claim_finalized',
      'send session.finalized 1',
    ]);
  });

  it('needs no backstop for chat, where nothing is outstanding', () => {
    expect(story([ended({ expected: chat }), ...sent('session.ended')])).toEqual([
      'deliver session.ended',
      'send session.ended 1',
      'claim_finalized',
    ]);
  });

  it('remembers facts that came before the end', () => {
    const state = run([fact('call.ended'), fact('call.ended'), fact('recording.ready'), ended()]);
    expect(statuses(state)).toEqual(['ready', 'ready', 'ready', 'ready']);
    expect(pendingEffects(state)).toEqual([{ type: 'deliver', name: 'session.ended' }]);
  });

  it('waits for facts that nobody subscribed to, and sends none of them', () => {
    const only = { subscribed: ['session.finalized'] as const };
    expect(story([ended(only), fact('call.ended')])).toEqual(['arm_backstop']);
    expect(story([ended(only), fact('call.ended'), fact('recording.ready')])).toEqual([
      'arm_backstop',
      'claim_finalized',
    ]);
  });

  it('waits for an evaluation, but not beyond the backstop', () => {
    const start = [ended({ expected: chat, evaluating: true }), ...sent('session.ended')];
    const beginning = ['arm_backstop', 'deliver session.ended', 'send session.ended 1'];
    expect(story(start)).toEqual(beginning);
    expect(story([...start, fact('session.finalized')])).toEqual([...beginning, 'claim_finalized']);
    expect(story([...start, backstop])).toEqual([...beginning, 'claim_finalized']);
  });

  it('expires at the backstop what is still to come, and never sends it afterwards', () => {
    const late = [ended(), ...sent('session.ended'), fact('call.ended'), ...sent('call.ended'), backstop];
    expect(statuses(run(late))).toEqual(['settled', 'settled', 'expired', 'ready']);
    const after = [fact('recording.ready'), begun('recording.ready'), settled('recording.ready', 0)];
    expect(story([...late, ...after]).slice(-1)).toEqual(['claim_finalized']);
    expect(statuses(run([...late, ...after]))).toEqual(['settled', 'settled', 'expired', 'ready']);
  });

  it('lets what is ready or on its way at the backstop go out first', () => {
    const state = run([ended(), begun('session.ended'), fact('call.ended'), backstop]);
    expect(statuses(state)).toEqual(['sending', 'ready', 'expired', 'ready']);
    expect(story([settled('session.ended'), ...sent('call.ended')], state)).toEqual([
      'deliver call.ended',
      'send call.ended 1',
      'claim_finalized',
    ]);
  });

  it('expires nothing when nobody subscribed to session.finalized', () => {
    const start = [ended({ subscribed: ['recording.ready'] }), backstop, fact('call.ended'), backstop];
    expect(story([...start, fact('recording.ready'), ...sent('recording.ready')])).toEqual([
      'deliver recording.ready',
      'send recording.ready 1',
    ]);
    expect(outcomes(run([...start, fact('recording.ready'), ...sent('recording.ready')]))).toEqual([
      'skipped',
      'skipped',
      'delivered',
      'skipped',
    ]);
  });

  it('gives leave to send to one of two nodes', () => {
    const claimable = run([ended({ expected: chat }), ...sent('session.ended')]);
    const winner = transitionGate(claimable, begun('session.finalized'));
    expect(winner.effects).toEqual([{ type: 'send', name: 'session.finalized', attempt: 1 }]);
    const loser = transitionGate(winner.state, begun('session.finalized'));
    expect(loser).toEqual({ state: winner.state, effects: [] });
  });

  it('sends an earlier event again when its sender is lost, and does not listen to the lost one', () => {
    const state = run([ended(), begun('session.ended'), lost('session.ended')]);
    expect(pendingEffects(state)).toContainEqual({ type: 'deliver', name: 'session.ended' });
    const again = run([begun('session.ended')], state);
    expect(statuses(run([settled('session.ended', 1)], again))[0]).toBe('sending');
    expect(statuses(run([lost('session.ended', 1)], again))[0]).toBe('sending');
    expect(statuses(run([settled('session.ended', 2)], again))[0]).toBe('settled');
  });

  it('gives session.finalized up when its sender is lost after it began, and not before', () => {
    const claimable = run([ended({ expected: chat }), ...sent('session.ended')]);
    expect(transitionGate(claimable, lost('session.finalized', 0)).state).toBe(claimable);
    expect(pendingEffects(claimable)).toEqual([{ type: 'claim_finalized' }]);
    const dead = run([begun('session.finalized'), lost('session.finalized')], claimable);
    expect(outcomes(dead)).toEqual(['delivered', 'unknown']);
    expect(isGateDone(dead)).toBe(true);
    expect(story([begun('session.finalized'), settled('session.finalized')], dead)).toEqual([]);
  });

  it('gives leave again once it came back unused, for session.finalized too, and to nobody who is late', () => {
    const claimable = run([ended({ expected: chat }), ...sent('session.ended')]);
    const leave = run([begun('session.finalized')], claimable);
    expect(transitionGate(leave, returned('session.finalized', 0)).state).toBe(leave);
    const back = transitionGate(leave, returned('session.finalized'));
    expect(back.effects).toEqual([{ type: 'claim_finalized' }]);
    expect(transitionGate(back.state, settled('session.ended', 1)).state).toBe(back.state);
    const again = transitionGate(back.state, begun('session.finalized'));
    expect(again.effects).toEqual([{ type: 'send', name: 'session.finalized', attempt: 2 }]);
    for (const late of [returned('session.finalized'), settled('session.finalized')]) {
      expect(transitionGate(again.state, late).state).toBe(again.state);
    }
    expect(outcomes(run([settled('session.finalized', 2)], again.state))).toEqual(['delivered', 'delivered']);
  });

  it('has the order of the catalogue', () => {
    expect(WEBHOOK_EVENT_NAMES).toEqual([
      'session.ended',
      'call.ended',
      'recording.ready',
      'session.finalized',
    ]);
  });

  it('goes on when a sender gives up before it began', () => {
    const given: GateEvent = {
      type: 'delivery_settled',
      name: 'session.ended',
      attempt: 0,
      outcome: 'failed',
    };
    expect(story([ended({ expected: chat }), given])).toEqual(['deliver session.ended', 'claim_finalized']);
    expect(story([fact('call.ended'), fact('recording.ready'), ended(), given])).toEqual([
      'deliver session.ended',
      'deliver call.ended',
    ]);
  });

  it('ignores what is not expected, not its turn, or told twice', () => {
    const state = run([ended({ expected: chat })]);
    for (const event of [
      ended(),
      fact('recording.ready'),
      begun('call.ended'),
      begun('session.finalized'),
      settled('session.finalized', 0),
      fact('session.ended'),
      backstop,
    ]) {
      expect(transitionGate(state, event).state).toBe(state);
    }
    expect(transitionGate(liveGate, backstop).state).toBe(liveGate);
    expect(transitionGate(liveGate, begun('session.ended')).state).toBe(liveGate);
  });

  it('refuses a plan without a beginning or an end', () => {
    const plan = ended({ expected: ['call.ended'] });
    expect(() => transitionGate(liveGate, plan)).toThrow(
      expect.objectContaining({ code: 'gate_plan_invalid' }),
    );
  });
});

describe('whatever happens in whatever order', () => {
  const names = fc.constantFrom(...WEBHOOK_EVENT_NAMES);
  const attempts = fc.integer({ min: 0, max: 3 });
  const anyEvent: fc.Arbitrary<GateEvent> = fc.oneof(
    fc.record({ type: fc.constant('fact_ready' as const), name: names }),
    { weight: 3, arbitrary: fc.record({ type: fc.constant('delivery_begun' as const), name: names }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('delivery_settled' as const),
        name: names,
        attempt: attempts,
        outcome: fc.constantFrom('delivered' as const, 'failed' as const),
      }),
    },
    fc.record({ type: fc.constant('sender_lost' as const), name: names, attempt: attempts }),
    fc.record({ type: fc.constant('leave_returned' as const), name: names, attempt: attempts }),
    fc.constant(backstop),
  );
  const call = fc.record({ answered: fc.boolean(), record: fc.boolean() });
  const anyEnd = fc
    .record({
      session: fc.oneof(
        fc.constant({}),
        call.map((given) => ({ call: given })),
      ),
      subscribed: fc.subarray([...WEBHOOK_EVENT_NAMES]),
      evaluating: fc.boolean(),
    })
    .map(({ session, ...rest }) => ended({ expected: expectedEvents(session), ...rest }));
  const anyHistory = fc.tuple(
    fc.array(anyEvent, { maxLength: 4 }),
    anyEnd,
    fc.array(anyEvent, { maxLength: 40 }),
  );

  it('session.finalized is sent at most once, last, and after every other event is done', () => {
    fc.assert(
      fc.property(anyHistory, ([before, end, after]) => {
        let state: GateState = liveGate;
        const sends: WebhookEventName[] = [];
        for (const event of [...before, end, ...after]) {
          const step = transitionGate(state, event);
          checkStep(state, event, step.state, step.effects);
          state = step.state;
          sends.push(...step.effects.flatMap((effect) => (effect.type === 'send' ? [effect.name] : [])));
          // It is the turn of what was returned, so that nothing came after it.
          if (event.type === 'leave_returned' && step.effects.length > 0)
            expect(sends.pop()).toBe(event.name);
        }
        const places = sends.map((name) => WEBHOOK_EVENT_NAMES.indexOf(name));
        expect(places).toEqual([...places].sort());
        expect(sends.filter((name) => name === 'session.finalized').length).toBeLessThanOrEqual(1);
        if (end.type === 'session_ended') expect(end.subscribed).toEqual(expect.arrayContaining(sends));
      }),
      { numRuns: 3_000 },
    );
  });

  it('session.finalized is never lost: the backstop and living senders always bring it out', () => {
    fc.assert(
      fc.property(anyHistory, fc.array(fc.boolean()), ([before, end, after], losses) => {
        const { state, sends } = finish(run([...before, end, ...after]), [...losses]);
        expect(isGateDone(state)).toBe(true);
        const row = rowsOf(state).at(-1);
        if (row?.subscribed && row.attempt === 0) expect(row.outcome).toMatch(/delivered|failed/);
        const back = after.filter(({ type }) => type === 'leave_returned').length;
        if (row?.subscribed && sends.includes('session.finalized')) {
          expect(row.attempt).toBeGreaterThanOrEqual(1);
          expect(row.attempt).toBeLessThanOrEqual(1 + back);
        }
        expect(row?.outcome === 'skipped').toBe(row?.subscribed === false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('a node that takes over finds every effect that was announced and not yet done', () => {
    fc.assert(
      fc.property(anyHistory, ([before, end, after]) => {
        let state: GateState = liveGate;
        for (const event of [...before, end, ...after]) {
          const step = transitionGate(state, event);
          const lasting = step.effects.filter(({ type }) => type !== 'send');
          expect(pendingEffects(step.state)).toEqual(expect.arrayContaining(lasting));
          state = step.state;
        }
      }),
    );
  });
});

/** What must hold of a single step. */
function checkStep(
  before: GateState,
  event: GateEvent,
  after: GateState,
  effects: readonly GateEffect[],
): void {
  if (after === before) expect(effects).toEqual([]);
  const old = rowsOf(before);
  for (const [index, row] of rowsOf(after).entries()) {
    const was = old[index];
    const isDone = was?.status === 'settled' || was?.status === 'expired';
    if (isDone) expect(row).toEqual(was);
    if (row.status === 'expired' && !isDone) {
      expect([was?.status, event.type, row.event === 'session.finalized']).toEqual([
        'waiting',
        'backstop_due',
        false,
      ]);
    }
    if (row.status === 'sending') {
      const earlier = rowsOf(after).slice(0, index);
      expect(earlier.every(({ status }) => status === 'settled' || status === 'expired')).toBe(true);
    }
    expect(row.outcome !== null).toBe(row.status === 'settled');
  }
}

/** Ends any history: the backstop comes, living nodes do what is pending, and a sweeper frees what lost senders held. */
function finish(start: GateState, losses: boolean[]): { state: GateState; sends: WebhookEventName[] } {
  const sends: WebhookEventName[] = [];
  let state = start;
  const tell = (event: GateEvent) => {
    const step = transitionGate(state, event);
    state = step.state;
    sends.push(...step.effects.flatMap((effect) => (effect.type === 'send' ? [effect.name] : [])));
  };
  // Without a subscriber of session.finalized there is no backstop, but then facts come in the end.
  tell(backstop);
  for (const { event } of rowsOf(state)) tell(fact(event));
  for (let rounds = 0; rounds < 100 && !isGateDone(state); rounds += 1) {
    for (const effect of pendingEffects(state)) {
      if (effect.type === 'deliver') tell(begun(effect.name));
      if (effect.type === 'claim_finalized') tell(begun('session.finalized'));
    }
    const row = rowsOf(state).find(({ status }) => status === 'sending');
    if (row) tell(losses.shift() ? lost(row.event, row.attempt) : settled(row.event, row.attempt));
  }
  return { state, sends };
}

function run(events: readonly GateEvent[], start: GateState = liveGate): GateState {
  return events.reduce((state, event) => transitionGate(state, event).state, start);
}

/** The effects of a run of events, in words. */
function story(events: readonly GateEvent[], start: GateState = liveGate): string[] {
  let state = start;
  return events.flatMap((event) => {
    const step = transitionGate(state, event);
    state = step.state;
    return step.effects.map((effect) => {
      if (effect.type === 'send') return `send ${effect.name} ${effect.attempt}`;
      return effect.type === 'deliver' ? `deliver ${effect.name}` : effect.type;
    });
  });
}

function rowsOf(state: GateState) {
  return state.phase === 'ended' ? state.rows : [];
}

function statuses(state: GateState) {
  return rowsOf(state).map(({ status }) => status);
}

function outcomes(state: GateState) {
  return rowsOf(state).map(({ outcome }) => outcome);
}
