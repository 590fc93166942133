import { parseCarrierNumber } from '../calls/numbers/number.ts';
import type { PhoneNumberStore } from '../calls/numbers/phoneNumberStore.ts';
import type { InboundCall, Telephony } from '../calls/telephony.ts';
import type { Trunk } from '../calls/trunks/trunk.ts';
import type { IncomingRequest } from './control/incoming.ts';
import { type Called, dialledUser, offerCall } from './leg/inbound.ts';
import { dial, type OutboundDeps } from './leg/outbound.ts';
import { refuseInvite } from './leg/refuseInvite.ts';
import type { TrunkDirectory } from './trunks/directory.ts';

export interface TelephonyDeps extends OutboundDeps {
  readonly directory: Pick<TrunkDirectory, 'bySource'>;
  readonly numbers: Pick<PhoneNumberStore, 'findByNumber'>;
}

/** Places and takes calls over a SIP server. */
export function createTelephony(deps: TelephonyDeps): Telephony {
  const { control, clock, onError } = deps;
  let handler: ((call: InboundCall) => void) | undefined;

  const take = async (invite: IncomingRequest) => {
    const { address, port, transport } = invite.source;
    const candidates = deps.directory.bySource(address);
    if (candidates.length === 0) return await invite.respond(403);
    const refusal = refuseInvite(invite.text);
    if (refusal) return await invite.respond(refusal.status, refusal);
    if (!handler) return await invite.respond(503, { headers: { 'Retry-After': '5' } });
    const trace = deps.traceCall(invite.text.header('call-id') ?? '');
    const at = new Date(clock.now()).toISOString();
    trace.add({ at, direction: 'in', transport, remote: `${address}:${port}`, text: invite.text.raw });
    let isCanceled = false;
    invite.onCancel(() => {
      isCanceled = true;
    });
    try {
      const called = await chooseTrunk(candidates, invite, deps.numbers);
      if (isCanceled) trace.end();
      else handler(offerCall(deps, called, invite, trace));
      return undefined;
    } catch (error) {
      trace.end();
      onError(error, 'a call could not be taken');
      return await invite.respond(503, { headers: { 'Retry-After': '5' } });
    }
  };
  control.onInvite((invite) => {
    take(invite).catch((error: unknown) => onError(error, 'a call could not be answered'));
  });

  return {
    dial: (request) => dial(deps, request),
    onInboundCall(next) {
      handler = next;
    },
  };
}

/**
 * One carrier may serve several trunks, of several projects: the one that registered under the name that is called, or
 * whose project has the number that was dialled, preferably on this trunk.
 */
async function chooseTrunk(
  candidates: readonly Trunk[],
  invite: IncomingRequest,
  numbers: Pick<PhoneNumberStore, 'findByNumber'>,
): Promise<Called> {
  const ranked = await Promise.all(
    candidates.map(async (trunk) => {
      const number = parseCarrierNumber(dialledUser(invite, trunk));
      const found = number === undefined ? undefined : await numbers.findByNumber(trunk.projectId, number);
      const isNamed = trunk.username !== null && invite.uri.startsWith(`sip:${trunk.username}@`);
      const isListed = found?.trunkIds.includes(trunk.id) ?? false;
      return { trunk, number: found, rank: (found ? 4 : 0) + (isListed ? 2 : 0) + (isNamed ? 1 : 0) };
    }),
  );
  const [best] = ranked.sort((one, other) => other.rank - one.rank);
  if (!best) throw new Error('no trunk was given to choose from');
  return best;
}
