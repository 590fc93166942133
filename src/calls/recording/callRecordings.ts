import { rm } from 'node:fs/promises';
import { CallwayError } from '../../base/errors.ts';
import { isUuid } from '../../base/values/ids.ts';
import type { RecordingReport } from '../../media/mediaSession.ts';
import { type Removals, removeDueFiles, removeFile } from '../../work/removals.ts';
import type { Call, CallKey, RecordingResult } from '../call.ts';
import type { RecordingLength, RecordingStore } from './recordingStore.ts';
import type { RecordingUrls } from './recordingUrls.ts';

export interface CallRecordingsDeps {
  readonly recordingStore: RecordingStore;
  /** Recordings whose calls were removed, by retention or with their project. */
  readonly removals: Removals;
  readonly urls: RecordingUrls;
  /** Path of the file that is recorded on this node. */
  readonly pathOf: (callId: string) => string;
  /** Calls with a file on this node. */
  readonly workingCallIds: () => Promise<string[]>;
  /** Completes a file whose writer may have been killed; undefined when it is missing or empty. */
  readonly completeFile: (path: string) => Promise<RecordingLength | undefined>;
  /** Returns the length of a stored recording; undefined when there is none. */
  readonly storedLength: (key: string) => Promise<RecordingLength | undefined>;
  /** @throws {CallwayError} `quota_exceeded` when the project may not store as much. */
  readonly requireRoom: (projectId: string, bytes: number) => Promise<void>;
  readonly onError: (error: unknown, what: string) => void;
}

/** The recordings of calls, from the file on the node to the recording store. */
export class CallRecordings {
  readonly #deps: CallRecordingsDeps;

  constructor(deps: CallRecordingsDeps) {
    this.#deps = deps;
  }

  /** Path of a running call's recording on this node. */
  readonly workingPath = ({ id }: { readonly id: string }): string => this.#deps.pathOf(id);

  /** A signed URL, which needs no API key. */
  url(key: string): string {
    return this.#deps.urls.sign(key);
  }

  /** Moves a finished recording into the store. Never rejects. @param report - Undefined when it was never started. */
  async store(call: Call, report: RecordingReport | undefined): Promise<RecordingResult> {
    const { onError } = this.#deps;
    if (!report) return failed('The recording could not be started');
    const { path, durationMs, lengthBytes: bytes, startedAtMs } = report;
    if (report.error !== undefined) {
      await this.#discard(path);
      return failed('The recording could not be completed');
    }
    try {
      const stored = await this.#save(call, path, { durationMs, bytes });
      if (stored.status !== 'ready' || startedAtMs === undefined) return stored;
      return { ...stored, startedAt: new Date(startedAtMs).toISOString() };
    } catch (error) {
      onError(error, 'recording not stored');
      return failed('The recording could not be stored');
    }
  }

  /** Stores what is left of the recording of a call whose node failed. Never rejects. */
  async recover(call: Call): Promise<RecordingResult> {
    const { completeFile, storedLength, onError } = this.#deps;
    const path = this.workingPath(call);
    const key = recordingKey(call);
    try {
      const length = await completeFile(path);
      if (length) return await this.#save(call, path, length);
      // The node may have failed just after it had stored the recording.
      const stored = await storedLength(key);
      return stored
        ? { status: 'ready', key, ...stored, error: null }
        : failed('The node that recorded it failed');
    } catch (error) {
      onError(error, 'recording not recovered');
      return failed('The recovered recording could not be stored');
    }
  }

  /**
   * Removes recordings on this node whose call was removed, such as those that could not be stored.
   *
   * @param existing - Returns the ids that belong to existing calls.
   */
  async removeOrphans(existing: (ids: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    const ids = (await this.#deps.workingCallIds()).filter(isUuid);
    const known = await existing(ids);
    for (const id of ids) if (!known.has(id)) await this.removeWorkingFile({ id });
  }

  /** Removes what is left on this node of a call that is gone. Idempotent. */
  async removeWorkingFile(call: { readonly id: string }): Promise<void> {
    await rm(this.workingPath(call), { force: true });
  }

  /**
   * Removes the recording of a call that is gone. It stays on the list of removals for the node that has its file.
   * Idempotent.
   */
  async remove(key: string): Promise<void> {
    const { removals, recordingStore } = this.#deps;
    await removeFile(removals, key, (file) => recordingStore.remove(file));
  }

  /** Removes the recordings on the list of removals that are in this node's reach. */
  async removeDue(signal: AbortSignal): Promise<void> {
    const { removals, recordingStore, onError } = this.#deps;
    const remove = (key: string) => recordingStore.remove(key);
    const failed = (error: unknown) => onError(error, 'recording not removed, retrying');
    await removeDueFiles(removals, remove, failed, signal);
  }

  /** Stores a file, unless the project's quota is used up. */
  async #save(call: Call, path: string, length: RecordingLength): Promise<RecordingResult> {
    const { recordingStore, requireRoom, onError } = this.#deps;
    const key = recordingKey(call);
    try {
      await requireRoom(call.projectId, length.bytes);
    } catch (error) {
      onError(error, 'quota of a recording');
      if (error instanceof CallwayError && error.code === 'quota_exceeded') {
        await this.#discard(path);
        return failed(error.message);
      }
    }
    await recordingStore.save(path, key);
    return { status: 'ready', key, ...length, error: null };
  }

  async #discard(path: string): Promise<void> {
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#deps.onError(error, 'incomplete recording not removed'),
    );
  }
}

/** @param key - The key in a call's recording. */
export function callOfRecording(key: string): CallKey {
  const [projectId = '', id = ''] = key.replace(/\.wav$/, '').split('/');
  return { projectId, id };
}

const recordingKey = ({ projectId, id }: Call): string => `${projectId}/${id}.wav`;

function failed(error: string): RecordingResult {
  return { status: 'failed', key: null, durationMs: null, error };
}
