import type { SipRequest } from '../message/message.ts';
import { tagOf } from '../message/nameAddr.ts';
import type { ServerTransaction } from '../transaction/server.ts';
import type { Hub, Leg, Legs, Pending, PendingBook, Sent, SentBook } from './hub.ts';

export function createPendingBook(): PendingBook {
  const ids = new Map<string, Pending>();
  const transactions = new Map<ServerTransaction, Pending>();
  const twins = new Set<string>();
  const beginnings = createTally();
  const twinKey = ({ headers }: SipRequest) =>
    `${headers.get('call-id')} ${tagOf(headers.get('from'))} ${headers.get('cseq')}`;
  return {
    get size() {
      return ids.size;
    },
    add(pending) {
      const { request } = pending.transaction;
      ids.set(pending.id, pending);
      transactions.set(pending.transaction, pending);
      twins.add(twinKey(request));
      if (isBeginning(request)) beginnings.add(pending.dialogId);
    },
    remove(pending) {
      const { request } = pending.transaction;
      if (!ids.delete(pending.id)) return;
      transactions.delete(pending.transaction);
      twins.delete(twinKey(request));
      if (isBeginning(request)) beginnings.remove(pending.dialogId);
    },
    byId: (id) => ids.get(id),
    byTransaction: (transaction) => transactions.get(transaction),
    hasTwin: (request) => twins.has(twinKey(request)),
    begins: (dialogId) => beginnings.has(dialogId),
    ofOwner: (owner) => [...ids.values()].filter((pending) => pending.owner === owner),
    all: () => [...ids.values()],
  };
}

export function createSentBook(): SentBook {
  const ids = new Map<string, Sent>();
  const beginnings = createTally();
  return {
    get size() {
      return ids.size;
    },
    add(sent) {
      ids.set(sent.id, sent);
      if (isBeginning(sent.template)) beginnings.add(sent.dialogId);
    },
    remove(sent) {
      if (ids.delete(sent.id) && isBeginning(sent.template)) beginnings.remove(sent.dialogId);
    },
    byId: (id) => ids.get(id),
    begins: (dialogId) => beginnings.has(dialogId),
    all: () => [...ids.values()],
  };
}

export function createLegs(): Legs {
  const ids = new Map<string, Leg>();
  const tags = new Map<string, Leg>();
  /** The local tags and names that a Call-ID has; nearly always one. */
  const calls = new Map<string, Leg[]>();
  const keyOf = (callId: string, localTag: string, remoteTag: string) => `${callId} ${localTag} ${remoteTag}`;
  const nameOf = ({ dialog }: Leg) => keyOf(dialog.callId, dialog.localTag, dialog.remoteTag);
  return {
    get size() {
      return tags.size;
    },
    add(leg) {
      const { callId } = leg.dialog;
      ids.set(leg.id, leg);
      tags.set(nameOf(leg), leg);
      calls.set(callId, [...(calls.get(callId) ?? []).filter((one) => nameOf(one) !== nameOf(leg)), leg]);
    },
    remove(leg) {
      const { callId } = leg.dialog;
      if (tags.get(nameOf(leg)) !== leg) return;
      tags.delete(nameOf(leg));
      const others = (calls.get(callId) ?? []).filter((one) => one !== leg);
      if (others.length === 0) calls.delete(callId);
      else calls.set(callId, others);
      if (ids.get(leg.id) !== leg) return;
      const namesake = others.findLast(({ id }) => id === leg.id);
      if (namesake) ids.set(leg.id, namesake);
      else ids.delete(leg.id);
    },
    has: (leg) => tags.get(nameOf(leg)) === leg,
    byId: (id) => ids.get(id),
    byTags: (callId, localTag, remoteTag) => tags.get(keyOf(callId, localTag, remoteTag)),
    ofCall: (callId) => calls.get(callId) ?? [],
    ofOwner: (owner) => [...tags.values()].filter((leg) => leg.owner === owner),
    all: () => tags.values(),
  };
}

/**
 * What applications are to call the dialog that a request begins: Call-ID and From tag, as with drachtio-server. Only
 * where that means another dialog already is more added, as in a call that comes back to us over a proxy.
 *
 * @returns '' when the request begins none.
 */
export function nameDialog(hub: Hub, role: Leg['role'], request: SipRequest): string {
  if (!DIALOG_MAKERS.has(request.method)) return '';
  const usual = usualDialogId(request);
  const others = role === 'uas' ? hub.sent : hub.pending;
  const isTaken = hub.legs.byId(usual) !== undefined || others.begins(usual);
  return isTaken ? `${usual};${role}=${hub.ids.token()}` : usual;
}

/** What drachtio-server calls the dialog that a request begins. */
export function usualDialogId({ headers }: SipRequest): string {
  return `${headers.get('call-id') ?? ''};from-tag=${tagOf(headers.get('from')) ?? ''}`;
}

const DIALOG_MAKERS = new Set(['INVITE', 'SUBSCRIBE']);

function isBeginning({ method, headers }: SipRequest): boolean {
  return DIALOG_MAKERS.has(method) && tagOf(headers.get('to')) === undefined;
}

/** A set whose members go when they were removed as often as they were added. */
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
