import type { App, Dependency } from '../../api/ports.ts';
import { repeat } from '../../base/async/repeat.ts';
import { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import type { CallNode } from '../../calls/runner/callNode.ts';
import { buildCallNode } from '../media/callNode.ts';
import { maxCalls, mediaLoad } from '../media/media.ts';
import { buildTelephony } from '../media/telephony.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';
import { buildVoiceNodeSelector, type VoiceNodeParts } from '../voice/voiceNodes.ts';
import type { VoiceRole } from './voice.ts';

/** Recordings of calls that were removed are on this node for at most this time. */
const ORPHANED_RECORDINGS_MS = 10 * 60_000;

export interface MediaRole {
  readonly dependency: Dependency;
  readonly capacity: NodeCapacity;
  /** Builds what runs calls, once the server listens. */
  buildCallNode(app: App): CallNode;
}

/** SIP and RTP. @returns Undefined without the role `media`. */
export async function buildMediaRole(
  node: NodeContext,
  services: Services,
  voice: VoiceRole,
  voiceNodes: VoiceNodeParts,
): Promise<MediaRole | undefined> {
  const { config, media, sipServer, metrics, storage, lifecycle, clock, logger } = node;
  if (!media || !sipServer) return undefined;
  const { calls, conversations, recordings } = services;
  const removeOrphans = () => recordings.calls.removeOrphans(storage.stores.calls.existing);
  lifecycle.onClose(
    repeat(clock, ORPHANED_RECORDINGS_MS, removeOrphans, (error) =>
      node.onError(error, 'orphaned recordings not removed, retrying'),
    ),
  );
  const capacity = new NodeCapacity(maxCalls(config));
  const telephony = await buildTelephony({
    config,
    server: sipServer,
    media,
    clock,
    logger,
    trunks: storage.stores.trunks,
    numbers: storage.stores.phoneNumbers,
    traceSink: storage.stores.sipTraces,
    dialogs: storage.stores.dialogs,
    leases: calls.leases,
    board: metrics.trunks(calls.health, clock.monotonicMs),
    bus: calls.bus,
  });
  lifecycle.onClose(() => telephony.close());
  metrics.watchCalls(mediaLoad(config, media, capacity));
  metrics.watchMedia(media);
  metrics.watchSip(sipServer);
  return {
    dependency: telephony.dependency,
    capacity,
    buildCallNode: (app) =>
      buildCallNode({
        ...node,
        calls,
        conversations,
        telephony: telephony.telephony,
        recordings: recordings.calls,
        mediaStreams: voice.mediaStreams,
        voiceNodes: buildVoiceNodeSelector(voiceNodes, app),
        metrics: metrics.calls,
        capacity,
        drainMs: config.DRAIN_SECONDS * 1000,
      }),
  };
}
