import * as step from './steps.ts';
import { sdp } from './steps.ts';

/** Covers the peer's last retransmission with the timers of the tests. */
const LINGER_MS = 3300;
const REASON = 'Reason: Q.850;cause=16;text="Normal call clearing"';
const rings = step.answerInvite('180 Ringing');
const answers = [step.answerInvite('200 OK', { body: sdp() }), step.expectRequest('ACK')];
const isHungUpOn = [
  step.expectRequest('BYE', step.requireHeader('Reason', 'Q.850;cause=16', 'reason')),
  step.answerLastRequest('200 OK'),
];

/** Callees: each accepts one call and expects exactly what its name says. */
export const callees = {
  answers: step.scenario('answers', [step.expectInvite(), rings, ...answers, ...isHungUpOn]),
  /** Answers the call and never answers the BYE. */
  ignoresBye: step.scenario(
    'answers, and never answers a BYE',
    [step.expectInvite(), rings, ...answers, step.expectRequest('BYE')],
    LINGER_MS,
  ),
  /** No ringing: SIPp recognizes a retransmitted INVITE only by the last response it sent. */
  answersOverLoss: step.scenario(
    'answers at once, stays until nothing is repeated any more',
    [step.expectInvite(), ...answers, ...isHungUpOn],
    LINGER_MS,
  ),
  hangsUp: step.scenario('answers and hangs up', [
    step.expectInvite(),
    rings,
    ...answers,
    step.calleeRequest('BYE', 1, 'bye', { headers: [REASON] }),
    step.expectAnswer(200, 'bye'),
  ]),
  refuses: (status: number, headers: readonly string[] = [], endMs = 0) =>
    step.scenario(
      `refuses with ${status}`,
      [step.expectInvite(), step.answerInvite(`${status} Refused`, { headers }), step.expectRequest('ACK')],
      endMs,
    ),
  refusesOverLoss: (status: number) => callees.refuses(status, [], LINGER_MS),
  rings: step.scenario('rings until the caller gives up', [
    step.expectInvite(),
    rings,
    step.expectRequest('CANCEL', step.requireHeader('Reason', 'ring timeout', 'reason')),
    step.answerLastRequest('200 OK'),
    step.answerInvite('487 Request Terminated'),
    step.expectRequest('ACK'),
  ]),
  isCanceled: step.scenario('rings until the call is withdrawn', [
    step.expectInvite(),
    rings,
    step.expectRequest('CANCEL'),
    step.answerLastRequest('200 OK'),
    step.answerInvite('487 Request Terminated'),
    step.expectRequest('ACK'),
  ]),
  /** Rejects REFER. */
  rejectsRefer: step.scenario('answers, and takes no REFER', [
    step.expectInvite(),
    rings,
    ...answers,
    step.expectRequest('REFER'),
    step.answerLastRequest('405 Method Not Allowed'),
    ...isHungUpOn,
  ]),
  /** The call lasts as long as SIPp's `-d` says. */
  hangsUpLater: step.scenario('answers, talks and hangs up', [
    step.expectInvite(),
    rings,
    ...answers,
    step.pause('given'),
    step.calleeRequest('BYE', 1, 'bye', { headers: [REASON] }),
    step.expectAnswer(200, 'bye'),
  ]),
  ringsAndHangsUpLater: step.scenario('rings for a moment, answers, talks and hangs up', [
    step.expectInvite(),
    rings,
    step.pause(700),
    ...answers,
    step.pause('given'),
    step.calleeRequest('BYE', 1, 'bye', { headers: [REASON] }),
    step.expectAnswer(200, 'bye'),
  ]),
  answersDespiteCancel: step.scenario('answers as the caller gives up', [
    step.expectInvite(),
    rings,
    step.expectRequest('CANCEL'),
    step.answerLastRequest('200 OK'),
    ...answers,
    step.expectRequest('BYE'),
    step.answerLastRequest('200 OK'),
  ]),
  playsEarlyMedia: step.scenario('plays early media', [
    step.expectInvite(),
    step.answerInvite('183 Session Progress', { body: sdp() }),
    ...answers,
    ...isHungUpOn,
  ]),
  requiresPrack: step.scenario('wants its provisional answer acknowledged', [
    step.expectInvite(),
    step.answerInvite('183 Session Progress', { headers: ['Require: 100rel', 'RSeq: 7'], body: sdp() }),
    step.expectRequest('PRACK', step.requireHeader('RAck', '7 1 INVITE', 'rack')),
    step.answerLastRequest('200 OK'),
    ...answers,
    ...isHungUpOn,
  ]),
  updates: step.scenario('updates the session', [
    step.expectInvite(),
    rings,
    ...answers,
    step.calleeRequest('UPDATE', 1, 'update', { body: sdp('sendrecv', 2) }),
    step.expectAnswer(200, 'update'),
    ...isHungUpOn,
  ]),
  holds: step.scenario('holds', [
    step.expectInvite(),
    rings,
    ...answers,
    step.calleeRequest('INVITE', 1, 'hold', { body: sdp('sendonly', 2) }),
    step.expectOptional(100, 'hold'),
    step.expectAnswer(200, 'hold'),
    step.calleeRequest('ACK', 1, 'hold'),
    ...isHungUpOn,
  ]),
  isHeld: step.scenario('is held', [
    step.expectInvite(),
    rings,
    ...answers,
    step.expectRequest('INVITE'),
    step.answerLastRequest('200 OK', { body: sdp('recvonly', 2) }),
    step.expectRequest('ACK'),
    ...isHungUpOn,
  ]),
  challenges: step.scenario('challenges', [
    step.expectInvite(),
    step.answerInvite('407 Proxy Authentication Required', {
      headers: ['Proxy-Authenticate: Digest realm="sipp", nonce="abc", algorithm=MD5, qop="auth"'],
    }),
    step.expectRequest('ACK'),
    '<recv request="INVITE"><action><ereg regexp=".*" search_in="hdr" header="Via:" assign_to="via"/><ereg regexp=".*" search_in="hdr" header="CSeq:" assign_to="cseq"/><verifyauth assign_to="valid" username="alice" password="wonderland"/><test assign_to="valid" variable="valid" compare="equal" value="1"/></action></recv>',
    ...answers,
    ...isHungUpOn,
  ]),
  /** Sends no response. */
  neverResponds: step.scenario('is silent', [step.expectInvite(), step.pause(3600)]),
} as const;
