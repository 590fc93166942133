import { repeat } from '../../base/async/repeat.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { DialogStore, StoredDialog } from '../../calls/dialogStore.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { ReceivedResponse } from '../control/connection.ts';
import type { SipControl } from '../control/control.ts';
import { createAuthenticator } from '../sip/authenticator.ts';
import { readAddress } from '../sip/headerValues.ts';
import { formatQ850, Q850 } from '../sip/q850.ts';
import { credentialsOf, routeOf, trunkUri } from '../trunks/addressing.ts';

export interface LostDialogsDeps {
  readonly store: DialogStore;
  readonly control: SipControl;
  readonly directory: { readonly trunks: readonly Trunk[] };
  readonly clock: Clock;
  /** Returns unguessable hexadecimal text. */
  readonly makeToken: () => string;
  readonly onEnded: (dialog: StoredDialog, status: number) => void;
  readonly onError: (error: unknown, what: string) => void;
}

const SWEEP_MS = 5_000;
const BATCH = 50;
/** Above every CSeq that the failed node may have sent; a gap is allowed. @see RFC 3261 section 12.2.2 */
const SEQUENCE_GAP = 100_000;
const REASON = formatQ850({ q850Cause: Q850.temporaryFailure, text: 'The node of this call failed' });

/**
 * Sends BYE for the calls of failed nodes: their carrier would keep them until its session timer expires.
 *
 * @returns A function that stops it and waits for the current sweep; idempotent.
 */
export function endLostDialogs(deps: LostDialogsDeps): () => Promise<void> {
  const sweep = async () => {
    if (!deps.control.isConnected) return;
    for (const dialog of await deps.store.takeLost(BATCH)) {
      const end = async () => deps.onEnded(dialog, await sendBye(deps, dialog));
      await end().catch((error: unknown) => deps.onError(error, 'BYE for a call of a failed node not sent'));
    }
  };
  return repeat(deps.clock, SWEEP_MS, sweep, (error) => deps.onError(error, 'lost dialogs not read'), 0);
}

/** Sends BYE by the dialog's route; when no peer answers there, over the call's trunk. @returns The final status. */
async function sendBye(deps: LostDialogsDeps, dialog: StoredDialog): Promise<number> {
  const trunk = deps.directory.trunks.find(({ id }) => id === dialog.trunkId);
  const nextHop = readAddress(dialog.routeSet[0] ?? '')?.uri;
  const overTrunk = trunk && (routeOf(trunk) ?? trunkUri(trunk));
  const attempt = (route: string | undefined) => requestBye(deps, dialog, trunk, route);
  try {
    const response = await attempt(nextHop);
    if (response.isFromPeer || overTrunk === undefined) return response.message.status;
  } catch (error) {
    if (overTrunk === undefined) throw error;
  }
  return (await attempt(overTrunk)).message.status;
}

function requestBye(
  { control, makeToken }: LostDialogsDeps,
  dialog: StoredDialog,
  trunk: Trunk | undefined,
  route: string | undefined,
): Promise<ReceivedResponse> {
  const authenticator = createAuthenticator(trunk && credentialsOf(trunk), makeToken);
  return new Promise((resolve, reject) => {
    const send = (credentials: Readonly<Record<string, string>>, sequence: number) => {
      const headers = {
        'Call-ID': dialog.sipCallId,
        From: dialog.localAddress,
        To: dialog.remoteAddress,
        CSeq: `${sequence} BYE`,
        Reason: REASON,
        ...(dialog.routeSet.length > 0 ? { Route: dialog.routeSet.join(', ') } : {}),
        ...credentials,
      };
      const onResponse = (response: ReceivedResponse) => {
        const { status } = response.message;
        if (status < 200) return;
        const isChallenge = status === 401 || status === 407;
        const request = { method: 'BYE', uri: dialog.remoteTarget, body: '' };
        const answer = isChallenge ? authenticator.answer(response.message, request) : undefined;
        if (answer) send(answer, sequence + 1);
        else resolve(response);
      };
      const onConnectionLost = (reason: string) => reject(new Error(reason));
      const request = { method: 'BYE', uri: dialog.remoteTarget, headers, route };
      control.request(request, { onResponse, onConnectionLost }).catch(reject);
    };
    send({}, dialog.localSequence + SEQUENCE_GAP);
  });
}
