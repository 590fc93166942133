import { expect, test } from 'vitest';
import type { Core, Dialog } from '../../../../sip/control/core.ts';
import {
  acknowledgeReliable,
  endReliable,
  sendReliable,
  whenAcknowledged,
} from '../../../../sip/control/uas/reliableProvisional.ts';
import { parseMessage } from '../../../../sip/message/parse.ts';
import { makeResponse } from '../../../../sip/message/response.ts';
import { DEFAULT_SIP_TIMES } from '../../../../sip/transaction/machine.ts';
import type { ServerTransaction } from '../../../../sip/transaction/server.ts';
import { unused } from '../../../support/unused.ts';
import { simulatedClock } from '../../support/simulatedClock.ts';

const INVITE = [
  'INVITE sip:app@192.0.2.1 SIP/2.0',
  'Via: SIP/2.0/UDP 192.0.2.2;branch=z9hG4bK1',
  'From: <sip:a@b>;tag=1',
  'To: <sip:c@d>',
  'Call-ID: reliable',
  'CSeq: 41 INVITE',
  'Supported: 100rel',
  '',
  '',
].join('\r\n');

/** A pending INVITE, and its responses with their times. */
function begin() {
  const request = parseMessage(Buffer.from(INVITE, 'latin1'));
  if (request.kind !== 'request') throw new Error('it is a request');
  const clock = simulatedClock();
  const log: string[] = [];
  const say = (what: string) => log.push(`${clock.now()} ${what}`);
  const pending = {
    transaction: unused<ServerTransaction>('transaction', {
      request,
      respond: ({ status, headers }) => say(`${status} ${headers.get('rseq')}`),
    }),
    reliable: { nextNumber: 7, current: undefined, waiting: [] as (() => void)[] },
  };
  const leg = unused<Dialog>('leg', { incomingInvite: pending as never, lateRack: undefined });
  const hub = unused<Core>('core', { clock, sipTimes: DEFAULT_SIP_TIMES });
  return {
    clock,
    log,
    ring(status: number, body = '') {
      const response = makeResponse(request, status, {});
      response.body = body;
      sendReliable(
        hub,
        pending,
        response,
        () => undefined,
        () => say('given up'),
      );
    },
    prack: (responseNumber: number, sequence = 41, method = 'INVITE') =>
      acknowledgeReliable(hub, leg, { responseNumber, sequence, method }),
    accept: () => whenAcknowledged(pending, () => say('accepted')),
    finish() {
      endReliable(pending, leg);
      leg.incomingInvite = undefined;
    },
  };
}

test('A reliable response is retransmitted after T1 at doubling intervals until its PRACK', () => {
  const { clock, log, ring, prack } = begin();
  ring(180);
  clock.advance(4000);
  expect(prack(7)).toBe(true);
  clock.advance(60_000);
  expect(log).toEqual(['0 180 7', '500 180 7', '1500 180 7', '3500 180 7']);
  expect(clock.pending).toBe(0);
});

test('A reliable response without PRACK is given up after 64·T1', () => {
  const { clock, log, ring } = begin();
  ring(183);
  clock.advance(60_000);
  expect(log.slice(-3)).toEqual(['15500 183 7', '31500 183 7', '32000 given up']);
  expect(clock.pending).toBe(0);
});

test.each([
  ['another number', [8, 41, 'INVITE']],
  ['another CSeq', [7, 40, 'INVITE']],
  ['another method', [7, 41, 'UPDATE']],
] as const)('A PRACK with %s matches no response', (_case, [number, sequence, method]) => {
  const { clock, log, ring, prack } = begin();
  ring(180);
  expect(prack(number, sequence, method)).toBe(false);
  clock.advance(500);
  expect(log).toHaveLength(2);
});

test('A second reliable response waits for the PRACK of the first, as does a 2xx after one with SDP', () => {
  const { clock, log, ring, prack, accept } = begin();
  ring(183, 'v=0');
  ring(180);
  accept();
  expect(log).toEqual(['0 183 7']);
  prack(7);
  clock.advance(0);
  expect(log).toEqual(['0 183 7', '0 180 8']);
  prack(8);
  clock.advance(0);
  expect(log.at(-1)).toBe('0 accepted');
});

test('A 2xx ends the retransmission of a reliable response without SDP, whose PRACK is accepted once', () => {
  const { clock, log, ring, prack, accept, finish } = begin();
  ring(180);
  accept();
  finish();
  clock.advance(60_000);
  expect(log).toEqual(['0 180 7', '0 accepted']);
  expect([prack(8), prack(7), prack(7)]).toEqual([false, true, false]);
});
