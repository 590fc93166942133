import { tagOf } from '../message/fields/nameAddr.ts';
import type { SipRequest } from '../message/message.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { IncomingRequest, IncomingRequestTable, OutgoingRequest, OutgoingRequestTable } from './core.ts';
import { createsDialog } from './dialogs/dialogTable.ts';

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
      if (createsDialog(request)) beginnings.add(incoming.dialogId);
    },
    remove(incoming) {
      const { request } = incoming.transaction;
      if (!ids.delete(incoming.id)) return;
      transactions.delete(incoming.transaction);
      twins.delete(twinKey(request));
      if (createsDialog(request)) beginnings.remove(incoming.dialogId);
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
      if (createsDialog(outgoing.template)) beginnings.add(outgoing.dialogId);
    },
    remove(outgoing) {
      if (ids.delete(outgoing.id) && createsDialog(outgoing.template)) beginnings.remove(outgoing.dialogId);
    },
    byId: (id) => ids.get(id),
    createsDialog: (dialogId) => beginnings.has(dialogId),
    all: () => [...ids.values()],
  };
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
