import type { MediaParameters } from '../mediaSession.ts';
import type { RtpPacketView } from '../rtp/packet.ts';
import type { SrtpStream } from '../srtp/srtp.ts';
import { type PacketDrops, PacketFilter, type PayloadTypes } from './packetFilter.ts';
import type { PacketSocket } from './packetIo.ts';
import type { Latching } from './sourceLatch.ts';

/** A call's pair of ports; RTCP is the one above RTP. */
export interface SocketPair {
  readonly rtp: PacketSocket;
  readonly rtcp: PacketSocket;
}

export interface RtpTransportOptions {
  readonly sockets: SocketPair;
  readonly latching: Latching | undefined;
  /** Returns the monotonic time. */
  readonly nowMs: () => number;
  /** @param packet - Valid during the call; its bytes are the listener's. */
  readonly onRtp: (packet: RtpPacketView, nowMs: number) => void;
  readonly onRtcp: (bytes: Uint8Array, nowMs: number) => void;
}

/** The most RTCP packets per tick; usually a report has one. */
const MAX_RTCP_PACKETS_PER_TICK = 5;
/** The time during which packets from the signalled address are still accepted after another source was latched. */
const SETTLING_MS = 2000;

/**
 * A call's sockets, with symmetric RTP. Once a source is latched the operating system drops packets from elsewhere. The
 * signalled address may still take the place of another source: both are listened to for a while, and again once the
 * other source is silent.
 */
export class RtpTransport {
  readonly #filter: PacketFilter;
  readonly #sockets: SocketPair;
  readonly #nowMs: () => number;
  readonly #onRtp: RtpTransportOptions['onRtp'];
  readonly #onRtcp: RtpTransportOptions['onRtcp'];
  #remote: MediaParameters['remote'] | undefined;
  #rtcpThisTick = 0;
  #isConnected = false;
  /** The time at which the sockets are connected to a source that signalling did not name. */
  #connectAtMs: number | undefined;

  constructor({ sockets, latching, nowMs, onRtp, onRtcp }: RtpTransportOptions) {
    this.#filter = new PacketFilter(latching);
    this.#sockets = sockets;
    this.#nowMs = nowMs;
    this.#onRtp = onRtp;
    this.#onRtcp = onRtcp;
    // What a listener of a socket throws would end the thread, and with it all calls.
    sockets.rtp.listen((bytes, address, port) => {
      try {
        this.#receive(bytes, address, port);
      } catch {
        this.#filter.drops.failed++;
      }
    });
    sockets.rtcp.listen((bytes, address) => {
      try {
        this.#receiveRtcp(bytes, address);
      } catch {
        this.#filter.drops.failed++;
      }
    });
  }

  get socketFailures(): number {
    return this.#sockets.rtp.failures + this.#sockets.rtcp.failures;
  }

  get drops(): Readonly<PacketDrops> {
    return this.#filter.drops;
  }

  /** Packets before are dropped. @param srtp - The peer's direction; undefined for plain RTP. */
  connect(remote: MediaParameters['remote'], payloadTypes: PayloadTypes, srtp: SrtpStream | undefined): void {
    this.#remote = remote;
    this.#filter.expect(payloadTypes, srtp);
    const { address, port, signallingHost } = remote;
    const isNew = this.#filter.latch.signalled({ address, port }, this.#nowMs(), signallingHost);
    if (isNew) this.#disconnectSockets();
  }

  /** @param packet - The packet, which may be overwritten afterwards. */
  send(packet: Uint8Array): void {
    const { target } = this.#filter.latch;
    if (target !== undefined) this.#sockets.rtp.send(packet, target);
  }

  /** Sends RTCP to the host that sends the audio, on the RTP port when the peer multiplexes them. @see RFC 5761 */
  sendRtcp(packet: Uint8Array): void {
    const { target } = this.#filter.latch;
    if (target === undefined || this.#remote === undefined) return;
    const { port, rtcpPort } = this.#remote;
    if (rtcpPort === port) this.#sockets.rtp.send(packet, target);
    else this.#sockets.rtcp.send(packet, { address: target.address, port: rtcpPort });
  }

  tick(nowMs: number): void {
    this.#filter.tick();
    this.#rtcpThisTick = 0;
    if (this.#isConnected && this.#filter.latch.isLost(nowMs)) this.#disconnectSockets();
    if (this.#connectAtMs !== undefined && nowMs >= this.#connectAtMs) this.#connectSockets();
  }

  async close(): Promise<void> {
    await Promise.all([this.#sockets.rtp.close(), this.#sockets.rtcp.close()]);
  }

  #receive(bytes: Uint8Array, address: string, port: number): void {
    if (this.#remote === undefined) return;
    const nowMs = this.#nowMs();
    const verdict = this.#filter.check(bytes, address, port, nowMs);
    if (verdict === 'rtcp') this.#receiveRtcp(bytes, address);
    if (verdict !== 'rtp') return;
    if (this.#filter.hasLatched) {
      if (this.#filter.latch.isAsSignalled) this.#connectSockets();
      else this.#connectAtMs = nowMs + SETTLING_MS;
    }
    this.#onRtp(this.#filter.view, nowMs);
  }

  #receiveRtcp(bytes: Uint8Array, address: string): void {
    if (address !== this.#filter.latch.target?.address) return;
    if (++this.#rtcpThisTick <= MAX_RTCP_PACKETS_PER_TICK) this.#onRtcp(bytes, this.#nowMs());
  }

  /** RTCP comes from the signalled port where RTP does; behind a NAT its port is unknown. */
  #connectSockets(): void {
    this.#connectAtMs = undefined;
    const { target, isAsSignalled } = this.#filter.latch;
    if (target === undefined || this.#remote === undefined) return;
    this.#isConnected = true;
    this.#sockets.rtp.only(target);
    const { rtcpPort } = this.#remote;
    const hasOwnRtcp = isAsSignalled && rtcpPort !== target.port;
    this.#sockets.rtcp.only(hasOwnRtcp ? { address: target.address, port: rtcpPort } : undefined);
  }

  #disconnectSockets(): void {
    this.#connectAtMs = undefined;
    if (!this.#isConnected) return;
    this.#isConnected = false;
    this.#sockets.rtp.only(undefined);
    this.#sockets.rtcp.only(undefined);
  }
}
