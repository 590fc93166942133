/** How much work a node can take. */
export interface ClaimCapacity {
  /** Most rows that are claimed now. */
  readonly rows: number;
  /** Most rows of a project that runs nothing here. */
  readonly perProject: number;
  /** Most rows of the projects that run something here. */
  readonly leftByProject: ReadonlyMap<string, number>;
}

export interface ClaimedWork {
  readonly id: string;
  readonly projectId: string;
}

/** The result of a claim. */
export interface Claim {
  /** The longest overdue first. */
  readonly claimed: readonly ClaimedWork[];
  /** The time at which the next row is due after now; null where there is none. */
  readonly nextDueAt: Date | null;
}

/** The rows of a kind of work. Its table has the columns `project_id` and `next_at`, the time when a row is due. */
export interface DueWork {
  /** Claims due work for this node, within the capacity: no other node gets it before `until`. */
  claimDue(now: Date, until: Date, capacity: ClaimCapacity): Promise<Claim>;
}

/** Work whose rows say in the column `claim_id` who has claimed them, so that a claim can be renewed and lost. */
export interface LeasedWork extends DueWork {
  /** Extends the claims of this node. @returns The ids that it still has. */
  renew(ids: readonly string[], until: Date): Promise<ReadonlySet<string>>;
  /** Ends a claim of this node. @param nextAt - The time when the work is due again; null when it is done. */
  settle(id: string, nextAt: Date | null): Promise<void>;
}

/** Tells a node that runs this kind of work that a row is due. Never fails: the node's poll finds the row within a second. */
export type WakeWork = (workId: string) => Promise<void>;

/** Work that is not done yet. */
export interface Again {
  /** The delay until any node continues it, behind what is due by then. */
  readonly afterMs: number;
}

/** Number of rows by state: due, due later, claimed. */
export interface WorkDepth {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
}
