import { delay } from '../base/delay.js';
import { CallwayError, invalid, notFound } from '../base/errors.js';
import { isFinal } from './call.js';
import { NUMBER_FORM, normalNumber } from './number.js';

/** A BYE and its answer take no longer on a line that works. */
const HANGUP_WAIT_MS = 5_000;
const POLL_MS = 50;
/** Nothing that could begin another header. @see RFC 3261 section 19.1 */
const SIP_URI = /^sips?:[^\s<>"]{1,250}$/i;
export function createCallControl(deps) {
  const { calls, finisher, queue, bus, clock, onError } = deps;
  const require = async (projectId, callId) => {
    const call = await calls.find(projectId, callId);
    if (!call) throw notFound('Call');
    return call;
  };
  const hangUp = async (projectId, callId) => {
    const asked = await calls.requestHangup(projectId, callId, new Date(clock.now()).toISOString());
    if (!asked) return await require(projectId, callId);
    if (isFinal(asked.status)) {
      await finisher.settle(asked);
      await queue.remove(callId).catch((error) => onError(error, 'a canceled call’s job stays for now'));
    } else {
      // Whoever carries the call finds the wish in its row as well.
      await bus
        .publish({ kind: 'hangup', callId })
        .catch((error) => onError(error, 'a call’s node was not told to hang up'));
    }
    return asked;
  };
  return {
    hangUp,
    async hangUpAndWait(projectId, callId) {
      const untilMs = clock.monotonicMs() + HANGUP_WAIT_MS;
      let call = await hangUp(projectId, callId);
      while (call && !isFinal(call.status) && clock.monotonicMs() < untilMs) {
        await delay(POLL_MS, { keepAlive: true });
        call = await calls.find(projectId, callId);
      }
    },
    async transfer(projectId, callId, to) {
      const target = SIP_URI.test(to) ? to : normalNumber(to);
      if (target === undefined) {
        const message = `to must be ${NUMBER_FORM}, or a sip: URI`;
        throw invalid('invalid_transfer_target', message, [{ path: '/to', message }]);
      }
      const call = await require(projectId, callId);
      if (call.status !== 'in_progress') {
        throw new CallwayError(
          'conflict',
          'call_not_in_progress',
          `The call is ${call.status}; only one in progress can be transferred`,
        );
      }
      await bus.publish({ kind: 'transfer', callId, to: target });
      return call;
    },
  };
}
