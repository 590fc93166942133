import type { CallRequest, CallResponse } from './callRequest.ts';

/** Short messages between nodes. They may be lost; what must not be lost is in the database as well. */
export interface NodeBus {
  publish(message: NodeMessage): Promise<void>;
  subscribe(listener: (message: NodeMessage) => void): () => void;
}

export type NodeMessage =
  /** A trunk or a phone number was changed. */
  | { readonly kind: 'trunks' }
  /** A command of the API to the node that runs the call. */
  | { readonly kind: 'hangup'; readonly callId: string }
  /** Asks the node that runs the call; it answers with `call_response`. */
  | {
      readonly kind: 'call_request';
      readonly callId: string;
      readonly requestId: string;
      readonly request: CallRequest;
    }
  | { readonly kind: 'call_response'; readonly requestId: string; readonly response: CallResponse }
  /** Asks the node that has this recording; it answers with `call_response` and a signed URL. */
  | { readonly kind: 'recording_request'; readonly key: string; readonly requestId: string };

/** Notifies the other nodes. It never rejects, since nodes also read the trunks regularly. */
export async function notifyTrunksChanged(
  bus: NodeBus,
  onError: (error: unknown, what: string) => void,
): Promise<void> {
  await bus.publish({ kind: 'trunks' }).catch((error: unknown) => {
    onError(error, 'trunk change not published, nodes read it later');
  });
}
