import type { AgentStream } from '../agentStream/agentStream.ts';
import type { MediaCounters } from '../mediaSession.ts';
import type { RtcpSession } from '../rtcp/rtcpSession.ts';
import type { RtpTransport } from '../transport/rtpTransport.ts';

export interface CountedParts {
  readonly packetsDue: number;
  readonly path: RtpTransport;
  readonly rtcp: RtcpSession;
  /** Undefined for a call that had no codec yet. */
  readonly engine: AgentStream | undefined;
}

const NO_ENGINE = { callerFramesDropped: 0, agentSamplesDropped: 0, playoutUnderruns: 0 };

/** What a call's parts have not taken, and what did not get through. */
export function countersOf({ packetsDue, path, rtcp, engine }: CountedParts): MediaCounters {
  const { drops } = path.gate;
  return {
    packetsDue,
    malformedPackets: drops.malformed,
    unauthenticPackets: drops.unauthentic,
    unknownPayloadTypes: drops.unknownPayloadType,
    foreignSourcePackets: drops.foreignSource,
    floodedPackets: drops.flooded,
    malformedRtcpPackets: rtcp.malformedPackets,
    socketFailures: path.socketFailures,
    ...(engine?.counts ?? NO_ENGINE),
  };
}
