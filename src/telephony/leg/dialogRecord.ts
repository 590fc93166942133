import type { SipHeaders } from '../../../sip/message/headers.ts';
import type { SipMessage } from '../../../sip/message/message.ts';
import { createPendingTasks } from '../../base/async/pendingTasks.ts';
import { retryForever } from '../../base/async/retryForever.ts';
import type { Clock } from '../../base/clock.ts';
import type { DialogStore, StoredDialog } from '../../calls/dialogStore.ts';
import { addressesOf } from '../sip/headerValues.ts';

export interface DialogRecordsDeps {
  readonly store: Pick<DialogStore, 'save' | 'remove'>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Our part of a stored dialog, which no message tells. */
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
    write(() => store.save(dialog));
    return {
      get dialog() {
        return current;
      },
      refreshTarget({ headers }) {
        const remoteTarget = targetOf(headers) ?? current.remoteTarget;
        if (remoteTarget === current.remoteTarget) return;
        const changed = { ...current, remoteTarget };
        current = changed;
        write(() => store.save(changed));
      },
      close: () => write(() => store.remove(dialog.dialogId)),
    };
  }

  /** Resolves when all is written. */
  settled(): Promise<void> {
    return this.#pending.settled();
  }
}

export interface DialogRecord {
  /** As it is now. */
  readonly dialog: StoredDialog;
  /** @param message - A request or response of the peer that may change its Contact. */
  refreshTarget(message: SipMessage): void;
  close(): void;
}

/** The dialog of our INVITE. @param response - Its 2xx. @see RFC 3261 section 12.1.2 */
export function dialogOfOutbound(owner: DialogOwner, { headers }: SipMessage): StoredDialog {
  return {
    ...owner,
    sipCallId: headers.get('call-id') ?? '',
    localAddress: headers.get('from') ?? '',
    remoteAddress: headers.get('to') ?? '',
    remoteTarget: targetOf(headers) ?? '',
    routeSet: headers.list('record-route').reverse(),
    localSequence: Number.parseInt(headers.get('cseq') ?? '', 10) || 0,
  };
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
    routeSet: invite.list('record-route'),
    localSequence: 0,
  };
}

function targetOf(headers: SipHeaders): string | undefined {
  return addressesOf(headers, 'contact')[0]?.uri;
}
