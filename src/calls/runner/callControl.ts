import type { Clock } from '../../base/clock.ts';
import { CallwayError, invalid, notFound } from '../../base/errors.ts';
import { type Call, isFinal } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import type { NodeBus } from '../nodes/nodeBus.ts';
import { NUMBER_SYNTAX, normalizeNumber } from '../numbers/number.ts';
import type { CallQueue } from '../setup/callQueue.ts';
import type { CallFinisher } from './callFinisher.ts';

/** A BYE and its answer take no longer on a line that works. */
const HANGUP_WAIT_MS = 5_000;
/** A node looks for a trunk for some milliseconds; a busy database makes it more. */
const PLACING_WAIT_MS = 2_000;
const POLL_MS = 50;
/** Nothing that could begin another header. @see RFC 3261 section 19.1 */
const SIP_URI = /^sips?:[^\s<>"]{1,250}$/i;

/** What the API wishes of live calls. */
export interface CallControl {
  /**
   * Asks for a call's end; one that still waits is over at once, one that is over stays as it is.
   *
   * @throws {CallwayError} 404 `call_not_found`
   */
  hangUp(projectId: string, callId: string): Promise<Call>;
  /** As `hangUp`, and waits until the call is over, or nobody hangs it up in time. */
  hangUpAndWait(projectId: string, callId: string): Promise<void>;
  /**
   * Asks whoever carries the call to transfer it.
   *
   * @param to - A number, or a `sip:` URI.
   * @throws {CallwayError} 404 `call_not_found`, 400 `invalid_transfer_target`, 403 `destination_not_allowed`,
   *   409 `call_not_in_progress`
   */
  transfer(projectId: string, callId: string, to: string): Promise<Call>;
}

export interface CallControlDeps {
  readonly calls: Pick<CallStore, 'find' | 'requestHangup'>;
  readonly finisher: Pick<CallFinisher, 'settle'>;
  readonly queue: Pick<CallQueue, 'remove'>;
  readonly guard: Pick<CallLimiter, 'requireAllowedDestination'>;
  readonly bus: Pick<NodeBus, 'publish'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

export function createCallControl(deps: CallControlDeps): CallControl {
  const { calls, finisher, queue, guard, bus, clock, onError } = deps;
  const require = async (projectId: string, callId: string): Promise<Call> => {
    const call = await calls.find(projectId, callId);
    if (!call) throw notFound('Call');
    return call;
  };
  const pollTime = () => new Promise<void>((resolve) => clock.setTimer(resolve, POLL_MS));
  const hangUp = async (projectId: string, callId: string): Promise<Call> => {
    const asked = await calls.requestHangup(projectId, callId, new Date(clock.now()).toISOString());
    if (!asked) return await require(projectId, callId);
    if (isFinal(asked.status)) {
      await finisher.settle(asked);
      await queue
        .remove(callId)
        .catch((error: unknown) => onError(error, 'a canceled call’s job stays for now'));
    } else {
      // Whoever carries the call finds the wish in its row as well.
      await bus
        .publish({ kind: 'hangup', callId })
        .catch((error: unknown) => onError(error, 'a call’s node was not told to hang up'));
      // A node that is just looking for a trunk lets it go within moments.
      if (asked.status === 'queued') return await untilBegunOrOver(asked);
    }
    return asked;
  };
  const untilBegunOrOver = async (asked: Call): Promise<Call> => {
    const untilMs = clock.monotonicMs() + PLACING_WAIT_MS;
    let call: Call | undefined = asked;
    while (call?.status === 'queued' && clock.monotonicMs() < untilMs) {
      await pollTime();
      call = await calls.find(asked.projectId, asked.id);
    }
    return call ?? asked;
  };

  return {
    hangUp,
    async hangUpAndWait(projectId, callId) {
      const untilMs = clock.monotonicMs() + HANGUP_WAIT_MS;
      let call: Call | undefined = await hangUp(projectId, callId);
      while (call && !isFinal(call.status) && clock.monotonicMs() < untilMs) {
        await pollTime();
        call = await calls.find(projectId, callId);
      }
    },
    async transfer(projectId, callId, to) {
      const target = SIP_URI.test(to) ? to : normalizeNumber(to);
      if (target === undefined) {
        const message = `to must be ${NUMBER_SYNTAX}, or a sip: URI`;
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
      await guard.requireAllowedDestination(projectId, target);
      await bus.publish({ kind: 'transfer', callId, to: target });
      return call;
    },
  };
}
