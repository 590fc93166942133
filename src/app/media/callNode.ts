import type { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import { NodeCalls } from '../../calls/nodes/nodeCalls.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import { openMediaHeaders } from '../../calls/numbers/callMedia.ts';
import { CallNode } from '../../calls/runner/callNode.ts';
import { CallRunner } from '../../calls/runner/callRunner.ts';
import { CallStreams, type CallStreamsDeps } from '../../calls/runner/callStreams.ts';
import type { LogFields } from '../../calls/runner/callTelemetry.ts';
import { endsOrWaits } from '../../calls/setup/callingGate.ts';
import { type DialerDeps, dialingWork } from '../../calls/setup/dialer.ts';
import { handleInboundCall, type InboundCallDeps } from '../../calls/setup/inboundCallHandler.ts';
import type { Telephony } from '../../calls/telephony.ts';
import { campaignRefusal } from '../../campaigns/campaignRefusal.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';
import { startWork } from '../services/work.ts';
import { twilioTokens } from '../voice/streams.ts';

/** What this node's calls run over. */
export interface CallPaths {
  readonly telephony: Telephony;
  readonly mediaStreams: MediaStreams;
  readonly voiceNodes: VoiceNodeSelector;
  readonly capacity: NodeCapacity;
  readonly supervisorUrl: CallStreamsDeps['supervisorUrl'];
}

export interface BuiltCallNode {
  readonly callNode: CallNode;
  /** Dials queued calls, until the node stops. */
  startDialing(): void;
}

/** Builds what runs calls on this node. */
export function buildCallNode(
  node: NodeContext,
  { calls, conversations, mediaFiles, recordings }: Services,
  { telephony, mediaStreams, voiceNodes, capacity, supervisorUrl }: CallPaths,
): BuiltCallNode {
  const { config, storage, liveEvents, sealer, tracer, callRefusal, makeId, clock } = node;
  const { phoneNumbers, trunks, history, doNotCall, providerCredentials } = storage.stores;
  const logger = node.logger.child({ part: 'calls' });
  const onError = (error: unknown, what: string, fields: LogFields = {}) =>
    logger.warn({ err: error, ...fields }, what);
  const { nodeId, limiter, places, sessions, finisher, health, bus } = calls;
  const metrics = node.metrics.calls;
  const headerDeps = { open: sealer.open, twilioToken: twilioTokens(providerCredentials) };
  const streams = new CallStreams({
    sessions,
    voiceNodes,
    openStream: mediaStreams.openForCall,
    mediaHeaders: (projectId, media) => openMediaHeaders(projectId, media, headerDeps),
    seal: sealer.seal,
    supervisorUrl,
    makeId,
  });
  const nodeCalls = new NodeCalls({
    nodeId,
    capacity,
    calls: storage.stores.calls,
    history,
    recordings: recordings.calls,
    finisher,
  });
  const log = (fields: LogFields, message: string, level: 'info' | 'warn' = 'info') =>
    logger[level](fields, message);
  const runner = new CallRunner({
    calls: nodeCalls,
    callingRules: doNotCall.rulesFor,
    telephony,
    trunks: { phoneNumbers, trunks, health },
    limiter,
    places,
    sessions,
    streams,
    mediaFiles,
    campaignRefusal: (call) => campaignRefusal({ ...storage.stores, clock }, call),
    telemetry: { tracer, metrics, liveEvents, now: clock.now, log },
    makeId,
    clock,
    onError,
  });
  const inboundDeps: InboundCallDeps = {
    calls: nodeCalls,
    conversations,
    sessions,
    places,
    metrics,
    runner,
    liveEvents,
    callRefusal,
    clock,
    makeId,
    tracer,
    onError,
  };
  const callNode = new CallNode({
    telephony,
    bus,
    runner,
    handleInbound: (call) => handleInboundCall(inboundDeps, call),
    drainMs: config.DRAIN_SECONDS * 1000,
    clock,
    onError,
  });
  return { callNode, startDialing: () => startDialing(node, calls, capacity, runner, onError) };
}

function startDialing(
  node: NodeContext,
  { nodeId, health, slots, limiter, finisher, gate }: Services['calls'],
  capacity: NodeCapacity,
  runner: CallRunner,
  onError: DialerDeps['onError'],
): void {
  const { storage, callRefusal, clock } = node;
  const { calls, phoneNumbers, trunks } = storage.stores;
  const deps: DialerDeps = {
    nodeId,
    calls,
    waiting: storage.waitingCalls,
    endsOrWaits: (call) => endsOrWaits(gate, call, nodeId),
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
  const dialer = startWork(node, dialingWork(deps, storage.work.calls), onError);
  capacity.onRoom(() => dialer.wake());
}
