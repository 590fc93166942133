import type { Dependency } from '../../api/ports.ts';
import { repeat } from '../../base/async/repeat.ts';
import { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import { advertisedAddress, httpUrl, localAddress } from '../../calls/nodes/nodeAddress.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import type { CallNode } from '../../calls/runner/callNode.ts';
import type { SupervisorAddress } from '../../media/supervision/supervisorStream.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import { buildCallNode } from '../media/callNode.ts';
import { maxCalls, mediaLoad } from '../media/media.ts';
import { buildTestCalls, startPhoneTests } from '../media/phoneTests.ts';
import { buildTelephony } from '../media/telephony.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';
import { readerAhead } from '../voice/readAhead.ts';

/** Recordings of calls that were removed are on this node for at most this time. */
const ORPHANED_RECORDINGS_MS = 10 * 60_000;

export interface MediaRole {
  readonly dependency: Dependency;
  /** Builds what runs calls, and takes inbound ones from then on. */
  buildCallNode(): CallNode;
  /** Plays the phone cases of test runs. Once the node runs calls. */
  startPhoneTests(): void;
}

/** SIP and RTP. @returns Undefined without the role `media`. */
export async function buildMediaRole(
  node: NodeContext,
  services: Services,
  streams: { readonly mediaStreams: MediaStreams; readonly voiceNodes: VoiceNodeSelector },
): Promise<MediaRole | undefined> {
  const { config, media, sipServer, metrics, storage, lifecycle, clock, logger } = node;
  if (!media || !sipServer) return undefined;
  const { calls, conversations, recordings, mediaFiles } = services;
  const removeOrphans = () => recordings.calls.removeOrphans(storage.stores.calls.existing);
  lifecycle.onClose(
    repeat(clock, ORPHANED_RECORDINGS_MS, removeOrphans, (error) =>
      node.onError(error, 'orphaned recordings not removed, retrying'),
    ),
  );
  const capacity = new NodeCapacity(maxCalls(config));
  const testCalls = buildTestCalls(config, sipServer.port, clock);
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
    rejections: { store: calls.rejections, metrics: metrics.calls },
    liveEvents: node.liveEvents,
    bus: calls.bus,
    testCalls,
  });
  lifecycle.onClose(() => telephony.close());
  metrics.watchCalls(mediaLoad(config, media, capacity));
  metrics.watchMedia(media);
  metrics.watchSip(sipServer);
  return {
    dependency: telephony.dependency,
    buildCallNode: () =>
      buildCallNode({
        ...node,
        ...streams,
        calls,
        conversations,
        mediaFiles,
        telephony: telephony.telephony,
        recordings: recordings.calls,
        metrics: metrics.calls,
        readAhead: readerAhead(node, conversations),
        supervisorUrl: (address) => supervisorUrl(config, streams.mediaStreams, address),
        capacity,
        drainMs: config.DRAIN_SECONDS * 1000,
      }),
    startPhoneTests: () =>
      startPhoneTests({
        ...node,
        models: services.models,
        testCalls,
        setKnownPeers: telephony.setKnownPeers,
        capacity,
      }),
  };
}

/** Other nodes reach the media thread directly, or by this node's HTTP server where it has an address for them. */
async function supervisorUrl(
  { HOST, NODE_URL }: NodeContext['config'],
  mediaStreams: MediaStreams,
  { port, path }: SupervisorAddress,
): Promise<string> {
  const at = (host: string) => `${httpUrl(host, port).replace(/^http/, 'ws')}${path}`;
  if (NODE_URL === undefined) return at(advertisedAddress(HOST));
  return (await mediaStreams.openRelay(at(localAddress(HOST)), NODE_URL)).url;
}
