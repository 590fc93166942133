import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { requireRecordingKey } from '../../../calls/recording/recordingStore.ts';

const ENDING = '.wav';

/** Where calls' recordings grow until they are whole and are given to the store. */
export interface WorkingFolder {
  /** @param callId - Without slashes. */
  pathOf(callId: string): string;
  /** Calls whose recordings lie here: those that run, and those that a former life of this node left. */
  callIds(): Promise<string[]>;
}

/** @param folder - Made when the first recording is. */
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
