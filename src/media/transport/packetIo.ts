import type { MediaAddress } from './sourceLatch.ts';

/** Sends and receives datagrams: Node's sockets, or a replacement such as an impaired network. */
export interface PacketIo {
  /**
   * @param request - A local address and port. The port is explicit because one that the system has chosen is lost when
   *   the socket takes packets of all sources again.
   * @throws {Error} With the system's `code`, such as `EADDRINUSE`.
   */
  bind(request: SocketRequest): Promise<PacketSocket>;
}

interface SocketRequest {
  readonly address: string;
  readonly port: number;
  /** The network impairment of sent packets. Node's sockets ignore it. */
  readonly impairment?: Impairment | undefined;
}

/** The impairment of a simulated network. The same seed has the same effect. */
export interface Impairment {
  /** The packet loss, 0 to 1. */
  readonly lossRatio: number;
  /** Maximum random delay of a packet; packets stay in order. */
  readonly jitterMs: number;
  readonly seed: number;
}

/** @param bytes - Owned by the listener, which may change and keep them. */
export type PacketListener = (bytes: Uint8Array, address: string, port: number) => void;

export interface PacketSocket {
  readonly port: number;
  /** Packets that the system refused, and errors that it reported for the path to the peer. */
  readonly failures: number;
  /** Sets the one listener; earlier packets are lost. */
  listen(listener: PacketListener): void;
  /** Sends at once or drops the packet. The bytes may be overwritten afterwards. */
  send(bytes: Uint8Array, to: MediaAddress): void;
  /**
   * Takes packets of one source only, filtered by the operating system so that a flood from elsewhere costs nothing;
   * undefined takes all. Sending elsewhere takes all again.
   */
  only(source: MediaAddress | undefined): void;
  close(): Promise<void>;
}
