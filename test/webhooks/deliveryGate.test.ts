import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WebhookEventName } from '../../src/agents/agentConfig.ts';
import { expectedEvents } from '../../src/engine/session/sessionEnding.ts';
import {
  awaitsTimeout,
  dueRow,
  type GateEvent,
  type GateRow,
  isGateDone,
  transitionGate,
} from '../../src/webhooks/deliveryGate.ts';
import { WEBHOOK_EVENT_NAMES } from '../../src/webhooks/events.ts';

type Gate = readonly GateRow[];

const RECORDED_CALL = expectedEvents({ call: { answered: true, record: true } });
const CHAT = expectedEvents({});

interface SessionEnd {
  readonly expected?: readonly WebhookEventName[];
  readonly subscribed?: readonly WebhookEventName[];
  /** Whether session.finalized waits for an evaluation. */
  readonly evaluating?: boolean;
}

/** The gate of a session that has just ended. */
function gateOf({
  expected = RECORDED_CALL,
  subscribed = WEBHOOK_EVENT_NAMES,
  evaluating = false,
}: SessionEnd = {}): Gate {
  const rows = expected.map(
    (event): GateRow => ({
      event,
      subscribed: subscribed.includes(event),
      status: 'waiting',
      outcome: null,
      attempt: 0,
    }),
  );
  return run([fact('session.ended'), ...(evaluating ? [] : [fact('session.finalized')])], rows);
}

const fact = (name: WebhookEventName): GateEvent => ({ type: 'fact_ready', name });
const claimed = (name: WebhookEventName): GateEvent => ({ type: 'send_claimed', name });
const settled = (name: WebhookEventName, attempt = 1): GateEvent => ({
  type: 'delivery_settled',
  name,
  attempt,
  outcome: 'delivered',
});
const lost = (name: WebhookEventName, attempt = 1): GateEvent => ({ type: 'sender_lost', name, attempt });
const released = (name: WebhookEventName, attempt = 1): GateEvent => ({
  type: 'claim_released',
  name,
  attempt,
});
const sent = (name: WebhookEventName): GateEvent[] => [claimed(name), settled(name)];
const TIMEOUT: GateEvent = { type: 'finalize_timeout' };

describe('expectedEvents', () => {
  it.each([
    ['a chat', {}, ['session.ended', 'session.finalized']],
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
      'an unanswered call',
      { call: { answered: false, record: true } },
      ['session.ended', 'call.ended', 'session.finalized'],
    ],
  ])('lists the events of %s', (_what, session, expected) => {
    expect(expectedEvents(session)).toEqual(expected);
  });

  it('lists them in the order of the catalog', () => {
    expect(WEBHOOK_EVENT_NAMES).toEqual(RECORDED_CALL);
  });
});

