import { z } from 'zod';

import type { Clock } from '../../base/clock.ts';
import { CallwayError } from '../../base/errors.ts';
import type { MakeId } from '../../base/ids.ts';
import { type Tracer, withSpan } from '../../base/tracing.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import { type Call, DEFAULT_MAX_DURATION_SECONDS, DEFAULT_RING_TIMEOUT_SECONDS } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { CallLimiter } from '../limits/callLimiter.ts';
import { NUMBER_SYNTAX, requireNumber } from '../numbers/number.ts';
import { callMedia, type PhoneNumber } from '../numbers/phoneNumber.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import { candidateTrunks } from '../trunks/candidateTrunks.ts';
import type { TrunkStore } from '../trunks/trunkStore.ts';
import type { CallQueue } from './callQueue.ts';
import type { NumberLock } from './numberLock.ts';

/** Carriers give up before that. @see RFC 3261 section 16.6 item 11 (timer C) */
const LONGEST_RING_SECONDS = 300;
const LONGEST_CALL_SECONDS = 24 * 3600;
const LONGEST_NUMBER = 64;

const number = z.string().max(LONGEST_NUMBER);

/** What an outbound call is asked for with, on either path. */
export const outboundCallFields = {
  fromNumber: number
    .describe('A number of the project whose outbound status is active.')
    .meta({ example: '+886223456789' }),
  toNumber: number.describe(`Whom to call: ${NUMBER_SYNTAX}.`).meta({ example: '0912345678' }),
  dynamicVariables: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Variables of the call’s session, usable in the pathway.')
    .meta({ example: { name: 'Ada', guests: 2 } }),
  ringTimeoutSeconds: z.int().min(1).max(LONGEST_RING_SECONDS).default(DEFAULT_RING_TIMEOUT_SECONDS),
  maxDurationSeconds: z.int().min(1).max(LONGEST_CALL_SECONDS).default(DEFAULT_MAX_DURATION_SECONDS),
  record: z.boolean().default(true),
  media: callMedia.nullish().describe('Sends the audio to your own bot instead of to the agent.'),
  metadata: z.record(z.string(), z.unknown()).nullish().describe('Kept and shown with the call.'),
};

const order = z.object(outboundCallFields);

export interface OutboundOrder extends z.output<typeof order> {
  readonly projectId: string;
  /** Run on the agent's working copy. */
  readonly draft: boolean;
  /** Of the request. */
  readonly traceparent?: string | undefined;
}

export const acceptedCall = z.object({
  success: z.literal(true),
  callId: z.uuid(),
  sessionId: z.string(),
});
export type AcceptedCall = z.infer<typeof acceptedCall>;

/** Runs the insertion in a transaction; may give an earlier answer back instead, and then inserts nothing. */
export type InsertOnce = (
  insert: (stores: { readonly calls: Pick<CallStore, 'insert'> }) => Promise<AcceptedCall>,
) => Promise<AcceptedCall>;

