import { unbracketed } from '../../../sip/message/fields/uri.ts';
import { classifyAddress } from '../../http/address.ts';
import { readUri } from '../sip/headerValues.ts';
import { type OutgoingRequest, RequestRefusedError } from './connection.ts';
import type { SipControl } from './control.ts';

export interface PublicTargetsDeps {
  /** Resolves all addresses of a host name. @throws When it has none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Returns true for addresses that may be private. */
  readonly isPrivatePeer: (address: string) => boolean;
}

/**
 * Limits the requests outside of calls (INVITE, REGISTER, OPTIONS) to public addresses, since a drachtio-server sends
 * them anywhere. Each request is checked after DNS. The server resolves the name once more, so a name that changes in
 * between is not noticed. The server's network must therefore be restricted too.
 */
export function publicTargetsOnly(control: SipControl, deps: PublicTargetsDeps): SipControl {
  return {
    get isConnected() {
      return control.isConnected;
    },
    events: control.events,
    async request(request, handlers) {
      await requirePublicTarget(request, deps);
      return await control.request(request, handlers);
    },
    requestWhenConnected: (request) => control.requestWhenConnected(request),
    onDialogRequest: (dialogId, handler) => control.onDialogRequest(dialogId, handler),
    onInvite: (handler) => control.onInvite(handler),
    close: () => control.close(),
  };
}

/** @throws {RequestRefusedError} When the host has no public address; the error is that of an unreachable host. */
async function requirePublicTarget(
  { uri, route, dialogId, transactionId }: OutgoingRequest,
  { resolve, isPrivatePeer }: PublicTargetsDeps,
): Promise<void> {
  const isOfCall = dialogId !== undefined || transactionId !== undefined;
  const nextHop = route ?? uri;
  if (isOfCall || nextHop === undefined) return;
  const target = readUri(nextHop);
  if (!target || target.scheme === 'tel') throw new RequestRefusedError('the next hop has no host');
  const host = unbracketed(target.host);
  const addresses = await resolve(host).catch(() => []);
  const isAllowed = (address: string) => classifyAddress(address) === 'public' || isPrivatePeer(address);
  // One disallowed address refuses all: a name with public and private addresses is an attack.
  if (addresses.length === 0 || !addresses.every(isAllowed))
    throw new RequestRefusedError(`${host} has no public address`);
}
