import { isDeepStrictEqual } from 'node:util';
import type { SipHeaders } from '../../../sip/message/headers.ts';
import type { SipMessage } from '../../../sip/message/message.ts';
import { createPendingTasks } from '../../base/async/pendingTasks.ts';
import { retryForever } from '../../base/async/retryForever.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { DialogStore, StoredDialog } from '../../calls/dialogStore.ts';
import { addressesOf } from '../sip/headerValues.ts';

export interface DialogRecordsDeps {
  readonly store: DialogStore;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Our part of a stored dialog, which is in no message. */
export type DialogOwner = Pick<StoredDialog, 'dialogId' | 'callId' | 'trunkId'>;

/** Keeps the dialogs of this node's legs in the database, so that another node can end them. */
export class DialogRecords {
  readonly #deps: DialogRecordsDeps;
  readonly #pending = createPendingTasks();

  constructor(deps: DialogRecordsDeps) {
    this.#deps = deps;
  }

  /** Stores a dialog, and its changes until it ends. Writes are in order, each until it succeeds. */
  open(dialog: StoredDialog): DialogRecord {
    const { store, clock, onError } = this.#deps;
    let last: Promise<unknown> = Promise.resolve();
    const write = (work: () => Promise<void>) => {
      const what = 'SIP dialog not stored, retrying';
      last = this.#pending.add(last.then(() => retryForever(clock, work, (error) => onError(error, what))));
    };
    let current = dialog;
    const replace = (changed: StoredDialog) => {
      if (isDeepStrictEqual(changed, current)) return;
      current = changed;
      write(() => store.save(changed));
    };
    write(() => store.save(dialog));
    return {
      get dialog() {
        return current;
      },
      replace,
      refreshTarget({ headers }) {
        const remoteTarget = targetOf(headers) ?? current.remoteTarget;
        if (remoteTarget !== current.remoteTarget) replace({ ...current, remoteTarget });
      },
      close: () => write(() => store.remove(dialog.dialogId)),
    };
  }

  /** Resolves when all records are written. */
  settled(): Promise<void> {
    return this.#pending.settled();
  }
}

export interface DialogRecord {
  /** The dialog's current state. */
  readonly dialog: StoredDialog;
  /** The peer's 2xx replaces what its 180 said. */
  replace(dialog: StoredDialog): void;
  /** @param message - A request or response of the peer that may change its Contact. */
  refreshTarget(message: SipMessage): void;
  close(): void;
}

/**
 * The dialog of our INVITE.
 *
 * @param response - Its 2xx, or a provisional one with a To tag.
 * @see RFC 3261 section 12.1.2
 */
export function dialogOfOutbound(owner: DialogOwner, { headers }: SipMessage): StoredDialog {
  return {
    ...owner,
    sipCallId: headers.get('call-id') ?? '',
    localAddress: headers.get('from') ?? '',
    remoteAddress: headers.get('to') ?? '',
    remoteTarget: targetOf(headers) ?? '',
    routeSet: headers.addresses('record-route').reverse(),
    localSequence: Number.parseInt(headers.get('cseq') ?? '', 10) || 0,
  };
}

/**
 * Returns true when a provisional response has the fields that a request in its early dialog needs. @see RFC 3261
 * sections 12.1 and 15
 */
export function beginsDialog({ headers }: SipMessage): boolean {
  return targetOf(headers) !== undefined && addressesOf(headers, 'to')[0]?.params.has('tag') === true;
}

/** The dialog of the peer's INVITE. @param response - Our 200, as sent. @see RFC 3261 section 12.1.1 */
export function dialogOfInbound(
  owner: DialogOwner,
  { headers: invite }: SipMessage,
  { headers: response }: SipMessage,
): StoredDialog {
  return {
    ...owner,
    sipCallId: invite.get('call-id') ?? '',
    localAddress: response.get('to') ?? '',
    remoteAddress: invite.get('from') ?? '',
    remoteTarget: targetOf(invite) ?? '',
    routeSet: invite.addresses('record-route'),
    localSequence: 0,
  };
}

function targetOf(headers: SipHeaders): string | undefined {
  return addressesOf(headers, 'contact')[0]?.uri;
}