export interface AcceptCallDeps {
  readonly phoneNumbers: Pick<PhoneNumberStore, 'findByNumber'>;
  readonly trunks: Pick<TrunkStore, 'activeOf'>;
  readonly conversations: Pick<ConversationEngine, 'prepare'>;
  readonly guard: Pick<CallLimiter, 'admitOrder'>;
  readonly lock: Pick<NumberLock, 'acquire' | 'renew' | 'release'>;
  readonly queue: Pick<CallQueue, 'add'>;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracing: Tracer;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Accepts an outbound call: takes its number's lock, keeps call and session in one transaction, and queues the call.
 *
 * What is kept is never lost: a job that did not reach the queue is added by the sweeper, and a lock without a call
 * runs out by itself.
 *
 * @throws {CallwayError} 400 `invalid_number`; 403 `destination_not_allowed`; 404 `from_number_not_configured`, `from_number_inactive`,
 *   `no_active_trunk`; 409 `number_already_queued`;
 *   429 `call_rate_exceeded`, `call_minutes_exhausted`, `call_spending_exhausted`.
 */
export function acceptCall(
  deps: AcceptCallDeps,
  wanted: OutboundOrder,
  keep: InsertOnce,
): Promise<AcceptedCall> {
  const { projectId } = wanted;
  const span = deps.tracing.startSpan('accept call', {
    kind: 'producer',
    parent: wanted.traceparent,
    attributes: { 'callway.project.id': projectId },
  });
  return withSpan(span, () => accept(deps, { ...wanted, traceparent: span.traceparent }, keep));
}

async function accept(deps: AcceptCallDeps, wanted: OutboundOrder, keep: InsertOnce): Promise<AcceptedCall> {
  const { projectId } = wanted;
  const fromNumber = requireNumber(wanted.fromNumber, 'fromNumber');
  const toNumber = requireNumber(wanted.toNumber, 'toNumber');
  const from = await requireOutbound(deps, projectId, fromNumber);
  const callId = deps.makeId();
  const { session, started } = await deps.conversations.prepare({
    projectId,
    sessionId: deps.makeId(),
    channel: 'phone',
    callId,
    draft: wanted.draft,
    ...(wanted.dynamicVariables ? { variables: wanted.dynamicVariables } : {}),
  });
  const { sessionId, instanceId } = session;
  const call = queuedCall(wanted, from, { id: callId, sessionId, instanceId, toNumber }, deps.clock);

  if ((await deps.lock.acquire(projectId, toNumber, callId)) === undefined) throw alreadyQueued(toNumber);
  const free = () =>
    deps.lock.release(projectId, toNumber, callId).catch((error: unknown) => {
      deps.onError(error, 'a number’s lock was not freed; it runs out');
    });
  const accepted = await deps.guard
    .admitOrder(projectId, toNumber)
    .then(() =>
      keep(async (stores) => {
        await stores.calls.insert(call, session, started);
        return { success: true, callId, sessionId };
      }),
    )
    .catch(async (error: unknown) => {
      await free();
      throw error;
    });
  if (accepted.callId !== callId) await free();
  else await sendOnItsWay(deps, call);
  return accepted;
}

/** What fails here is made good by the sweeper. */
async function sendOnItsWay({ lock, queue, onError }: AcceptCallDeps, call: Call): Promise<void> {
  const { id, projectId, toNumber } = call;
  await Promise.all([
    lock.renew(projectId, toNumber, id).catch((error: unknown) => {
      onError(error, 'an accepted call’s lock was not renewed; the sweeper renews it');
    }),
    queue.add(id, projectId).catch((error: unknown) => {
      onError(error, 'an accepted call was not queued; the sweeper queues it');
    }),
  ]);
}

async function requireOutbound(
  { phoneNumbers, trunks }: AcceptCallDeps,
  projectId: string,
  fromNumber: string,
): Promise<PhoneNumber> {
  const found = await phoneNumbers.findByNumber(projectId, fromNumber);
  if (!found) {
    throw refusal('from_number_not_configured', `fromNumber ${fromNumber} is no number of this project`);
  }
  if (found.outboundStatus !== 'active') {
    throw refusal('from_number_inactive', `The outbound status of fromNumber ${fromNumber} is not active`);
  }
  if (candidateTrunks(found, await trunks.activeOf(projectId)).length === 0) {
    throw refusal('no_active_trunk', `fromNumber ${fromNumber} has no active trunk`);
  }
  return found;
}

function queuedCall(
  wanted: OutboundOrder,
  from: PhoneNumber,
  ids: Pick<Call, 'id' | 'sessionId' | 'instanceId' | 'toNumber'>,
  clock: Clock,
): Call {
  const { ringTimeoutSeconds, maxDurationSeconds, record } = wanted;
  return {
    ...ids,
    projectId: wanted.projectId,
    direction: 'outbound',
    status: 'queued',
    endReason: null,
    fromNumber: from.number,
    trunkId: null,
    sipCallId: null,
    sip: null,
    q850Cause: null,
    settings: {
      ringTimeoutSeconds,
      maxDurationSeconds,
      record,
      media: wanted.media ?? from.media,
      ...(wanted.traceparent === undefined ? {} : { traceparent: wanted.traceparent }),
      asGiven: { fromNumber: wanted.fromNumber, toNumber: wanted.toNumber },
    },
    metadata: wanted.metadata ?? {},
    createdAt: new Date(clock.now()).toISOString(),
    startedAt: null,
    answeredAt: null,
    endedAt: null,
    figures: null,
    recording: null,
    nodeId: null,
    hangupRequested: false,
  };
}

function refusal(code: string, message: string): CallwayError {
  return new CallwayError('not_found', code, message);
}

function alreadyQueued(toNumber: string): CallwayError {
  return new CallwayError(
    'conflict',
    'number_already_queued',
    `A call to ${toNumber} is queued or live already`,
  );
}
