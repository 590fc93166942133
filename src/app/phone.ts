import type { Logger } from 'pino';

import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import { omitUndefined } from '../base/omitUndefined.ts';
import { createPendingTasks } from '../base/pendingTasks.ts';
import type { Tracer } from '../base/tracing.ts';
import { withTimeout } from '../base/withTimeout.ts';
import type { Call } from '../calls/call.ts';
import type { CallMetrics } from '../calls/callMetrics.ts';
import type { NodeCapacity } from '../calls/limits/nodeCapacity.ts';
import type { VoiceNodeSelector } from '../calls/nodes/voiceNodeSelector.ts';
import { type CallRunner, createCallRunner } from '../calls/runner/callRunner.ts';
import { createCallEnder } from '../calls/runner/endCall.ts';
import type { QueueWorker } from '../calls/setup/callQueue.ts';
import { createDialer } from '../calls/setup/dialer.ts';
import { createInboundCallHandler } from '../calls/setup/inboundCallHandler.ts';
import type { Telephony } from '../calls/telephony.ts';
import { selectTrunks } from '../calls/trunks/trunkSelection.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { StreamTarget } from '../media/agentStream/streamClient.ts';
import type { MediaStreams } from '../streams/mediaStreams.ts';
import type { BuiltCalls } from './calls.ts';
import type { Recordings } from './recordings.ts';

export interface PhoneParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly calls: BuiltCalls;
  readonly telephony: Telephony;
  readonly recordings: Recordings;
  readonly conversations: ConversationEngine;
  readonly mediaStreams: MediaStreams;
  readonly voice: VoiceNodeSelector;
  readonly meter: CallMetrics;
  readonly admission: NodeCapacity;
  readonly isDraining: () => boolean;
  readonly drainMs: number;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracing: Tracer;
  readonly logger: Logger;
}

/** Calls on their way to a leg; each lasts a few milliseconds, and then the call goes on by itself. */
const PLACING_CONCURRENCY = 32;

/** What carries calls: places those of the queue, takes those that come in, and ends them. */
export interface Phone {
  readonly runner: CallRunner;
  /** Begins to take calls. */
  start(): Promise<void>;
  /** Takes no new calls, lets the running ones end within the drain time, and ends the others. Idempotent. */
  close(): Promise<void>;
}

export function buildPhone(parts: PhoneParts): Phone {
  const { storage, calls, clock, makeId, recordings } = parts;
  const { stores } = storage;
  const logger = parts.logger.child({ part: 'calls' });
  const onError = (error: unknown, what: string, fields = {}) => logger.warn({ err: error, ...fields }, what);

  const routing = { phoneNumbers: stores.phoneNumbers, trunks: stores.trunks, health: calls.health };
  const runner = createCallRunner({
    nodeId: calls.nodeId,
    telephony: parts.telephony,
    calls: stores.calls,
    addEvents: stores.history.addEvents,
    lock: calls.lock,
    slots: calls.slots,
    guard: calls.guard,
    routeFor: (projectId, fromNumber) => selectTrunks(routing, projectId, fromNumber),
    engine: (call) => engineOf(parts, call),
    recordingPath: ({ id }) => recordings.working.pathOf(id),
    finish: createCallEnder({
      nodeId: calls.nodeId,
      finisher: calls.finisher,
      store: recordings.store,
      onError,
    }),
    meter: parts.meter,
    onOver({ id }) {
      parts.admission.release(id);
      parts.voice.forget(id);
    },
    clock,
    tracing: parts.tracing,
    onStep: (fields, step) => logger.info(fields, step),
    onError,
  });
  const finish = (call: Call, end: Parameters<typeof calls.finisher.finish>[2]) =>
    calls.finisher.finish(call, calls.nodeId, end);
  const place = createDialer({
    nodeId: calls.nodeId,
    calls: stores.calls,
    ...routing,
    slots: calls.slots,
    guard: calls.guard,
    admission: parts.admission,
    runner,
    finish,
    clock,
    onError,
  });
  const take = createInboundCallHandler({
    nodeId: calls.nodeId,
    calls: stores.calls,
    conversations: parts.conversations,
    slots: calls.slots,
    guard: calls.guard,
    admission: parts.admission,
    meter: parts.meter,
    runner,
    finish,
    isDraining: parts.isDraining,
    clock,
    makeId,
    tracing: parts.tracing,
    onError,
  });
  /** Calls that no runner has yet, and that one is to have. */
  const arriving = createPendingTasks();
  parts.telephony.onInboundCall((incoming) => void arriving.add(take(incoming)));
  const unsubscribe = calls.bus.subscribe((message) => {
    if (message.kind === 'hangup') runner.hangUp(message.callId, 'api_hangup');
    else if (message.kind === 'transfer') runner.transfer(message.callId, message.to);
  });

  let worker: QueueWorker | undefined;
  let closing: Promise<void> | undefined;
  const close = async () => {
    const beganMs = clock.monotonicMs();
    await worker?.pause();
    await withTimeout(clock, arriving.settled(), parts.drainMs);
    await runner.drain(Math.max(0, parts.drainMs - (clock.monotonicMs() - beganMs)));
    unsubscribe();
    await worker?.close();
    // What took longer to arrive than there was time.
    await runner.drain(0);
  };
  return {
    runner,
    async start() {
      await calls.beginLife();
      worker = await calls.queue.process((callId) => arriving.add(place(callId)), PLACING_CONCURRENCY);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** The user's own bot where the call names one, else our voice engine, let in by a ticket. */
async function engineOf(parts: PhoneParts, call: Call): Promise<StreamTarget> {
  const { id: callId, projectId, sessionId, fromNumber, toNumber, direction, settings } = call;
  const common = { streamId: parts.makeId(), callId };
  const trace = omitUndefined({ traceparent: settings.traceparent });
  if (settings.media) {
    const customParameters = { callId, sessionId, projectId, fromNumber, toNumber, direction, ...trace };
    return { ...common, ...settings.media, customParameters, canReconnect: false };
  }
  const stream = { projectId, sessionId, dialect: 'callway', callId, ...trace } as const;
  const url = await parts.mediaStreams.openForCall(stream, await parts.voice.select(callId));
  return {
    ...common,
    url,
    dialect: 'callway',
    customParameters: {},
    canReconnect: true,
    isInternal: true,
  };
}
