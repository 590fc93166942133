import type { NodeBus } from '../nodes/nodeBus.ts';
import type { RecordingStore } from './recordingStore.ts';

export interface RecordingOffers {
  readonly bus: NodeBus;
  /** The recording store of this node. */
  readonly store: RecordingStore;
  /** @returns A signed URL at this node. */
  readonly sign: (key: string) => string;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Answers other nodes that look for a recording: the node that has it answers with a URL, the others do not answer.
 *
 * @returns A function that stops it.
 */
export function offerRecordings({ bus, store, sign, onError }: RecordingOffers): () => void {
  const offer = async (key: string, requestId: string) => {
    const recording = await store.open(key);
    if (!recording) return;
    recording.stream.destroy();
    await bus.publish({ kind: 'call_response', requestId, response: { answer: sign(key) } });
  };
  return bus.subscribe((message) => {
    if (message.kind !== 'recording_request') return;
    offer(message.key, message.requestId).catch((error: unknown) =>
      onError(error, 'request for a recording not answered'),
    );
  });
}