describe('Delivery gate', () => {
  it('sends the four events of a recorded call in order, each once the one before is settled', () => {
    const facts = [fact('recording.ready'), fact('call.ended')];
    expect(story([claimed('session.ended'), settled('session.ended')], gateOf())).toEqual([
      'await timeout',
      'due session.ended',
      'send session.ended 1',
    ]);
    expect(story([...facts, ...RECORDED_CALL.flatMap(sent)], gateOf())).toEqual([
      'await timeout',
      'due session.ended',
      'send session.ended 1',
      'due call.ended',
      'send call.ended 1',
      'due recording.ready',
      'send recording.ready 1',
      'due session.finalized',
      'send session.finalized 1',
    ]);
  });

  it('awaits no timeout for a chat without evaluation', () => {
    expect(story(sent('session.ended'), gateOf({ expected: CHAT }))).toEqual([
      'due session.ended',
      'send session.ended 1',
      'due session.finalized',
    ]);
  });

  it('waits for facts without a subscription, and sends none of them', () => {
    const gate = gateOf({ subscribed: ['session.finalized'] });
    expect(story([fact('call.ended')], gate)).toEqual(['await timeout']);
    expect(story([fact('call.ended'), fact('recording.ready')], gate)).toEqual([
      'await timeout',
      'due session.finalized',
    ]);
  });

  it('waits for an evaluation, but not beyond the timeout', () => {
    const gate = gateOf({ expected: CHAT, evaluating: true });
    const start = ['await timeout', 'due session.ended', 'send session.ended 1'];
    expect(story(sent('session.ended'), gate)).toEqual(start);
    const finalized = [...start, 'due session.finalized'];
    expect(story([...sent('session.ended'), fact('session.finalized')], gate)).toEqual(finalized);
    expect(story([...sent('session.ended'), TIMEOUT], gate)).toEqual(finalized);
  });

  it('waits for an evaluation that it does not send no longer, and goes on waiting for the events before', () => {
    const gate = gateOf({ subscribed: ['recording.ready'], evaluating: true });
    expect(awaitsTimeout(gate)).toBe(true);
    const late = run([fact('call.ended'), TIMEOUT], gate);
    expect(statuses(late)).toEqual(['settled', 'settled', 'waiting', 'ready']);
    expect(awaitsTimeout(late)).toBe(false);
    expect(isGateDone(run([fact('recording.ready'), ...sent('recording.ready')], late))).toBe(true);
  });

  it('expires waiting events at the timeout, and never sends them afterwards', () => {
    const late = [...sent('session.ended'), fact('call.ended'), ...sent('call.ended'), TIMEOUT];
    const expired = ['settled', 'settled', 'expired', 'ready'];
    expect(statuses(run(late, gateOf()))).toEqual(expired);
    const after = [fact('recording.ready'), claimed('recording.ready'), settled('recording.ready', 0)];
    expect(story([...late, ...after], gateOf()).at(-1)).toBe('due session.finalized');
    expect(statuses(run([...late, ...after], gateOf()))).toEqual(expired);
  });

  it('sends events that are ready or sending at the timeout first', () => {
    const gate = run([claimed('session.ended'), fact('call.ended'), TIMEOUT], gateOf());
    expect(statuses(gate)).toEqual(['sending', 'ready', 'expired', 'ready']);
    expect(story([settled('session.ended'), ...sent('call.ended')], gate)).toEqual([
      'send session.ended 1',
      'due call.ended',
      'send call.ended 1',
      'due session.finalized',
    ]);
  });

  it('expires nothing without a subscription to session.finalized', () => {
    const events = [
      TIMEOUT,
      fact('call.ended'),
      TIMEOUT,
      fact('recording.ready'),
      ...sent('recording.ready'),
    ];
    const gate = gateOf({ subscribed: ['recording.ready'] });
    expect(story(events, gate)).toEqual(['due recording.ready', 'send recording.ready 1']);
    expect(outcomes(run(events, gate))).toEqual(['skipped', 'skipped', 'delivered', 'skipped']);
  });

  it('gives the claim to one of two nodes', () => {
    const due = run(sent('session.ended'), gateOf({ expected: CHAT }));
    const winner = transitionGate(due, claimed('session.finalized'));
    expect(winner.at(-1)).toMatchObject({ status: 'sending', attempt: 1 });
    expect(transitionGate(winner, claimed('session.finalized'))).toBe(winner);
  });

  it('sends an earlier event again when its sender is lost, and ignores the lost sender', () => {
    const gate = run([claimed('session.ended'), lost('session.ended')], gateOf());
    expect(dueRow(gate)?.event).toBe('session.ended');
    const again = run([claimed('session.ended')], gate);
    expect(statuses(run([settled('session.ended', 1)], again))[0]).toBe('sending');
    expect(statuses(run([lost('session.ended', 1)], again))[0]).toBe('sending');
    expect(statuses(run([settled('session.ended', 2)], again))[0]).toBe('settled');
  });

  it('gives up session.finalized when its sender is lost after its claim, and not before', () => {
    const due = run(sent('session.ended'), gateOf({ expected: CHAT }));
    expect(transitionGate(due, lost('session.finalized', 0))).toBe(due);
    const gone = run([claimed('session.finalized'), lost('session.finalized')], due);
    expect(outcomes(gone)).toEqual(['delivered', 'unknown']);
    expect(isGateDone(gone)).toBe(true);
    expect(run(sent('session.finalized'), gone)).toBe(gone);
  });

  it('allows another claim after an unused one is released, and ignores late reports on the first', () => {
    const due = run(sent('session.ended'), gateOf({ expected: CHAT }));
    const first = run([claimed('session.finalized')], due);
    expect(transitionGate(first, released('session.finalized', 0))).toBe(first);
    const back = transitionGate(first, released('session.finalized'));
    expect(dueRow(back)?.event).toBe('session.finalized');
    expect(transitionGate(back, settled('session.ended', 1))).toBe(back);
    const second = transitionGate(back, claimed('session.finalized'));
    expect(second.at(-1)).toMatchObject({ status: 'sending', attempt: 2 });
    for (const late of [released('session.finalized'), settled('session.finalized')]) {
      expect(transitionGate(second, late)).toBe(second);
    }
    expect(outcomes(run([settled('session.finalized', 2)], second))).toEqual(['delivered', 'delivered']);
  });

  it('continues when a sender fails before its claim', () => {
    const failed: GateEvent = {
      type: 'delivery_settled',
      name: 'session.ended',
      attempt: 0,
      outcome: 'failed',
    };
    expect(story([failed], gateOf({ expected: CHAT }))).toEqual([
      'due session.ended',
      'due session.finalized',
    ]);
  });

  it('ignores events that are unexpected, out of order, or repeated', () => {
    const gate = gateOf({ expected: CHAT });
    for (const event of [
      fact('recording.ready'),
      claimed('call.ended'),
      claimed('session.finalized'),
      settled('session.finalized', 0),
      fact('session.ended'),
      TIMEOUT,
    ]) {
      expect(transitionGate(gate, event)).toBe(gate);
    }
  });
});

