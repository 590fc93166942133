import type { ByteString } from '../message/bytes.ts';
import type { SipMessage } from '../message/message.ts';

export type TransportName = 'udp' | 'tcp' | 'tls';

/** A transport address: an IP literal (IPv6 without brackets) and a port. */
export interface Endpoint {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
}

/** A path to one remote endpoint; a connection is opened on the first message. @see RFC 5626 section 2 */
export interface Flow {
  readonly remote: Endpoint;
  readonly local: Endpoint;
  /** True when the transport retransmits, so that transactions need not. */
  readonly reliable: boolean;
  /** @param onError - Called at most once, when the message is known not to arrive; never
   *   before `send` has returned. */
  send(text: ByteString, onError?: (error: Error) => void): void;
}

export interface ReceivedMessage {
  readonly message: SipMessage;
  readonly lengthBytes: number;
  /** The flow to the sender's address and port, over the same socket or connection. */
  readonly flow: Flow;
}

/** A message on the wire. */
export interface TracedMessage {
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  readonly direction: 'in' | 'out';
  readonly transport: TransportName;
  /** `address:port` of the peer. */
  readonly remote: string;
  readonly callId: string;
  readonly text: ByteString;
}

export interface TransportEvents {
  onMessage(received: ReceivedMessage): void;
  /** Called when a layer above threw. */
  onInternalError?(error: unknown): void;
  /** A malformed message that may be answered. */
  onBadRequest?(head: ByteString, status: number, reason: string, flow: Flow): void;
}

export function endpointKey(endpoint: Endpoint): string {
  return `${endpoint.transport}:${endpoint.address}:${endpoint.port}`;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
