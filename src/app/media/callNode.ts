import type { Logger } from 'pino';
import type { CallwayError } from '../../base/errors.ts';
import type { Sealer } from '../../base/sealer.ts';
import type { Tracer } from '../../base/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { MakeId } from '../../base/values/ids.ts';
import type { CallMetrics } from '../../calls/callMetrics.ts';
import type { MediaFiles } from '../../calls/holdMusic/mediaFiles.ts';
import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import { type CallMedia, openMediaHeaders } from '../../calls/numbers/callMedia.ts';
import type { CallRecordings } from '../../calls/recording/callRecordings.ts';
import { CallNode } from '../../calls/runner/callNode.ts';
import { CallRunner, type CallRunnerDeps } from '../../calls/runner/callRunner.ts';
import { partyStreamOf, streamTargetOf } from '../../calls/runner/streamTarget.ts';
import { type DialerDeps, dialQueuedCall } from '../../calls/setup/dialer.ts';
import { handleInboundCall, type InboundCallDeps } from '../../calls/setup/inboundCallHandler.ts';
import type { Telephony } from '../../calls/telephony.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { LiveEvents } from '../../events/liveEvents.ts';
import type { createStorage } from '../../infra/postgres/storage.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import { type BuiltCalls, transferTargetsOf } from '../services/calls.ts';
import { twilioTokens } from '../voice/streams.ts';

export interface CallNodeParts {
  readonly storage: ReturnType<typeof createStorage>;
  readonly sealer: Pick<Sealer, 'open' | 'seal'>;
  readonly calls: BuiltCalls;
  readonly telephony: Telephony;
  readonly recordings: CallRecordings;
  readonly mediaFiles: Pick<MediaFiles, 'music'>;
  readonly conversations: ConversationEngine;
  readonly mediaStreams: MediaStreams;
  readonly voiceNodes: VoiceNodeSelector;
  readonly metrics: CallMetrics;
  readonly liveEvents: LiveEvents;
  readonly readAhead: CallRunnerDeps['readAhead'];
  readonly supervisorUrl: CallRunnerDeps['supervisorUrl'];
  readonly capacity: NodeCapacity;
  readonly callRefusal: () => CallwayError | undefined;
  readonly drainMs: number;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

/** Builds what runs calls on this node. */
export function buildCallNode(parts: CallNodeParts): CallNode {
  const { storage, calls, telephony, voiceNodes, capacity, makeId, clock } = parts;
  const { phoneNumbers, trunks, history } = storage.stores;
  const logger = parts.logger.child({ part: 'calls' });
  const onError = (error: unknown, what: string, fields = {}) => logger.warn({ err: error, ...fields }, what);
  const { nodeId, lock, slots, limiter, finisher, health, queue, bus } = calls;
  const shared = {
    ...{
      nodeId,
      lock,
      slots,
      limiter,
      finisher,
      health,
      phoneNumbers,
      trunks,
      capacity,
      clock,
      makeId,
      onError,
    },
    calls: storage.stores.calls,
    metrics: parts.metrics,
    liveEvents: parts.liveEvents,
    tracer: parts.tracer,
  };
  const { conversations, readAhead, callRefusal } = parts;
  const headerDeps = { open: parts.sealer.open, twilioToken: twilioTokens(parts.storage) };
  const targetDeps = {
    conversations,
    voiceNodes,
    openStream: parts.mediaStreams.openForCall,
    mediaHeaders: (projectId: string, media: CallMedia) => openMediaHeaders(projectId, media, headerDeps),
    seal: parts.sealer.seal,
    makeId,
  };
  const runner = new CallRunner({
    ...shared,
    telephony,
    conversations,
    readAhead,
    addEvents: history.addEvents,
    streamTarget: (call, started) => streamTargetOf(targetDeps, call, started),
    partyStream: (call, party) => partyStreamOf(targetDeps, call, party),
    transferTargets: (call) => transferTargetsOf(parts, call),
    holdMusic: (projectId, choice) => parts.mediaFiles.music(projectId, choice),
    supervisorUrl: parts.supervisorUrl,
    recordings: parts.recordings,
    onEnded({ id }) {
      capacity.release(id);
      voiceNodes.forget(id);
    },
    log: (fields, message, level = 'info') => logger[level](fields, message),
  });
  const dialerDeps: DialerDeps = { ...shared, runner, callRefusal };
  const inboundDeps: InboundCallDeps = { ...shared, runner, conversations, readAhead, callRefusal };
  return new CallNode({
    queue,
    telephony,
    bus,
    runner,
    dial: (callId) => dialQueuedCall(dialerDeps, callId),
    handleInbound: (call) => handleInboundCall(inboundDeps, call),
    drainMs: parts.drainMs,
    clock,
    onError,
  });
}
