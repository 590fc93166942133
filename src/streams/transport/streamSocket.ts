import type { StreamMessage } from '../../dialects/dialect.ts';

/**
 * A connection that carries whole messages, at both ends of a stream. `ws` has this shape. Another transport adapts to
 * it: it cuts its byte stream into binary messages, and answers `ping` in its own way.
 */
export interface StreamSocket {
  /** The WebSocket subprotocol; empty for none. */
  readonly protocol?: string;
  send(data: StreamMessage, options: { readonly binary: boolean }): void;
  close(code?: number, reason?: string): void;
  /** Closes the connection without a closing handshake. */
  terminate(): void;
  /** Asks for a `pong` with the same data. */
  ping(data?: string): void;
  /** Bytes that the network has not taken yet. */
  readonly bufferedAmount: number;
  readonly readyState: number;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'pong', listener: (data: Buffer) => void): unknown;
  /** The peer asks for an answer, which is sent. */
  on(event: 'ping', listener: (data: Buffer) => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export const OPEN = 1;
/** One end has sent a close; the connection still exists. */
export const CLOSING = 2;
export const CLOSED = 3;

/** Close codes. @see RFC 6455 section 7.4.1 and the IANA WebSocket close code registry */
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
export const CLOSE_PROTOCOL_ERROR = 1002;
/** Reported for a close without a code, as many WebSocket libraries send it. Never sent. */
export const CLOSE_WITHOUT_CODE = 1005;
/** Reported for a connection that was lost. Never sent. */
export const CLOSE_ABNORMAL = 1006;
export const CLOSE_POLICY_VIOLATION = 1008;
export const CLOSE_MESSAGE_TOO_BIG = 1009;
export const CLOSE_INTERNAL_ERROR = 1011;
export const CLOSE_SERVICE_RESTART = 1012;
export const CLOSE_TRY_AGAIN_LATER = 1013;

export function toMessage(data: Buffer, isBinary: boolean): StreamMessage {
  return isBinary ? data : data.toString('utf8');
}

export function sendMessage(socket: StreamSocket, message: StreamMessage): void {
  if (socket.readyState === OPEN) socket.send(message, { binary: typeof message !== 'string' });
}
