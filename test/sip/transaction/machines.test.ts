import { expect, test } from 'vitest';
import { inviteClient, inviteClientStart } from '../../../sip/transaction/inviteClient.ts';
import { inviteServer, inviteServerStart } from '../../../sip/transaction/inviteServer.ts';
import { DEFAULT_SIP_TIMES, type Step, type TransactionContext } from '../../../sip/transaction/machine.ts';
import { nonInviteClient, nonInviteClientStart } from '../../../sip/transaction/nonInviteClient.ts';
import { nonInviteServer, nonInviteServerStart } from '../../../sip/transaction/nonInviteServer.ts';
import { createRunner } from '../../../sip/transaction/runner.ts';
import { simulatedClock } from '../support/simulatedClock.ts';

/** `at ms: what`, over a simulated clock with the timers of the RFC. */
function play<State extends { name: string }, Event extends { type: string }>(
  machine: (state: State, event: Event, way: TransactionContext) => Step<State>,
  start: State,
  reliable: boolean,
  script: readonly (Event | number)[],
): { log: string[]; state: string; timersLeft: number } {
  const clock = simulatedClock();
  const log: string[] = [];
  const note = (what: string) => () => {
    log.push(`${clock.now()} ${what}`);
  };
  const runner = createRunner(machine, start, { reliable, times: DEFAULT_SIP_TIMES }, clock, {
    send: note('send'),
    ack: note('ack'),
    deliver: note('deliver'),
    timed_out: note('timed out'),
    transport_failed: note('failed'),
    terminated: note('terminated'),
  });
  for (const step of script) {
    if (typeof step === 'number') clock.advance(step);
    else runner.handle(step);
  }
  return { log, state: runner.state.name, timersLeft: clock.pending };
}

const START = { type: 'start' } as const;
const got = (status: number) => ({ type: 'response', status }) as const;
const respond = (status: number) => ({ type: 'respond', status }) as const;
const REQUEST = { type: 'request' } as const;
const ACK = { type: 'ack' } as const;
const BROKEN = { type: 'transport_error' } as const;

test.each([
  {
    case: 'no response over UDP: Timer A doubles, Timer B fires at 32 s',
    reliable: false,
    script: [START, 40_000],
    log: [
      '0 send',
      '500 send',
      '1500 send',
      '3500 send',
      '7500 send',
      '15500 send',
      '31500 send',
      '32000 timed out',
      '32000 terminated',
    ],
  },
  {
    case: 'no response over TCP: sent once',
    reliable: true,
    script: [START, 40_000],
    log: ['0 send', '32000 timed out', '32000 terminated'],
  },
  {
    case: 'ringing stops the retransmission, for as long as it takes',
    reliable: false,
    script: [START, 600, got(180), 100_000, got(180)],
    log: ['0 send', '500 send', '600 deliver', '100600 deliver'],
    state: 'proceeding',
  },
  {
    case: 'a refusal is acknowledged each time it comes, and told once, for 32 s (Timer D)',
    reliable: false,
    script: [START, got(486), 1000, got(486), 40_000],
    log: ['0 send', '0 ack', '0 deliver', '1000 ack', '32000 terminated'],
  },
  {
    case: 'a refusal over TCP ends it at once',
    reliable: true,
    script: [START, got(100), got(503)],
    log: ['0 send', '0 deliver', '0 ack', '0 deliver', '0 terminated'],
  },
  {
    case: 'a redirect is acknowledged each time it comes, a late 2xx is told, a late 1xx not',
    reliable: false,
    script: [START, got(300), got(300), got(299), got(180)],
    log: ['0 send', '0 ack', '0 deliver', '0 ack', '0 deliver'],
    state: 'completed',
    timers: 1,
  },
  {
    case: 'each 2xx is told, other answers no more, until Timer M',
    reliable: false,
    script: [START, got(299), 500, got(200), got(300), got(180), 40_000],
    log: ['0 send', '0 deliver', '500 deliver', '32000 terminated'],
  },
  {
    case: 'a transport error before any answer is told',
    reliable: true,
    script: [START, BROKEN],
    log: ['0 send', '0 failed', '0 terminated'],
  },
  {
    case: 'a transport error of an ACK is not',
    reliable: false,
    script: [START, got(486), BROKEN],
    log: ['0 send', '0 ack', '0 deliver'],
    state: 'completed',
    timers: 1,
  },
])('INVITE client transaction: $case', ({ reliable, script, log, state, timers }) => {
  const outcome = play(inviteClient, inviteClientStart, reliable, script);
  expect(outcome).toEqual({ log, state: state ?? 'terminated', timersLeft: timers ?? 0 });
});

