import type { MediaParameters } from '../mediaSession.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import type { SrtpContexts } from '../srtp/srtpContexts.ts';
import { PacketFilter } from './packetFilter.ts';
import type { PacketSocket } from './packetIo.ts';

/** A call's pair of ports; RTCP is the one above RTP. */
export interface SocketPair {
  readonly rtp: PacketSocket;
  readonly rtcp: PacketSocket;
}

export interface RtpTransportOptions {
  readonly sockets: SocketPair;
  /** On a clock that never goes back. */
  readonly nowMs: () => number;
  /** @param packet - Valid during the call; the bytes it shows stay the listener's. */
  readonly onRtp: (packet: RtpPacketView, nowMs: number) => void;
  readonly onRtcp: (bytes: Uint8Array, nowMs: number) => void;
}

/** One a report is usual; a flood of RTCP helps nobody. */
const MAX_RTCP_PACKETS_PER_TICK = 5;
/** While it is open where the peer is, the signalled address is listened to as well. */
const SETTLING_MS = 2000;

/**
 * The way to the peer and back: two sockets, the gate before them, and where the peer really is. Once a source is
 * latched the system itself keeps strangers away, until that source has been silent for long. A source that is not the
 * signalled one may be what is left of the one before: for a while both are listened to.
 */
export class RtpTransport {
  readonly gate = new PacketFilter();
  readonly #sockets: SocketPair;
  readonly #nowMs: () => number;
  readonly #onRtp: RtpTransportOptions['onRtp'];
  readonly #onRtcp: RtpTransportOptions['onRtcp'];
  #remote: MediaParameters['remote'] | undefined;
  #rtcpThisTick = 0;
  #isFiltering = false;
  /** When strangers are to be kept away from a source that signalling did not name; undefined when that is not to come. */
  #closeAtMs: number | undefined;

  constructor({ sockets, nowMs, onRtp, onRtcp }: RtpTransportOptions) {
    this.#sockets = sockets;
    this.#nowMs = nowMs;
    this.#onRtp = onRtp;
    this.#onRtcp = onRtcp;
    sockets.rtp.listen((bytes, address, port) => this.#receive(bytes, address, port));
    sockets.rtcp.listen((bytes, address) => this.#receiveRtcp(bytes, address));
  }

  get socketFailures(): number {
    return this.#sockets.rtp.failures + this.#sockets.rtcp.failures;
  }

  /** From now on packets are taken, as was agreed. */
  connect(
    remote: MediaParameters['remote'],
    types: ReadonlySet<number>,
    keys: SrtpContexts | undefined,
  ): void {
    this.#remote = remote;
    this.gate.expect(types, keys?.inbound);
    if (this.gate.latch.signalled({ address: remote.address, port: remote.port })) this.#openToAll();
  }

  /** @param packet - May be written over afterwards. */
  send(packet: Uint8Array): void {
    const { target } = this.gate.latch;
    if (target !== undefined) this.#sockets.rtp.send(packet, target);
  }

  /** To the host that audio comes from; on one port with RTP where the peer wants it so. @see RFC 5761 */
  sendRtcp(packet: Uint8Array): void {
    const { target } = this.gate.latch;
    if (target === undefined || this.#remote === undefined) return;
    const { port, rtcpPort } = this.#remote;
    if (rtcpPort === port) this.#sockets.rtp.send(packet, target);
    else this.#sockets.rtcp.send(packet, { address: target.address, port: rtcpPort });
  }

  tick(nowMs: number): void {
    this.gate.tick();
    this.#rtcpThisTick = 0;
    if (this.#isFiltering && this.gate.latch.mayMove(nowMs)) this.#openToAll();
    if (this.#closeAtMs !== undefined && nowMs >= this.#closeAtMs) this.#closeToOthers();
  }

  async close(): Promise<void> {
    await Promise.all([this.#sockets.rtp.close(), this.#sockets.rtcp.close()]);
  }

  #receive(bytes: Uint8Array, address: string, port: number): void {
    if (this.#remote === undefined) return;
    const nowMs = this.#nowMs();
    const admission = this.gate.admit(bytes, address, port, nowMs);
    if (admission === 'rtcp') this.#receiveRtcp(bytes, address);
    if (admission !== 'rtp') return;
    if (this.gate.hasLatched) {
      if (this.gate.latch.isAsSignalled) this.#closeToOthers();
      else this.#closeAtMs = nowMs + SETTLING_MS;
    }
    this.#onRtp(this.gate.view, nowMs);
  }

  #receiveRtcp(bytes: Uint8Array, address: string): void {
    if (address !== this.gate.latch.target?.address) return;
    if (++this.#rtcpThisTick <= MAX_RTCP_PACKETS_PER_TICK) this.#onRtcp(bytes, this.#nowMs());
  }

  /** A peer that is where it said sends RTCP from where it said, too; behind a NAT nobody knows from which port. */
  #closeToOthers(): void {
    this.#closeAtMs = undefined;
    const { target, isAsSignalled } = this.gate.latch;
    if (target === undefined || this.#remote === undefined) return;
    this.#isFiltering = true;
    this.#sockets.rtp.only(target);
    const { rtcpPort } = this.#remote;
    const hasOwnRtcp = isAsSignalled && rtcpPort !== target.port;
    this.#sockets.rtcp.only(hasOwnRtcp ? { address: target.address, port: rtcpPort } : undefined);
  }

  #openToAll(): void {
    this.#closeAtMs = undefined;
    if (!this.#isFiltering) return;
    this.#isFiltering = false;
    this.#sockets.rtp.only(undefined);
    this.#sockets.rtcp.only(undefined);
  }
}
