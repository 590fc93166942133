import type { SipRequest } from '../../../sip/message/message.ts';
import type { HeldNumber, PhoneNumberStore } from '../../calls/numbers/phoneNumberStore.ts';
import type { TestCall } from '../../calls/setup/testCall.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import { isReachedOver } from '../../calls/trunks/trunkSelection.ts';
import { addressesOf, numberOf, readAddress, userOf } from '../sip/headerValues.ts';

export interface InboundRouteDeps {
  readonly numbers: Pick<PhoneNumberStore, 'findHolder'>;
  /** True when calls reach numbers whose claim is not verified. @see NumberOwnership */
  readonly takesPendingClaims: boolean;
}

/** The trunk that an INVITE came over, and the number it calls. */
export interface CalledParty {
  readonly trunk: Trunk;
  /**
   * The called number; undefined when no trunk of the source belongs to the number's holder. A number with a pending
   * claim receives no calls.
   */
  readonly number: HeldNumber | undefined;
  /** Normalized if it is a number. */
  readonly toNumber: string;
  /** The test of a simulated caller, with the address for its audio. */
  readonly test?: { readonly call: TestCall; readonly mediaAddress: string };
}

/** A number in the INVITE that may be the called one, and the trunks that may read it as such. */
interface DialedNumber {
  readonly dialed: string;
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
  deps: InboundRouteDeps,
  candidates: readonly [Trunk, ...Trunk[]],
  invite: SipRequest,
): Promise<CalledParty> {
  let pending: CalledParty | undefined;
  for (const { dialed, trunks } of dialedNumbers(candidates, invite)) {
    const number = await deps.numbers.findHolder(dialed);
    if (!number) continue;
    const trunk = trunks.find(
      ({ id, projectId }) => projectId === number.projectId && isReachedOver(number, id),
    );
    if (!trunk) continue;
    if (takesCalls(deps, number)) return { trunk, number, toNumber: number.number };
    pending ??= { trunk, number: { ...number, inboundEnabled: false }, toNumber: number.number };
  }
  if (pending) return pending;
  return { trunk: candidates[0], number: undefined, toNumber: numberOf(invite.uri) ?? userOf(invite.uri) };
}

/** Returns true when the number's claim is verified, or need not be. */
export function takesCalls({ takesPendingClaims }: InboundRouteDeps, number: HeldNumber): boolean {
  return number.verified || takesPendingClaims;
}

/**
 * A registrar sends calls to the registered name. The dialed number is then in To, or in a header that a proxy or the
 * forwarding switch has added; in a history it is the newest entry that is a number.
 *
 * @see RFC 3261 section 10, RFC 7315 section 4.2 (P-Called-Party-ID), RFC 7044 (History-Info), RFC 5806 (Diversion)
 */
function dialedNumbers(candidates: readonly Trunk[], { uri, headers }: SipRequest): DialedNumber[] {
  const user = userOf(uri);
  const own = numberOf(uri);
  const registered = candidates.filter(({ username }) => user === '' || username === user);
  const isName = own === undefined || registered.length > 0;
  const byName = registered.length > 0 ? registered : candidates;
  const named = (name: string) => addressesOf(headers, name).map((address) => address.uri);
  const to = readAddress(headers.get('to') ?? '')?.uri ?? '';
  const added = [
    ...named('p-called-party-id'),
    ...named('history-info').reverse(),
    // The newest comes first.
    ...named('diversion'),
  ];
  return [
    { dialed: numberOf(to), trunks: isName ? byName : [] },
    { dialed: own, trunks: candidates },
    ...(isName ? added : []).map((one) => ({ dialed: numberOf(one), trunks: byName })),
  ].flatMap(({ dialed, trunks }) => (dialed === undefined ? [] : [{ dialed, trunks }]));
}
