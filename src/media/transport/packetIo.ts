import type { MediaAddress } from './sourceLatch.ts';

/**
 * How datagrams come in and go out: small, so that something faster than Node's own sockets can take its place.
 */
export interface PacketIo {
  /**
   * @param request - A literal address of this machine, and a port: named, since one that the system chose would be lost
   *   when the socket takes all sources again.
   * @throws {Error} With the system's `code`, such as `EADDRINUSE`.
   */
  bind(request: { readonly address: string; readonly port: number }): Promise<PacketSocket>;
}

/** @param bytes - The listener's from now on: to change in place, and to keep. */
export type PacketListener = (bytes: Uint8Array, address: string, port: number) => void;

export interface PacketSocket {
  readonly port: number;
  /** What could not be handed to the system, or what it reported of the way to the peer. */
  readonly failures: number;
  /** Sets the one listener; packets before it are lost. */
  listen(listener: PacketListener): void;
  /** Sends at once, or lets it go: a late packet is of no use. The bytes may be written over afterwards. */
  send(bytes: Uint8Array, to: MediaAddress): void;
  /**
   * Takes packets of one source only, as far as the system can tell them apart: so that a flood of strangers costs
   * nothing. Undefined takes all again. Sending elsewhere takes all again, too.
   */
  only(source: MediaAddress | undefined): void;
  /** Idempotent. */
  close(): Promise<void>;
}
