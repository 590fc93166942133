import type { Dependency } from '../../api/ports.ts';
import { repeat } from '../../base/async/repeat.ts';
import { NodeCapacity } from '../../calls/limits/nodeCapacity.ts';
import { advertisedAddress, httpUrl, localAddress } from '../../calls/nodes/nodeAddress.ts';
import type { VoiceNodeSelector } from '../../calls/nodes/voiceNodeSelector.ts';
import type { SupervisorAddress } from '../../media/supervision/supervisorStream.ts';
import type { MediaStreams } from '../../streams/mediaStreams.ts';
import { type BuiltCallNode, buildCallNode } from '../media/callNode.ts';
import { maxCalls, mediaLoad } from '../media/media.ts';
import { buildTestCalls, startPhoneTests } from '../media/phoneTests.ts';
import { buildTelephony } from '../media/telephony.ts';
import type { NodeContext } from '../node/node.ts';
import type { Services } from '../services/services.ts';

/** Recordings of calls that were removed are on this node for at most this time. */
const ORPHANED_RECORDINGS_MS = 10 * 60_000;

export interface MediaRole {
  readonly dependency: Dependency;
  /** Builds what runs calls, and takes inbound ones from then on. */
  buildCallNode(): BuiltCallNode;
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
  const { calls, recordings } = services;
  const removeOrphans = () => recordings.calls.removeOrphans(storage.stores.calls.existing);
  lifecycle.onClose(
    repeat(clock, ORPHANED_RECORDINGS_MS, removeOrphans, (error) =>
      node.onError(error, 'orphaned recordings not removed, retrying'),
    ),
  );
  const capacity = new NodeCapacity(maxCalls(config));
  const testCalls = buildTestCalls(config, sipServer.port, clock);
  const { dependency, telephony, setKnownPeers, close } = await buildTelephony({
    config,
    server: sipServer,
    media,
    stores: storage.stores,
    leases: calls.leases,
    board: metrics.trunks(calls.health, clock.monotonicMs),
    rejections: { store: calls.rejections, metrics: metrics.calls },
    liveEvents: node.liveEvents,
    bus: calls.bus,
    testCalls,
    clock,
    logger,
  });
  lifecycle.onClose(close);
  metrics.watchCalls(mediaLoad(config, media, capacity));
  metrics.watchMedia(media);
  metrics.watchSip(sipServer);
  const { mediaStreams, voiceNodes } = streams;
  const supervisorUrl = (address: SupervisorAddress) => supervisorUrlOf(config, mediaStreams, address);
  return {
    dependency,
    buildCallNode: () =>
      buildCallNode(node, services, { telephony, mediaStreams, voiceNodes, capacity, supervisorUrl }),
    startPhoneTests: () => startPhoneTests(node, services.models, capacity, testCalls, setKnownPeers),
  };
}

/** Other nodes reach the media thread directly, or by this node's HTTP server where it has an address for them. */
async function supervisorUrlOf(
  { HOST, NODE_URL }: NodeContext['config'],
  mediaStreams: MediaStreams,
  { port, path }: SupervisorAddress,
): Promise<string> {
  const at = (host: string) => `${httpUrl(host, port).replace(/^http/, 'ws')}${path}`;
  if (NODE_URL === undefined) return at(advertisedAddress(HOST));
  return (await mediaStreams.openRelay(at(localAddress(HOST)), NODE_URL)).url;
}
