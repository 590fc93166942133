/** What a project's outbound calls have used of a day's limits. */
export interface DailyUsage {
  readonly talkTimeMs: number;
  /** In millionths of the currency of its rates. @see costOf */
  readonly spentMillionths: number;
}

/** A project's calls, counted over all nodes. */
export interface ProjectUsage {
  /** Counts an accepted outbound call, unless it would exceed a limit. @returns The limit that is exhausted. */
  countCall(
    projectId: string,
    most: {
      readonly perMinute: number | null;
      readonly perHour: number | null;
      readonly talkedMsPerDay: number | null;
      readonly spentMillionthsPerDay: number | null;
    },
  ): Promise<
    { readonly what: 'rate' | 'minutes' | 'spending'; readonly retryAfterSeconds: number } | undefined
  >;
  /** Adds to what outbound calls have used today, in UTC. @returns The totals. */
  addUsage(projectId: string, more: DailyUsage): Promise<DailyUsage>;
  /** Takes one of the slots for simultaneous calls; a call that has a slot keeps it. */
  acquireSlot(projectId: string, callId: string, most: number): Promise<boolean>;
  renewSlot(projectId: string, callId: string): Promise<void>;
  releaseSlot(projectId: string, callId: string): Promise<void>;
}
