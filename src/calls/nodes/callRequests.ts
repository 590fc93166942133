import { CallwayError } from '../../base/errors.ts';
import { fromFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
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

type NodeRequest =
  | { readonly kind: 'call_request'; readonly callId: string; readonly request: CallRequest }
  | { readonly kind: 'recording_request'; readonly key: string };

export interface CallRequestsDeps {
  readonly bus: NodeBus;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Sends requests to the node that runs a call or has its recording. */
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
    const request = { name, argument } as CallRequest;
    const timeoutMs = READINGS.has(name) ? READING_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
    const response = await this.#send({ kind: 'call_request', callId, request }, timeoutMs);
    if (!response) throw noAnswer();
    if ('failure' in response) throw fromFailure(response.failure);
    return response.answer as CallRequestTypes[Name][1];
  }

  /** @returns A signed URL at the node that has the recording; undefined when no node answers. */
  async locateRecording(key: string): Promise<string | undefined> {
    const response = await this.#send({ kind: 'recording_request', key }, ANSWER_TIMEOUT_MS);
    return response && 'answer' in response ? String(response.answer) : undefined;
  }

  /** Idempotent. */
  close(): void {
    this.#unsubscribe();
    for (const answer of this.#waiting.values()) answer(undefined);
  }

  async #send(request: NodeRequest, timeoutMs: number): Promise<CallResponse | undefined> {
    const requestId = this.#deps.makeId();
    const answered = this.#answerTo(requestId, timeoutMs);
    await this.#deps.bus.publish({ ...request, requestId }).catch((error) => {
      this.#waiting.get(requestId)?.(undefined);
      throw error;
    });
    return await answered;
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
