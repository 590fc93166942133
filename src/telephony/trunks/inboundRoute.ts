import type { SipRequest } from '../../../sip/message/message.ts';
import { parseCarrierNumber } from '../../base/e164.ts';
import type { HeldNumber, PhoneNumberStore } from '../../calls/numbers/phoneNumberStore.ts';
import type { TestCall } from '../../calls/setup/testCall.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { isReachedOver } from '../../calls/trunks/trunkSelection.ts';
import { addressesOf, userOf } from '../sip/headerValues.ts';

export interface InboundRouteDeps {
  readonly numbers: Pick<PhoneNumberStore, 'findHolder'>;
  /** Whether calls reach numbers whose claim is not verified. @see NumberOwnership */
  readonly takesPendingClaims: boolean;
}

/** The trunk that an INVITE came over, and the number it calls. */
export interface CalledParty {
  readonly trunk: Trunk;
  /** Undefined when no trunk of the source belongs to the number's holder. */
  readonly number: HeldNumber | undefined;
  /** Normalized if it is a number. */
  readonly toNumber: string;
  /** Of a simulated caller, with the address for its audio. */
  readonly test?: { readonly call: TestCall; readonly mediaAddress: string };
}

/** A user part of the INVITE that may be the called number, and the trunks that may read it as such. */
interface DialedUser {
  readonly user: string;
  readonly trunks: readonly Trunk[];
}

/**
 * Chooses the trunk of an INVITE. Trunks of several projects may share a carrier's addresses: the holder of the called
 * number decides which project is meant. What tenants write, such as a trunk's username, only chooses among the
 * project's own trunks and numbers.
 *
 * @param candidates - The trunks of the INVITE's source, the best match first; at least one.
 */
export async function routeInvite(
  { numbers, takesPendingClaims }: InboundRouteDeps,
  candidates: readonly [Trunk, ...Trunk[]],
  invite: SipRequest,
): Promise<CalledParty> {
  for (const { user, trunks } of dialedUsers(candidates, invite)) {
    const dialed = parseCarrierNumber(user);
    const number = dialed === undefined ? undefined : await numbers.findHolder(dialed);
    if (!number || !(number.verified || takesPendingClaims)) continue;
    const trunk = trunks.find(
      ({ id, projectId }) => projectId === number.projectId && isReachedOver(number, id),
    );
    if (trunk) return { trunk, number, toNumber: number.number };
  }
  const user = userOf(invite.uri);
  return { trunk: candidates[0], number: undefined, toNumber: parseCarrierNumber(user) ?? user };
}

/** A registrar sends calls to the registered name; To then holds the dialed number. @see RFC 3261 section 10 */
function dialedUsers(candidates: readonly Trunk[], { uri, headers }: SipRequest): DialedUser[] {
  const user = userOf(uri);
  const [to] = addressesOf(headers, 'to');
  const registered = candidates.filter(({ username }) => user === '' || username === user);
  return [
    { user: userOf(to?.uri ?? ''), trunks: registered },
    { user, trunks: candidates },
  ].filter(({ trunks }) => trunks.length > 0);
}
