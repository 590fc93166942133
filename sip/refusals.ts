import type { SipRequest } from './message/message.ts';
import type { Flow } from './transport/types.ts';

/** An INVITE outside a dialog that the server has rejected itself; no application has seen it. */
export interface RefusedInvite {
  readonly status: number;
  readonly address: string;
  readonly port: number;
  /** The Request-URI; '' when it is unreadable. */
  readonly uri: string;
  /** Header values as on the wire, '' where one is missing. */
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  /** The number of requests that were rejected with this status. The other fields describe the first one. */
  readonly count: number;
}

export type ObserveRefusal = (request: SipRequest, status: number, flow: Flow) => void;

/** The interval of reports, the same as that of the tracer's batches. */
const BATCH_MS = 100;
/** A flood beyond it is counted by status, under the first of a batch. */
const MAX_BATCH = 50;
const MAX_HEADER_CHARACTERS = 256;
/** Matches the To tag of a request in a dialog. */
const TAG = /;\s*tag\s*=/i;

/** Collects refused INVITEs in batches; a flood costs a counter. */
export function createRefusalBatches(onBatch: (refused: RefusedInvite[]) => void): {
  readonly observe: ObserveRefusal;
  close(): void;
} {
  let batch: RefusedInvite[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const refused = batch;
    batch = [];
    if (refused.length > 0) onBatch(refused);
  };
  return {
    observe(request, status, { remote: { address, port } }) {
      const { method, uri, headers } = request;
      const read = (name: string) => (headers.get(name) ?? '').slice(0, MAX_HEADER_CHARACTERS);
      if (method !== 'INVITE' || TAG.test(headers.get('to') ?? '')) return;
      timer ??= setTimeout(flush, BATCH_MS).unref();
      const at = batch.length < MAX_BATCH ? -1 : batch.findIndex((one) => one.status === status);
      const first = batch[at];
      if (first) {
        batch[at] = { ...first, count: first.count + 1 };
        return;
      }
      batch.push({
        status,
        address,
        port,
        uri: uri.slice(0, MAX_HEADER_CHARACTERS),
        from: read('from'),
        to: read('to'),
        callId: read('call-id'),
        count: 1,
      });
    },
    close: flush,
  };
}
