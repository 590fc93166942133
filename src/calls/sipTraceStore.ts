/** A SIP message of a call, without credentials. */
export interface SipTraceMessage {
  readonly at: string;
  readonly direction: 'in' | 'out';
  readonly transport: string;
  /** The peer's `address:port`. */
  readonly remote: string;
  readonly text: string;
}

export interface SipTraceStore {
  append(projectId: string, callId: string, messages: readonly SipTraceMessage[]): Promise<void>;
  /** Lists the messages in the order of sending and receipt. */
  list(projectId: string, callId: string): Promise<SipTraceMessage[]>;
}
