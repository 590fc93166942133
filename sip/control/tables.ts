import { tagOf } from '../message/fields/nameAddr.ts';
import type { SipRequest } from '../message/message.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type {
  Core,
  Dialog,
  DialogTable,
  IncomingRequest,
  IncomingRequestTable,
  OutgoingRequest,
  OutgoingRequestTable,
} from './core.ts';

export function createIncomingRequestTable(): IncomingRequestTable {
  const ids = new Map<string, IncomingRequest>();
  const transactions = new Map<ServerTransaction, IncomingRequest>();
  const twins = new Set<string>();
  const beginnings = createTally();
  const twinKey = ({ headers }: SipRequest) =>
    `${headers.get('call-id')} ${tagOf(headers.get('from'))} ${headers.get('cseq')}`;
  return {
    get size() {
      return ids.size;
    },
    add(incoming) {
      const { request } = incoming.transaction;
      ids.set(incoming.id, incoming);
      transactions.set(incoming.transaction, incoming);
      twins.add(twinKey(request));
      if (isBeginning(request)) beginnings.add(incoming.dialogId);
    },
    remove(incoming) {
      const { request } = incoming.transaction;
      if (!ids.delete(incoming.id)) return;
      transactions.delete(incoming.transaction);
      twins.delete(twinKey(request));
      if (isBeginning(request)) beginnings.remove(incoming.dialogId);
    },
    byId: (id) => ids.get(id),
    byTransaction: (transaction) => transactions.get(transaction),
    hasMerged: (request) => twins.has(twinKey(request)),
    createsDialog: (dialogId) => beginnings.has(dialogId),
    ofApplication: (application) =>
      [...ids.values()].filter((incoming) => incoming.application === application),
    all: () => [...ids.values()],
  };
}

export function createOutgoingRequestTable(): OutgoingRequestTable {
  const ids = new Map<string, OutgoingRequest>();
  const beginnings = createTally();
  return {
    get size() {
      return ids.size;
    },
    add(outgoing) {
      ids.set(outgoing.id, outgoing);
      if (isBeginning(outgoing.template)) beginnings.add(outgoing.dialogId);
    },
    remove(outgoing) {
      if (ids.delete(outgoing.id) && isBeginning(outgoing.template)) beginnings.remove(outgoing.dialogId);
    },
    byId: (id) => ids.get(id),
    createsDialog: (dialogId) => beginnings.has(dialogId),
    all: () => [...ids.values()],
  };
}

export function createDialogTable(): DialogTable {
  const ids = new Map<string, Dialog>();
  const tags = new Map<string, Dialog>();
  /** The dialogs of each Call-ID; nearly always one. */
  const calls = new Map<string, Dialog[]>();
  const keyOf = (callId: string, localTag: string, remoteTag: string) => `${callId} ${localTag} ${remoteTag}`;
  const nameOf = ({ state }: Dialog) => keyOf(state.callId, state.localTag, state.remoteTag);
  return {
    get size() {
      return tags.size;
    },
    add(dialog) {
      const { callId } = dialog.state;
      ids.set(dialog.id, dialog);
      tags.set(nameOf(dialog), dialog);
      calls.set(callId, [
        ...(calls.get(callId) ?? []).filter((one) => nameOf(one) !== nameOf(dialog)),
        dialog,
      ]);
    },
    remove(dialog) {
      const { callId } = dialog.state;
      if (tags.get(nameOf(dialog)) !== dialog) return;
      tags.delete(nameOf(dialog));
      const others = (calls.get(callId) ?? []).filter((one) => one !== dialog);
      if (others.length === 0) calls.delete(callId);
      else calls.set(callId, others);
      if (ids.get(dialog.id) !== dialog) return;
      const namesake = others.findLast(({ id }) => id === dialog.id);
      if (namesake) ids.set(dialog.id, namesake);
      else ids.delete(dialog.id);
    },
    has: (dialog) => tags.get(nameOf(dialog)) === dialog,
    byId: (id) => ids.get(id),
    byTags: (callId, localTag, remoteTag) => tags.get(keyOf(callId, localTag, remoteTag)),
    ofCall: (callId) => calls.get(callId) ?? [],
    ofApplication: (application) => [...tags.values()].filter((dialog) => dialog.application === application),
    all: () => tags.values(),
  };
}

/**
 * The dialog id for the dialog that a request creates: Call-ID and From tag, as with drachtio-server. A suffix is added
 * only when another dialog has that id, as when a call comes back to us through a proxy.
 *
 * @returns '' when the request creates no dialog.
 */
export function assignDialogId(core: Core, role: Dialog['role'], request: SipRequest): string {
  if (!DIALOG_MAKERS.has(request.method)) return '';
  const usual = defaultDialogId(request);
  const others = role === 'uas' ? core.outgoingRequests : core.incomingRequests;
  const isTaken = core.dialogs.byId(usual) !== undefined || others.createsDialog(usual);
  return isTaken ? `${usual};${role}=${core.ids.token()}` : usual;
}

/** The dialog id that drachtio-server assigns. */
export function defaultDialogId({ headers }: SipRequest): string {
  return `${headers.get('call-id') ?? ''};from-tag=${tagOf(headers.get('from')) ?? ''}`;
}

const DIALOG_MAKERS = new Set(['INVITE', 'SUBSCRIBE']);

function isBeginning({ method, headers }: SipRequest): boolean {
  return DIALOG_MAKERS.has(method) && tagOf(headers.get('to')) === undefined;
}

/** A multiset: a member stays until it is removed as often as it was added. */
function createTally() {
  const counts = new Map<string, number>();
  return {
    has: (name: string) => counts.has(name),
    add(name: string): void {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    remove(name: string): void {
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    },
  };
}
