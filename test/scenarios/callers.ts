import * as step from './steps.ts';
import { sdp } from './steps.ts';

/** Covers the peer's last retransmission with the timers of the tests. */
const LINGER_MS = 3300;
const REASON = 'Reason: Q.850;cause=16;text="Normal call clearing"';
const invite = (headers: readonly string[] = []) =>
  step.request('INVITE', 1, 'invite', { headers, body: sdp() });
const answered = [step.expectAnswer(200, 'invite'), step.ack('invite', 1)];
const hungUp = (sequence = 2) => [
  step.request('BYE', sequence, 'bye', { headers: [REASON] }),
  step.expectAnswer(200, 'bye'),
];
const ringing = [step.expectOptional(100, 'invite'), step.expectOptional(180, 'invite')];

/** Callers: each calls `@USER@` and expects exactly what its name says. */
export const callers = {
  /** The call lasts as long as SIPp's `-d` says. */
  answered: step.scenario('answered, hangs up', [
    invite(),
    ...ringing,
    ...answered,
    step.pause('given'),
    ...hungUp(),
  ]),
  answeredOverLoss: step.scenario(
    'answered and hangs up, stays until nothing is repeated any more',
    [invite(), ...ringing, ...answered, step.pause('given'), ...hungUp()],
    LINGER_MS,
  ),
  remoteHangsUp: step.scenario('answered, the other side hangs up', [
    invite(),
    ...ringing,
    ...answered,
    step.expectRequest('BYE', step.requireHeader('Reason', 'Q.850;cause=16', 'reason')),
    step.answerLastRequest('200 OK'),
  ]),
  refused: (status: number, headers: readonly [name: string, pattern: string][] = [], endMs = 0) =>
    step.scenario(
      `refused with ${status}`,
      [
        invite(),
        ...ringing,
        step.expectAnswer(
          status,
          'invite',
          headers.map(([name, pattern], at) => step.requireHeader(name, pattern, `header${at}`)).join(''),
        ),
        step.ack('invite', 1, true),
      ],
      endMs,
    ),
  refusedOverLoss: (status: number) => callers.refused(status, [], LINGER_MS),
  cancels: (endMs = 0) =>
    step.scenario(
      'gives up while it rings',
      [
        invite(),
        step.expectOptional(100, 'invite'),
        // A lost 180 is not retransmitted.
        step.expectAnswer(180, 'invite', '', 'timeout="400" ontimeout="1"'),
        '<label id="1"/>',
        // A 200 in the pause at the end starts the timeout of the 487 once more.
        '<nop next="2" test="refused"/>',
        step.cancel('invite', 1, { headers: ['Reason: SIP;cause=487;text="Caller gave up"'] }),
        // With message loss, either may come first, and this one as late as in the pause at the end.
        step.expectAnytime(200, 'cancel'),
        // SIPp ends a CANCEL's retransmissions at any response, such as to a repeated INVITE.
        step.expectAnswer(487, 'invite', step.mark('refused'), 'timeout="1000" ontimeout="1"'),
        step.ack('invite', 1, true),
        '<label id="2"/>',
      ],
      endMs,
    ),
  cancelsTooLate: step.scenario('gives up as the answer comes', [
    invite(),
    ...ringing,
    step.expectAnswer(200, 'invite'),
    step.cancel('invite', 1),
    step.expectAnswer(200, 'cancel'),
    step.ack('invite', 1),
    ...hungUp(),
  ]),
  hearsEarlyMedia: step.scenario('hears early media', [
    invite(),
    step.expectOptional(100, 'invite'),
    step.expectAnswer(183, 'invite', step.requireHeader('Content-Type', 'application/sdp', 'type')),
    ...answered,
    ...hungUp(),
  ]),
  sendsPrack: step.scenario('acknowledges a reliable provisional answer', [
    invite(['Supported: 100rel']),
    step.expectOptional(100, 'invite'),
    step.expectAnswer(
      183,
      'invite',
      '<action><ereg regexp="[0-9]+" search_in="hdr" header="RSeq:" check_it="true" assign_to="rseq"/></action>',
    ),
    step.request('PRACK', 2, 'prack', { headers: ['RAck: [$rseq] 1 INVITE'] }),
    step.expectAnswer(200, 'prack'),
    ...answered,
    ...hungUp(3),
  ]),
  updates: step.scenario('updates the session', [
    invite(),
    ...ringing,
    ...answered,
    step.request('UPDATE', 2, 'update', { body: sdp('sendrecv', 2) }),
    step.expectAnswer(200, 'update', step.requireHeader('Content-Type', 'application/sdp', 'type')),
    ...hungUp(3),
  ]),
  holds: step.scenario('holds and resumes', [
    invite(),
    ...ringing,
    ...answered,
    step.request('INVITE', 2, 'hold', { body: sdp('sendonly', 2) }),
    step.expectOptional(100, 'hold'),
    step.expectAnswer(
      200,
      'hold',
      '<action><ereg regexp="a=recvonly" search_in="body" check_it="true" assign_to="held"/></action>',
    ),
    step.ack('hold', 2),
    step.request('INVITE', 3, 'resume', { body: sdp('sendrecv', 3) }),
    step.expectOptional(100, 'resume'),
    step.expectAnswer(
      200,
      'resume',
      '<action><ereg regexp="a=sendrecv" search_in="body" check_it="true" assign_to="resumed"/></action>',
    ),
    step.ack('resume', 3),
    ...hungUp(4),
  ]),
  authenticates: step.scenario('answers a challenge', [
    invite(),
    step.expectOptional(100, 'invite'),
    step.expectAnswer(401, 'invite', '', 'auth="true"'),
    step.ack('invite', 1, true),
    step.request('INVITE', 2, 'again', {
      headers: ['[authentication username=alice password=wonderland]'],
      body: sdp(),
      isNew: true,
    }),
    step.expectOptional(100, 'again'),
    step.expectOptional(180, 'again'),
    step.expectAnswer(200, 'again'),
    step.ack('again', 2),
    ...hungUp(3),
  ]),
} as const;
