/**
 * The holders of slots, by the stored calls: those that were dialed or received and have not ended. Slots are counted in
 * Redis; where it has lost its entries, the counts are rebuilt from these.
 */
export interface SlotHolders {
  /** Calls, and transfers of calls, on this trunk. @see transferHolder */
  ofTrunk(projectId: string, trunkId: string): Promise<string[]>;
  ofProject(projectId: string): Promise<string[]>;
}

/** Each further leg of a call holds a channel of its own. @param index - Among them. */
export function transferHolder(callId: string, index = 0): string {
  return index === 0 ? `${callId}/transfer` : `${callId}/transfer/${index}`;
}
