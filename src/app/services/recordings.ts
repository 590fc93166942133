import { join } from 'node:path';
import { requireQuota } from '../../agents/accounts/quotas.ts';
import { storedRecording } from '../../calls/call.ts';
import type { CallRequests } from '../../calls/nodes/callRequests.ts';
import type { NodeBus } from '../../calls/nodes/nodeBus.ts';
import { CallRecordings, callOfRecording } from '../../calls/recording/callRecordings.ts';
import { offerRecordings } from '../../calls/recording/offerRecordings.ts';
import type { RecordingReader, RecordingStore } from '../../calls/recording/recordingStore.ts';
import { createRecordingUrls, type RecordingUrls } from '../../calls/recording/recordingUrls.ts';
import { bucketRecordings } from '../../infra/objectStore/recordings/bucketRecordings.ts';
import { localRecordings } from '../../infra/objectStore/recordings/localRecordings.ts';
import { nodeRecordings } from '../../infra/objectStore/recordings/nodeRecordings.ts';
import { storedRecordingLength } from '../../infra/objectStore/recordings/recordingLength.ts';
import { createWorkingFolder } from '../../infra/objectStore/recordings/workingFolder.ts';
import { completeRecording } from '../../media/recording/recordingFile.ts';
import type { NodeContext } from '../node/node.ts';

export interface BuiltRecordings {
  readonly store: RecordingStore;
  readonly urls: RecordingUrls;
  readonly calls: CallRecordings;
  /** The recordings of all nodes. */
  shared(requests: CallRequests): RecordingReader;
  /** Answers other nodes that look for a recording of this one. @returns Stops it. */
  offer(bus: NodeBus): () => void;
}

/** Recordings in the configured bucket, or in the data folder. */
export function buildRecordings(node: NodeContext): BuiltRecordings {
  const { config, bucket, storage, secretsKey, publicUrl, nodeUrl, clock, onError } = node;
  const store = bucket ? bucketRecordings(bucket) : localRecordings(join(config.DATA_DIR, 'recordings'));
  const urlsAt = (baseUrl: () => string) =>
    createRecordingUrls({
      secretsKey,
      previousKeys: config.SECRETS_KEY_PREVIOUS,
      publicUrl: baseUrl,
      now: clock.now,
    });
  const urls = urlsAt(publicUrl);
  const working = createWorkingFolder(join(config.DATA_DIR, 'recordings-in-progress'));
  const calls = new CallRecordings({
    recordingStore: store,
    removals: storage.stores.recordingRemovals,
    urls,
    pathOf: working.pathOf,
    workingCallIds: working.callIds,
    completeFile: completeRecording,
    storedLength: (key) => storedRecordingLength(store, key),
    requireRoom: (projectId, bytes) => requireQuota(storage.stores, projectId, 'storedBytes', bytes),
    onError,
  });
  return {
    store,
    urls,
    calls,
    shared(requests) {
      if (bucket) return store;
      const isKept = async (key: string) => {
        const { projectId, id } = callOfRecording(key);
        const call = await storage.stores.calls.find(projectId, id);
        return call !== undefined && storedRecording(call)?.key === key;
      };
      return nodeRecordings({ local: store, isKept, locate: (key) => requests.locateRecording(key), clock });
    },
    offer: (bus) =>
      bucket ? () => {} : offerRecordings({ bus, store, sign: urlsAt(nodeUrl).sign, onError }),
  };
}
