/** Accepted calls on their way to the node that dials them. */
export interface CallQueue {
  /** Idempotent per call. */
  add(callId: string, projectId: string): Promise<void>;
  /** Removes a job that no worker has started. */
  remove(callId: string): Promise<void>;
  /** Starts to process jobs. @param work - Resolves `again` with a delay when the call cannot be dialed yet. */
  process(work: (callId: string) => Promise<JobResult>, concurrency: number): Promise<QueueWorker>;
}

export type JobResult = { readonly done: true } | { readonly again: true; readonly afterMs: number };

export interface QueueWorker {
  /** Takes no more jobs; running ones continue. */
  pause(): Promise<void>;
  close(): Promise<void>;
}
