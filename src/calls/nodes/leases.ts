/** A named task that exactly one node does at a time. */
export interface Leases {
  /** @returns True when this node holds the lease for another `leaseMs`. */
  hold(name: string, leaseMs: number): Promise<boolean>;
  release(name: string): Promise<void>;
}
