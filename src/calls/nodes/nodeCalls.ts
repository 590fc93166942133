import type { HistoryStore } from '../../engine/history/historyStore.ts';
import type { HistoryEvent } from '../../engine/session/session.ts';
import type { RecordingReport } from '../../media/mediaSession.ts';
import { type Call, type CallChange, expectsRecording, isFinal } from '../call.ts';
import type { CallStore } from '../callStore.ts';
import type { NodeCapacity } from '../limits/nodeCapacity.ts';
import type { CallRecordings } from '../recording/callRecordings.ts';
import type { CallEnd, CallFinisher } from '../runner/callFinisher.ts';

export interface NodeCallsDeps {
  readonly nodeId: string;
  readonly capacity: NodeCapacity;
  readonly calls: CallStore;
  readonly history: HistoryStore;
  readonly recordings: CallRecordings;
  readonly finisher: CallFinisher;
}

/** The calls of this node. What is stored of one that another node has taken over is left unchanged. */
export class NodeCalls {
  readonly nodeId: string;
  readonly #deps: NodeCallsDeps;

  constructor(deps: NodeCallsDeps) {
    this.#deps = deps;
    this.nodeId = deps.nodeId;
  }

  /** Takes a place for a call. @returns False when the node is full. */
  enter(callId: string): boolean {
    return this.#deps.capacity.acquire(callId);
  }

  /** The call has ended, or does not start. Idempotent. */
  leave(callId: string): void {
    this.#deps.capacity.release(callId);
  }

  /** @see CallStore.insert */
  readonly insert: CallStore['insert'] = (...args) => this.#deps.calls.insert(...args);

  /** @returns The changed call; undefined when this node no longer runs it. */
  update({ id }: Call, change: CallChange, event?: HistoryEvent): Promise<Call | undefined> {
    return this.#deps.calls.update(id, this.nodeId, change, event);
  }

  addEvent({ instanceId }: Call, event: HistoryEvent): Promise<void> {
    return this.#deps.history.addEvents(instanceId, [event]);
  }

  /** Why a running call must be hung up, by what is stored of it; undefined while it may go on. */
  async hangupReason({ projectId, id }: Call): Promise<'node_lost' | 'api_hangup' | undefined> {
    const stored = await this.#deps.calls.find(projectId, id);
    if (stored?.nodeId !== this.nodeId || isFinal(stored.status)) return 'node_lost';
    return stored.hangupRequested ? 'api_hangup' : undefined;
  }

  /** Path of a running call's recording on this node. */
  recordingPath(call: Call): string {
    return this.#deps.recordings.workingPath(call);
  }

  /** Ends a call, and stores its recording where it has one. May be repeated. */
  async end(call: Call, end: CallEnd, recording?: RecordingReport): Promise<void> {
    const { finisher, recordings } = this.#deps;
    const ended = await finisher.finish(call, this.nodeId, end);
    if (!ended || !expectsRecording(ended)) return;
    await finisher.completeRecording(call, await recordings.store(call, recording));
  }
}
