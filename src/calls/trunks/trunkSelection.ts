import { readSipHost, sipHost, type TransferTarget } from '../../agents/transferTarget.ts';
import { CallwayError } from '../../base/errors.ts';
import type { PhoneNumberStore } from '../numbers/phoneNumberStore.ts';
import type { Trunk, TrunkHealth } from './trunk.ts';
import type { TrunkHealthStore } from './trunkHealth.ts';
import type { TrunkStore } from './trunkStore.ts';

export interface TrunkSelectionDeps {
  readonly phoneNumbers: PhoneNumberStore;
  readonly trunks: TrunkStore;
  readonly health: TrunkHealthStore;
}

/** The id of a host that is called without a trunk; no stored trunk has it. */
const HOST_ITSELF = 'host';

/**
 * The trunks for a call from this number, in the order of trial: healthy ones first.
 *
 * @param target - The target of a transfer. The trunk that it names is the only one. A `sip:` URI is called over the
 *   project's trunks at its host; when there are none, the host itself is called.
 * @returns An empty list when the number is not the project's, or its outbound status is inactive.
 * @throws {CallwayError} 422 `trunk_not_active` for a named trunk that is deleted or inactive.
 */
export async function selectTrunks(
  { phoneNumbers, trunks, health }: TrunkSelectionDeps,
  projectId: string,
  fromNumber: string,
  { to, trunkId }: Partial<TransferTarget> = {},
): Promise<readonly Trunk[]> {
  const number = await phoneNumbers.findByNumber(projectId, fromNumber);
  if (number?.outboundStatus !== 'active') return [];
  const active = await trunks.activeOf(projectId);
  const named = trunkId === undefined ? undefined : active.filter(({ id }) => id === trunkId);
  if (named?.length === 0) {
    const message = `This project has no active trunk ${trunkId}`;
    throw new CallwayError('unprocessable', 'trunk_not_active', message);
  }
  const sorted = async (candidates: readonly Trunk[]) =>
    reachableFirst(candidates, await health.read(candidates.map(({ id }) => id)));
  const usual = named ?? candidateTrunks(number, active);
  const uri = to === undefined ? undefined : readSipHost(to);
  if (to === undefined || !uri) return await sorted(usual);
  const atHost = (named ?? candidateTrunks({ trunkIds: [] }, active)).filter((trunk) => isAtHost(trunk, uri));
  if (atHost.length > 0) return await sorted(atHost);
  const [lender] = await sorted(usual);
  return lender ? [hostItself(lender, to)] : [];
}

export type TrunkHost = Pick<Trunk, 'host' | 'port' | 'fromDomain'>;

/** Returns true when a `sip:` URI leads to a trunk: to its host, or to the domain that it calls from. */
export function isAtHost(
  { host, port, fromDomain }: TrunkHost,
  uri: { readonly host: string; readonly port: number | undefined },
): boolean {
  if (uri.host === sipHost(host)) return uri.port === undefined || uri.port === port;
  return fromDomain !== null && uri.host === sipHost(fromDomain) && uri.port === undefined;
}

/**
 * A host that is no trunk's, as the trunk of a call to it: it gets our number and codecs as `lender` has them, and nothing
 * that is between us and the lender, such as credentials and headers.
 */
function hostItself(lender: Trunk, uri: string): Trunk {
  const isSecure = /^sips:|;transport=tls/i.test(uri);
  return {
    ...lender,
    id: HOST_ITSELF,
    fromDomain: lender.fromDomain ?? lender.host,
    transport: isSecure ? 'tls' : /;transport=tcp/i.test(uri) ? 'tcp' : 'udp',
    // The next hop, exactly as the URI names it.
    outboundProxy: uri.replace(/:[^@]*@/, ':'),
    username: null,
    password: null,
    realm: null,
    register: false,
    headers: {},
    variablesToHeaders: [],
    followRedirects: false,
    transfer: 'second_leg',
  };
}

/** Returns true for a host that is called without a trunk. Its channels are not counted. */
export function isHostItself({ id }: Trunk): boolean {
  return id === HOST_ITSELF;
}

/**
 * The trunks that a number lists, in that order; all of its project's by priority when it lists none.
 *
 * @param active - The active trunks of the number's project, oldest first.
 */
export function candidateTrunks(
  { trunkIds }: { readonly trunkIds: readonly string[] },
  active: readonly Trunk[],
): readonly Trunk[] {
  if (trunkIds.length === 0) return active.toSorted((one, other) => one.priority - other.priority);
  return trunkIds.flatMap((id) => active.filter((trunk) => trunk.id === id));
}

/**
 * Returns true when a number's calls may arrive over one of its project's trunks. A number that lists no trunks accepts
 * all.
 */
export function isReachedOver(
  { trunkIds }: { readonly trunkIds: readonly string[] },
  trunkId: string,
): boolean {
  return trunkIds.length === 0 || trunkIds.includes(trunkId);
}

/** Trunks that were down when last checked come last instead of being dropped: the check may be out of date. */
export function reachableFirst(
  trunks: readonly Trunk[],
  health: ReadonlyMap<string, Pick<TrunkHealth, 'reachable' | 'registered'>>,
): readonly Trunk[] {
  const isDown = ({ id }: Trunk) => {
    const seen = health.get(id);
    return seen?.reachable === false || seen?.registered === false;
  };
  return [...trunks.filter((trunk) => !isDown(trunk)), ...trunks.filter(isDown)];
}
