/** A WebSocket as both ends of the bridge need it; `ws` has the shape. */
export interface StreamSocket {
  send(data: string | Uint8Array, options: { readonly binary: boolean }): void;
  close(code?: number, reason?: string): void;
  /** Ends the connection without a word. */
  terminate(): void;
  /** Asks for a `pong`. */
  ping(): void;
  /** Bytes that the peer has not taken yet. */
  readonly bufferedAmount: number;
  readonly readyState: number;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'pong', listener: () => void): unknown;
  on(event: 'close', listener: (code: number, reason: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

export const OPEN = 1;
/** Either end has said that it closes, and the connection is there still. */
export const CLOSING = 2;

/** Meanings of close codes that we send. @see RFC 6455 section 7.4.1 */
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
export const CLOSE_PROTOCOL_ERROR = 1002;
export const CLOSE_POLICY = 1008;
export const CLOSE_TOO_SLOW = 1013;
/** What the other end of a connection that broke has heard: nothing. */
export const CLOSE_ABNORMAL = 1006;
/** What is heard of a peer that closed in order and gave no code, as many WebSocket libraries do. */
export const CLOSE_WITHOUT_CODE = 1005;
