/**
 * Locks a number, so that a project has one live outbound call to it from acceptance to the call's end. The lease
 * expires with its holder.
 */
export interface NumberLock {
  /**
   * Takes a short lease, so that a node that dies before it has stored the call blocks the number only briefly.
   *
   * @param callId - The holder; the same call may take the lock again.
   * @returns The fencing token, which grows with each acquisition; undefined while another call holds the lock.
   */
  acquire(projectId: string, toNumber: string, callId: string): Promise<number | undefined>;
  /** Extends it by another, longer lease. @returns False when it was lost. */
  renew(projectId: string, toNumber: string, callId: string): Promise<boolean>;
  /** Releases it if this call holds it. */
  release(projectId: string, toNumber: string, callId: string): Promise<void>;
}
