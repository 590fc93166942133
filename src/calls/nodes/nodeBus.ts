import type { MediaQuality } from '../../media/mediaQuality.ts';

/** Short messages between nodes. They may be lost; what must not be lost is in the database as well. */
export interface NodeBus {
  publish(message: NodeMessage): Promise<void>;
  subscribe(listener: (message: NodeMessage) => void): () => void;
}

export type NodeMessage =
  /** A trunk or a phone number was changed. */
  | { readonly kind: 'trunks' }
  /** Commands of the API to the node that runs the call. */
  | { readonly kind: 'hangup'; readonly callId: string }
  | {
      readonly kind: 'transfer';
      readonly callId: string;
      readonly to: string;
      readonly options?: Readonly<Record<string, unknown>> | undefined;
    }
  /** Asks the node that runs the call; it answers with `quality`. */
  | { readonly kind: 'read_quality'; readonly callId: string; readonly requestId: string }
  | { readonly kind: 'quality'; readonly requestId: string; readonly quality: MediaQuality | null };

/** Never rejects: nodes also read the trunks regularly. */
export async function notifyTrunksChanged(
  bus: Pick<NodeBus, 'publish'>,
  onError: (error: unknown, what: string) => void,
): Promise<void> {
  await bus.publish({ kind: 'trunks' }).catch((error: unknown) => {
    onError(error, 'trunk change not published, nodes read it later');
  });
}