describe('Delivery gate, for any events in any order,', () => {
  const names = fc.constantFrom(...WEBHOOK_EVENT_NAMES);
  const attempts = fc.integer({ min: 0, max: 3 });
  const anyEvent: fc.Arbitrary<GateEvent> = fc.oneof(
    fc.record({ type: fc.constant('fact_ready' as const), name: names }),
    { weight: 3, arbitrary: fc.record({ type: fc.constant('send_claimed' as const), name: names }) },
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
    fc.record({ type: fc.constant('claim_released' as const), name: names, attempt: attempts }),
    fc.constant(TIMEOUT),
  );
  const call = fc.record({ answered: fc.boolean(), record: fc.boolean() });
  const anyGate = fc
    .record({
      session: fc.oneof(
        fc.constant({}),
        call.map((given) => ({ call: given })),
      ),
      subscribed: fc.subarray([...WEBHOOK_EVENT_NAMES]),
      evaluating: fc.boolean(),
    })
    .map(({ session, ...end }) => gateOf({ expected: expectedEvents(session), ...end }));
  const anyHistory = fc.tuple(anyGate, fc.array(anyEvent, { maxLength: 40 }));

  it('sends session.finalized at most once, last, and after every other event is done', () => {
    fc.assert(
      fc.property(anyHistory, ([start, events]) => {
        let gate = start;
        const sends: WebhookEventName[] = [];
        for (const event of events) {
          const next = transitionGate(gate, event);
          checkStep(gate, event, next);
          // Nothing was sent on a released claim.
          if (event.type === 'claim_released' && next !== gate) expect(sends.pop()).toBe(event.name);
          sends.push(...newlySending(gate, next));
          gate = next;
        }
        const places = sends.map((name) => WEBHOOK_EVENT_NAMES.indexOf(name));
        expect(places).toEqual([...places].sort());
        expect(sends.filter((name) => name === 'session.finalized').length).toBeLessThanOrEqual(1);
        const subscribed = start.filter((row) => row.subscribed).map(({ event }) => event);
        expect(subscribed).toEqual(expect.arrayContaining(sends));
      }),
      { numRuns: 3_000 },
    );
  });

  it('never loses session.finalized while senders live and the timeout comes', () => {
    fc.assert(
      fc.property(anyHistory, fc.array(fc.boolean()), ([start, events], losses) => {
        const { gate, sends } = finish(run(events, start), [...losses]);
        expect(isGateDone(gate)).toBe(true);
        const row = gate.at(-1);
        if (row?.subscribed && row.attempt === 0) expect(row.outcome).toMatch(/delivered|failed/);
        const releases = events.filter(({ type }) => type === 'claim_released').length;
        if (row?.subscribed && sends.includes('session.finalized')) {
          expect(row.attempt).toBeGreaterThanOrEqual(1);
          expect(row.attempt).toBeLessThanOrEqual(1 + releases);
        }
        expect(row?.outcome === 'skipped').toBe(row?.subscribed === false);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** What must hold of a single step. */
function checkStep(before: Gate, event: GateEvent, after: Gate): void {
  for (const [index, row] of after.entries()) {
    const was = before[index];
    const isDone = was?.status === 'settled' || was?.status === 'expired';
    if (isDone) expect(row).toEqual(was);
    if (row.status === 'expired' && !isDone) {
      expect([was?.status, event.type, row.event === 'session.finalized']).toEqual([
        'waiting',
        'finalize_timeout',
        false,
      ]);
    }
    if (row.status === 'sending') {
      const earlier = after.slice(0, index);
      expect(earlier.every(({ status }) => status === 'settled' || status === 'expired')).toBe(true);
    }
    expect(row.outcome !== null).toBe(row.status === 'settled');
  }
}

/** Ends any history: the timeout comes, live nodes send what is due, and lost senders are detected. */
function finish(start: Gate, losses: boolean[]): { gate: Gate; sends: WebhookEventName[] } {
  const sends: WebhookEventName[] = [];
  let gate = start;
  const apply = (event: GateEvent) => {
    const next = transitionGate(gate, event);
    sends.push(...newlySending(gate, next));
    gate = next;
  };
  // Without a subscription to session.finalized nothing expires, but then the facts come in the end.
  apply(TIMEOUT);
  for (const { event } of gate) apply(fact(event));
  for (let rounds = 0; rounds < 100 && !isGateDone(gate); rounds += 1) {
    const due = dueRow(gate);
    if (due) apply(claimed(due.event));
    const row = gate.find(({ status }) => status === 'sending');
    if (row) apply(losses.shift() ? lost(row.event, row.attempt) : settled(row.event, row.attempt));
  }
  return { gate, sends };
}

function run(events: readonly GateEvent[], start: Gate): Gate {
  return events.reduce<Gate>(transitionGate, start);
}

function newlySending(before: Gate, after: Gate): WebhookEventName[] {
  return after
    .filter((row, index) => row.status === 'sending' && before[index]?.status !== 'sending')
    .map(({ event }) => event);
}

/** What a run of events makes happen, beginning with the start itself. */
function story(events: readonly GateEvent[], start: Gate): string[] {
  let gate = start;
  const gates = [
    start,
    ...events.map((event) => {
      gate = transitionGate(gate, event);
      return gate;
    }),
  ];
  return gates.flatMap((current, index) => {
    const before = gates[index - 1] ?? [];
    const sends = newlySending(before, current);
    const due = dueRow(current)?.event;
    return [
      ...sends.map((name) => `send ${name} ${current.find(({ event }) => event === name)?.attempt}`),
      ...(awaitsTimeout(current) && !awaitsTimeout(before) ? ['await timeout'] : []),
      ...(due && due !== dueRow(before)?.event ? [`due ${due}`] : []),
    ];
  });
}

const statuses = (gate: Gate) => gate.map(({ status }) => status);
const outcomes = (gate: Gate) => gate.map(({ outcome }) => outcome);
