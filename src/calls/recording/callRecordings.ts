import { rm } from 'node:fs/promises';

import type { RecordingReport } from '../../media/mediaSession.ts';
import type { Call, RecordingResult } from '../call.ts';
import type { RecordingStore } from './recordingStore.ts';
import type { RecordingUrls } from './recordingUrls.ts';

export interface CallRecordingsDeps {
  readonly recordingStore: Pick<RecordingStore, 'save' | 'remove'>;
  readonly urls: Pick<RecordingUrls, 'sign'>;
  /** Path of the file that is recorded on this node. */
  readonly pathOf: (callId: string) => string;
  /** Of a file whose writer may have been killed; undefined when it is missing or empty. */
  readonly fileDurationMs: (path: string) => Promise<number | undefined>;
  /** Of a stored recording; undefined when there is none. */
  readonly storedDurationMs: (key: string) => Promise<number | undefined>;
  readonly onError: (error: unknown, what: string) => void;
}

/** The recordings of calls, from the file on the node to the recording store. */
export class CallRecordings {
  readonly #deps: CallRecordingsDeps;

  constructor(deps: CallRecordingsDeps) {
    this.#deps = deps;
  }

  /** Path of a running call's recording on this node. */
  readonly workingPath = ({ id }: Pick<Call, 'id'>): string => this.#deps.pathOf(id);

  /** A signed URL, which needs no API key. */
  url(key: string): string {
    return this.#deps.urls.sign(key);
  }

  /** Moves a finished recording into the store. Never rejects. @param report - Undefined when it was never started. */
  async store(call: Call, report: RecordingReport | undefined): Promise<RecordingResult> {
    const { recordingStore, onError } = this.#deps;
    if (!report) return failed('The recording could not be started');
    if (report.error !== undefined) {
      await rm(report.path, { force: true }).catch((error: unknown) =>
        onError(error, 'incomplete recording not removed'),
      );
      return failed('The recording could not be completed');
    }
    const key = recordingKey(call);
    try {
      await recordingStore.save(report.path, key);
      return { status: 'ready', key, durationMs: report.durationMs, error: null };
    } catch (error) {
      onError(error, 'recording not stored');
      return failed('The recording could not be stored');
    }
  }

  /** Stores what is left of the recording of a call whose node failed. Never rejects. */
  async recover(call: Call): Promise<RecordingResult> {
    const { recordingStore, fileDurationMs, storedDurationMs, onError } = this.#deps;
    const path = this.workingPath(call);
    const key = recordingKey(call);
    try {
      const fileMs = await fileDurationMs(path);
      if (fileMs !== undefined) await recordingStore.save(path, key);
      // The node may have failed just after it had stored the recording.
      const durationMs = fileMs ?? (await storedDurationMs(key));
      if (durationMs === undefined) return failed('The node that recorded it failed');
      return { status: 'ready', key, durationMs, error: null };
    } catch (error) {
      onError(error, 'recording not recovered');
      return failed('The recovered recording could not be stored');
    }
  }

  /** Idempotent. */
  remove(key: string): Promise<void> {
    return this.#deps.recordingStore.remove(key);
  }
}

const recordingKey = ({ projectId, id }: Call): string => `${projectId}/${id}.wav`;

function failed(error: string): RecordingResult {
  return { status: 'failed', key: null, durationMs: null, error };
}
