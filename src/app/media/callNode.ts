import type { Call } from '../../calls/call.ts';
import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import { type CallMedia, openMediaHeaders } from '../../calls/numbers/callMedia.ts';
import { CallNode } from '../../calls/runner/callNode.ts';
import { CallRunner } from '../../calls/runner/callRunner.ts';
import type { CallRunnerDeps } from '../../calls/runner/runningCall.ts';
import { partyStreamOf, type StreamTargetDeps, streamTargetOf } from '../../calls/runner/streamTarget.ts';
import { type DialerDeps, dialQueuedCall } from '../../calls/setup/dialer.ts';
import { handleInboundCall, type InboundCallDeps } from '../../calls/setup/inboundCallHandler.ts';
import type { StartedSession } from '../../calls/setup/startSession.ts';
import type { Telephony } from '../../calls/telephony.ts';
import type { StreamParty } from '../../conversation/streams/audioStream.ts';
import type { ConversationEngine } from '../../engine/conversationEngine.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import type { NodeContext } from '../node/node.ts';
import { transferTargetsOf } from '../services/calls.ts';
import type { Services } from '../services/services.ts';
import { readerAhead } from '../voice/readAhead.ts';
import { twilioTokens } from '../voice/streams.ts';

/** What this node's calls run over. */
export interface CallPaths {
  readonly telephony: Telephony;
  readonly mediaStreams: MediaStreams;
  readonly voiceNodes: VoiceNodeSelector;
  readonly capacity: NodeCapacity;
  readonly supervisorUrl: CallRunnerDeps['supervisorUrl'];
}

type CallServices = Pick<Services, 'calls' | 'conversations' | 'mediaFiles' | 'recordings'>;

/** Builds what runs calls on this node. */
export function buildCallNode(
  node: NodeContext,
  { calls, conversations, mediaFiles, recordings }: CallServices,
  { telephony, mediaStreams, voiceNodes, capacity, supervisorUrl }: CallPaths,
): CallNode {
  const { config, storage, liveEvents, tracer, callRefusal, makeId, clock } = node;
  const { phoneNumbers, trunks, history } = storage.stores;
  const logger = node.logger.child({ part: 'calls' });
  const onError = (error: unknown, what: string, fields = {}) => logger.warn({ err: error, ...fields }, what);
  const { nodeId, lock, slots, limiter, finisher, health, queue, bus } = calls;
  const metrics = node.metrics.calls;
  const readAhead = readerAhead(node, conversations);
  const streams = callStreams(node, conversations, voiceNodes, mediaStreams);
  const runner = new CallRunner({
    nodeId,
    calls: storage.stores.calls,
    addEvents: history.addEvents,
    telephony,
    conversations,
    readAhead,
    phoneNumbers,
    trunks,
    health,
    lock,
    slots,
    limiter,
    streamTarget: streams.target,
    partyStream: streams.party,
    transferTargets: (call) => transferTargetsOf(conversations, storage.stores.releases, call),
    holdMusic: (projectId, choice) => mediaFiles.music(projectId, choice),
    supervisorUrl,
    recordings: recordings.calls,
    finisher,
    metrics,
    liveEvents,
    onEnded({ id }) {
      capacity.release(id);
      voiceNodes.forget(id);
    },
    makeId,
    clock,
    tracer,
    log: (fields, message, level = 'info') => logger[level](fields, message),
    onError,
  });
  const dialerDeps: DialerDeps = {
    nodeId,
    calls: storage.stores.calls,
    phoneNumbers,
    trunks,
    health,
    slots,
    limiter,
    capacity,
    runner,
    finisher,
    callRefusal,
    clock,
    onError,
  };
  const inboundDeps: InboundCallDeps = {
    nodeId,
    calls: storage.stores.calls,
    conversations,
    readAhead,
    slots,
    limiter,
    capacity,
    metrics,
    runner,
    finisher,
    liveEvents,
    callRefusal,
    clock,
    makeId,
    tracer,
    onError,
  };
  return new CallNode({
    queue,
    telephony,
    bus,
    runner,
    dial: (callId) => dialQueuedCall(dialerDeps, callId),
    handleInbound: (call) => handleInboundCall(inboundDeps, call),
    drainMs: config.DRAIN_SECONDS * 1000,
    clock,
    onError,
  });
}

/** Where the audio of calls goes: to a voice node, or to a customer's bot. */
function callStreams(
  { storage, sealer, makeId }: NodeContext,
  conversations: ConversationEngine,
  voiceNodes: VoiceNodeSelector,
  mediaStreams: MediaStreams,
) {
  const headerDeps = { open: sealer.open, twilioToken: twilioTokens(storage.stores.providerCredentials) };
  const targetDeps: StreamTargetDeps = {
    conversations,
    voiceNodes,
    openStream: mediaStreams.openForCall,
    mediaHeaders: (projectId: string, media: CallMedia) => openMediaHeaders(projectId, media, headerDeps),
    seal: sealer.seal,
    makeId,
  };
  return {
    target: (call: Call, started: StartedSession | undefined) => streamTargetOf(targetDeps, call, started),
    party: (call: Call, party: StreamParty) => partyStreamOf(targetDeps, call, party),
  };
}
