import type { MediaParameters } from '../mediaSession.ts';
import type { SrtcpPair } from '../rtcp/rtcpSession.ts';
import { formatCryptoAttribute } from './cryptoAttribute.ts';
import { SrtcpStream } from './srtcp.ts';
import { SrtpStream } from './srtp.ts';

/** What encrypts one call, both ways. */
export interface SrtpContexts {
  readonly outbound: SrtpStream;
  readonly inbound: SrtpStream;
  readonly srtcp: SrtcpPair;
  /** Tells whether a later offer has the same keys; holds them, so it is never logged. */
  readonly secretName: string;
}

/**
 * Keys for what was agreed. The same keys again keep their state: the count of rollovers goes on, as the peer's does.
 *
 * @returns Undefined for plain RTP.
 */
export function srtpContextsFor(
  srtp: MediaParameters['srtp'],
  current: SrtpContexts | undefined,
): SrtpContexts | undefined {
  if (srtp === undefined) return undefined;
  const secretName = `${formatCryptoAttribute(srtp.local)} ${formatCryptoAttribute(srtp.remote)}`;
  if (current?.secretName === secretName) return current;
  return {
    outbound: new SrtpStream(srtp.local),
    inbound: new SrtpStream(srtp.remote),
    srtcp: { local: new SrtcpStream(srtp.local), remote: new SrtcpStream(srtp.remote) },
    secretName,
  };
}
