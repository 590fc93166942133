/** A SIP dialog, confirmed or early, with what another node needs to end it. @see RFC 3261 section 12 */
export interface StoredDialog {
  readonly dialogId: string;
  /** The id of our call. */
  readonly callId: string;
  readonly trunkId: string;
  /** The Call-ID header. */
  readonly sipCallId: string;
  /** The From header of our requests, with the tag. */
  readonly localAddress: string;
  /** The To header of our requests, with the tag. */
  readonly remoteAddress: string;
  /** The peer's Contact URI. */
  readonly remoteTarget: string;
  /** Route header values, the nearest hop first. */
  readonly routeSet: readonly string[];
  /** CSeq of our INVITE; 0 in a dialog that the peer began. */
  readonly localSequence: number;
}

export interface DialogStore {
  /** Replaces the dialog of the same id. */
  save(dialog: StoredDialog): Promise<void>;
  remove(dialogId: string): Promise<void>;
  /** Removes and returns dialogs of calls that have ended: their node failed before it sent BYE. */
  takeLost(limit: number): Promise<StoredDialog[]>;
}
