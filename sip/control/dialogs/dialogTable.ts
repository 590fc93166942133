import { tagOf } from '../../message/fields/nameAddr.ts';
import type { SipRequest } from '../../message/message.ts';
import type { Core, Dialog, DialogTable } from '../core.ts';

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

/** Returns true when a request creates a dialog. */
export function createsDialog({ method, headers }: SipRequest): boolean {
  return DIALOG_MAKERS.has(method) && tagOf(headers.get('to')) === undefined;
}

const DIALOG_MAKERS = new Set(['INVITE', 'SUBSCRIBE']);
