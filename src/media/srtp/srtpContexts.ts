import type { MediaParameters } from '../mediaSession.ts';
import type { SrtcpPair } from '../rtcp/rtcpSession.ts';
import { formatCryptoAttribute } from './cryptoAttribute.ts';
import { SrtcpStream } from './srtcp.ts';
import { SrtpStream } from './srtp.ts';

/** A call's cryptographic contexts in both directions. @see RFC 3711 section 3.2 */
export interface SrtpContexts {
  readonly outbound: SrtpStream;
  readonly inbound: SrtpStream;
  readonly srtcp: SrtcpPair;
  /** The keys in text, to compare those of a later offer. Never logged. */
  readonly keys: string;
}

/**
 * Contexts for the negotiated keys. The same keys keep their contexts, and with them the rollover counters.
 *
 * @returns Undefined for plain RTP.
 */
export function srtpContextsFor(
  srtp: MediaParameters['srtp'],
  current: SrtpContexts | undefined,
): SrtpContexts | undefined {
  if (srtp === undefined) return undefined;
  const keys = `${formatCryptoAttribute(srtp.local)} ${formatCryptoAttribute(srtp.remote)}`;
  if (current?.keys === keys) return current;
  return {
    outbound: new SrtpStream(srtp.local),
    inbound: new SrtpStream(srtp.remote),
    srtcp: { local: new SrtcpStream(srtp.local), remote: new SrtcpStream(srtp.remote) },
    keys,
  };
}
