import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import { fromFailure } from '../../media/engine/threadMessages.ts';
import type {
  CallRequest,
  CallRequestName,
  CallRequestTypes,
  CallResponse,
  ReadingName,
} from './callRequest.ts';
import type { NodeBus } from './nodeBus.ts';

/** A node answers within milliseconds, unless it has failed or its database is slow. */
const ANSWER_TIMEOUT_MS = 3000;
const READING_TIMEOUT_MS = 1000;
const READINGS: ReadonlySet<CallRequestName> = new Set<ReadingName>(['read_quality', 'read_media_samples']);

export interface CallRequestsDeps {
  readonly bus: NodeBus;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Asks the nodes that run calls, whichever they are. */
export class CallRequests {
  readonly #deps: CallRequestsDeps;
  readonly #waiting = new Map<string, (response: CallResponse | undefined) => void>();
  readonly #unsubscribe: () => void;

  constructor(deps: CallRequestsDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.subscribe((message) => {
      if (message.kind === 'call_response') this.#waiting.get(message.requestId)?.(message.response);
    });
  }

  /**
   * @throws {CallwayError} 503 `call_unavailable` where no node answers, or the bus is away; else as the node that runs the
   *   call.
   */
  async ask<Name extends CallRequestName>(
    callId: string,
    name: Name,
    argument: CallRequestTypes[Name][0],
  ): Promise<CallRequestTypes[Name][1]> {
    const requestId = this.#deps.makeId();
    const request = { name, argument } as CallRequest;
    const answered = this.#answerTo(requestId, READINGS.has(name) ? READING_TIMEOUT_MS : ANSWER_TIMEOUT_MS);
    await this.#deps.bus.publish({ kind: 'call_request', callId, requestId, request }).catch((error) => {
      this.#waiting.get(requestId)?.(undefined);
      throw error;
    });
    const response = await answered;
    if (!response) throw noAnswer();
    if ('failure' in response) throw fromFailure(response.failure);
    return response.answer as CallRequestTypes[Name][1];
  }

  /** Idempotent. */
  close(): void {
    this.#unsubscribe();
    for (const answer of this.#waiting.values()) answer(undefined);
  }

  #answerTo(requestId: string, timeoutMs: number): Promise<CallResponse | undefined> {
    return new Promise((resolve) => {
      const answer = (response: CallResponse | undefined) => {
        timer.cancel();
        this.#waiting.delete(requestId);
        resolve(response);
      };
      const timer = this.#deps.clock.setTimer(() => answer(undefined), timeoutMs);
      this.#waiting.set(requestId, answer);
    });
  }
}

function noAnswer(): CallwayError {
  const message = 'The node that runs the call does not answer; try again shortly';
  return new CallwayError('unavailable', 'call_unavailable', message, { retryAfterSeconds: 5 });
}
