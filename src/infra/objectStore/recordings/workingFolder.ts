import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { requireRecordingKey } from '../../../calls/recording/recordingStore.ts';

const ENDING = '.wav';

/** Recordings of running calls, before they are moved to the store. */
export interface WorkingFolder {
  /** @param callId - The call's id, which has no slashes. */
  pathOf(callId: string): string;
  /** Calls with a file here: running ones, and those of a previous run of this node. */
  callIds(): Promise<string[]>;
}

/** @param folder - The folder, which is created with the first recording. */
export function createWorkingFolder(folder: string): WorkingFolder {
  return {
    pathOf(callId) {
      requireRecordingKey(callId);
      return join(folder, basename(callId) + ENDING);
    },
    async callIds() {
      const names = await readdir(folder).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
        throw error;
      });
      return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
    },
  };
}
