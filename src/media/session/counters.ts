import type { MediaCounters } from '../mediaSession.ts';
import type { EngineSide } from './engineSide.ts';
import type { PeerPath } from './peerPath.ts';
import type { RtcpSession } from './rtcpSession.ts';

export interface CountedParts {
  readonly packetsDue: number;
  readonly path: PeerPath;
  readonly rtcp: RtcpSession;
  /** Undefined for a call that had no codec yet. */
  readonly engine: EngineSide | undefined;
}

const NO_ENGINE = { framesDropped: 0, engineSamplesDropped: 0, engineUnderruns: 0 };

/** What a call's parts have not taken, and what did not get through. */
export function countersOf({ packetsDue, path, rtcp, engine }: CountedParts): MediaCounters {
  const { drops } = path.gate;
  return {
    packetsDue,
    malformedPackets: drops.malformed,
    unauthenticPackets: drops.unauthentic,
    unknownPayloadTypes: drops.unknownPayloadType,
    strangersPackets: drops.strangers,
    floodedPackets: drops.flooded,
    malformedRtcpPackets: rtcp.malformedPackets,
    socketFailures: path.socketFailures,
    ...(engine?.counts ?? NO_ENGINE),
  };
}
