/**
 * The holders of slots, by the stored calls: those that were dialed or received and have not ended. Slots are counted in
 * Redis; where it has lost its entries, the counts are rebuilt from these.
 */
export interface SlotHolders {
  /** Calls, and transfers of calls, on this trunk. @see transferHolder */
  ofTrunk(projectId: string, trunkId: string): Promise<string[]>;
  ofProject(projectId: string): Promise<string[]>;
}

/** The second leg of a call holds a channel of its own. */
export function transferHolder(callId: string): string {
  return `${callId}/transfer`;
}
