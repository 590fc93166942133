import type { ByteString } from '../message/bytes.ts';
import type { SipMessage } from '../message/message.ts';

export type TransportName = 'udp' | 'tcp' | 'tls';

/** One end of a way: an IP address literal (IPv6 without brackets) and a port. */
export interface Endpoint {
  readonly transport: TransportName;
  readonly address: string;
  readonly port: number;
}

/** A way to one remote end. Costs nothing until something is sent. */
export interface Flow {
  readonly remote: Endpoint;
  readonly local: Endpoint;
  /** Whether the transport repeats what is lost, so that transactions need not. */
  readonly reliable: boolean;
  /** @param onError - Called at most once for this message, when it is known not to arrive; never
   *   before `send` has returned. */
  send(text: ByteString, onError?: (error: Error) => void): void;
}

export interface ReceivedMessage {
  readonly message: SipMessage;
  readonly lengthBytes: number;
  /** Back to the sender's address and port, over the socket or connection that it came by. */
  readonly flow: Flow;
}

/** One message seen on the wire. */
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
  /** The layers above threw over a message: a defect of theirs. */
  onInternalError?(error: unknown): void;
  /** A request that could not be parsed, but whose sender can be told so. */
  onBadRequest?(head: ByteString, status: number, reason: string, flow: Flow): void;
}

export function endpointKey(endpoint: Endpoint): string {
  return `${endpoint.transport}:${endpoint.address}:${endpoint.port}`;
}

/** An IPv4 peer of a dual-stack socket, in IPv4 form. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