test.each([
  {
    case: 'no response over UDP: Timer E doubles up to T2, Timer F fires',
    reliable: false,
    script: [START, 40_000],
    log: [
      '0 send',
      '500 send',
      '1500 send',
      '3500 send',
      '7500 send',
      '11500 send',
      '15500 send',
      '19500 send',
      '23500 send',
      '27500 send',
      '31500 send',
      '32000 timed out',
      '32000 terminated',
    ],
  },
  {
    case: 'after a provisional answer it is sent every T2',
    reliable: false,
    script: [START, 100, got(100), 9000],
    log: ['0 send', '100 deliver', '500 send', '4500 send', '8500 send'],
    state: 'proceeding',
    timers: 2,
  },
  {
    case: 'the answer is told once; Timer K absorbs the rest',
    reliable: false,
    script: [START, got(200), got(200), 6000],
    log: ['0 send', '0 deliver', '5000 terminated'],
  },
  {
    case: 'the answer over TCP ends it',
    reliable: true,
    script: [START, got(404)],
    log: ['0 send', '0 deliver', '0 terminated'],
  },
  {
    case: 'a transport error is told',
    reliable: false,
    script: [START, got(100), BROKEN],
    log: ['0 send', '0 deliver', '0 failed', '0 terminated'],
  },
])('Non-INVITE client transaction: $case', ({ reliable, script, log, state, timers }) => {
  const outcome = play(nonInviteClient, nonInviteClientStart, reliable, script);
  expect(outcome).toEqual({ log, state: state ?? 'terminated', timersLeft: timers ?? 0 });
});

test.each([
  {
    case: 'a refusal without ACK over UDP: Timer G doubles up to T2, Timer H tells',
    reliable: false,
    script: [respond(100), respond(486), 40_000],
    log: [
      '0 send',
      '0 send',
      '500 send',
      '1500 send',
      '3500 send',
      '7500 send',
      '11500 send',
      '15500 send',
      '19500 send',
      '23500 send',
      '27500 send',
      '31500 send',
      '32000 timed out',
      '32000 terminated',
    ],
  },
  {
    case: 'a refusal over TCP is sent once',
    reliable: true,
    script: [respond(486), 40_000],
    log: ['0 send', '32000 timed out', '32000 terminated'],
  },
  {
    case: 'the ACK stops it, and Timer I absorbs further ones',
    reliable: false,
    script: [respond(486), 600, ACK, ACK, 6000],
    log: ['0 send', '500 send', '5600 terminated'],
  },
  {
    case: 'the same INVITE gets the newest provisional answer',
    reliable: false,
    script: [respond(180), REQUEST],
    log: ['0 send', '0 send'],
    state: 'proceeding',
  },
  {
    case: 'after a 2xx the same INVITE is absorbed, and the ACK handed up',
    reliable: false,
    script: [respond(200), REQUEST, ACK, 40_000],
    log: ['0 send', '0 deliver', '32000 terminated'],
  },
  {
    case: 'a 2xx may be sent again by its user, anything else not',
    reliable: false,
    script: [respond(200), respond(200), respond(486)],
    log: ['0 send', '0 send'],
    state: 'accepted',
    timers: 1,
  },
  {
    case: 'a transport error of a refusal is told',
    reliable: false,
    script: [respond(486), BROKEN],
    log: ['0 send', '0 failed', '0 terminated'],
  },
])('INVITE server transaction: $case', ({ reliable, script, log, state, timers }) => {
  const outcome = play(inviteServer, inviteServerStart, reliable, script);
  expect(outcome).toEqual({ log, state: state ?? 'terminated', timersLeft: timers ?? 0 });
});

test.each([
  {
    case: 'a request again before any answer is absorbed',
    reliable: false,
    script: [REQUEST],
    log: [],
    state: 'trying',
  },
  {
    case: 'the answer is repeated to the same request, until Timer J',
    reliable: false,
    script: [respond(200), REQUEST, 40_000],
    log: ['0 send', '0 send', '32000 terminated'],
  },
  {
    case: 'a second final answer is not sent',
    reliable: false,
    script: [respond(200), respond(500)],
    log: ['0 send'],
    state: 'completed',
    timers: 1,
  },
  {
    case: 'over TCP the answer ends it',
    reliable: true,
    script: [respond(100), respond(200)],
    log: ['0 send', '0 send', '0 terminated'],
  },
])('Non-INVITE server transaction: $case', ({ reliable, script, log, state, timers }) => {
  const outcome = play(nonInviteServer, nonInviteServerStart, reliable, script);
  expect(outcome).toEqual({ log, state: state ?? 'terminated', timersLeft: timers ?? 0 });
});
