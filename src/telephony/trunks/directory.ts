import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Clock, Timer } from '../../base/clock.ts';
import type { NodeBus } from '../../calls/nodes/nodeBus.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { TrunkStore } from '../../calls/trunks/trunkStore.ts';
import { bracketed } from '../sip/address.ts';
import { sourcesOf } from './addressing.ts';

/** The trunks that are active now, and which of them a call can come from. */
export interface TrunkDirectory {
  /** Resolves when it has been read for the first time. */
  start(): Promise<void>;
  readonly trunks: readonly Trunk[];
  /** @param address - Where the request came from. */
  bySource(address: string): Trunk[];
  /**
   * Where trunks call from: the networks that they name, and of their hosts the very ports on which they listen, since
   * others may share the address.
   */
  readonly trustedSources: readonly string[];
  /** Calls back after each reading that found other trunks or sources, until the returned function is called. */
  onChange(listener: (trunks: readonly Trunk[]) => void): () => void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface TrunkDirectoryDeps {
  readonly store: Pick<TrunkStore, 'active'>;
  readonly bus: Pick<NodeBus, 'subscribe'>;
  /** All addresses of a host name. */
  readonly resolve: (host: string) => Promise<string[]>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/** Messages between nodes may be lost, and addresses of host names change. */
const REREAD_MS = 30_000;

export function createTrunkDirectory(deps: TrunkDirectoryDeps): TrunkDirectory {
  const { store, resolve, clock, onError } = deps;
  const listeners = new Set<(trunks: readonly Trunk[]) => void>();
  const addresses = new Map<string, readonly string[]>();
  let trunks: readonly Trunk[] = [];
  let timer: Timer | undefined;
  let isClosed = false;
  let reading: Promise<void> | undefined;
  let isStale = false;

  const sources = () => {
    const ranges = trunks.flatMap(({ inboundCidrs }) => inboundCidrs);
    const hosts = trunks.flatMap(sourcesOf).flatMap(({ host, port }) => {
      const found = (addresses.get(host) ?? []).filter(isPlainAddress);
      return found.map((address) => `${bracketed(address)}:${port}`);
    });
    return [...new Set([...ranges, ...hosts])];
  };
  const read = async () => {
    const before = `${versions(trunks)} ${sources()}`;
    const found = await store.active();
    const hosts = [...new Set(found.flatMap(sourcesOf).map(({ host }) => host))];
    await Promise.all(hosts.map(look));
    for (const host of addresses.keys()) if (!hosts.includes(host)) addresses.delete(host);
    trunks = found;
    const hasChanged = before !== `${versions(trunks)} ${sources()}`;
    if (hasChanged && !isClosed) for (const listener of listeners) listener(trunks);
  };
  const look = async (host: string) => {
    if (ipaddr.isValid(host)) {
      addresses.set(host, [host]);
      return;
    }
    try {
      addresses.set(host, await resolve(host));
    } catch (error) {
      // A name server that is away must not lock a carrier out: the former addresses stand.
      onError(error, `the trunk host ${host} could not be looked up`);
    }
  };
  /** One reading at a time; what is asked for in the meantime is done once more after it. */
  const refresh = (): Promise<void> => {
    if (reading) {
      isStale = true;
      return reading;
    }
    timer?.cancel();
    isStale = false;
    reading = read()
      .catch((error: unknown) => onError(error, 'the trunks could not be read'))
      .finally(() => {
        reading = undefined;
        if (isClosed) return;
        if (isStale) void refresh();
        else timer = clock.setTimer(() => void refresh(), REREAD_MS);
      });
    return reading;
  };
  const unsubscribe = deps.bus.subscribe((message) => {
    if (message.kind === 'trunks' && !isClosed) void refresh();
  });

  return {
    start: refresh,
    get trunks() {
      return trunks;
    },
    bySource(address) {
      const source = addressOf(address);
      if (!source) return [];
      return trunks.filter(
        (trunk) =>
          trunk.inboundCidrs.some((range) => isWithin(source, range)) ||
          sourcesOf(trunk).some(({ host }) => addresses.get(host)?.some((one) => isWithin(source, one))),
      );
    },
    get trustedSources() {
      return sources();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      isClosed = true;
      unsubscribe();
      timer?.cancel();
      await reading;
    },
  };
}

type Address = ReturnType<typeof ipaddr.process>;

/** IPv4 in the clothes of IPv6 is IPv4. */
function addressOf(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function isWithin(address: Address, range: string): boolean {
  if (range.includes('/')) {
    const [network, bits] = ipaddr.parseCIDR(range);
    return network.kind() === address.kind() && address.match(network, bits);
  }
  return addressOf(range)?.toString() === address.toString();
}

/** Neither `127.1` nor a link-local address with its interface. */
function isPlainAddress(text: string): boolean {
  return isIP(text) > 0 && !text.includes('%');
}

function versions(trunks: readonly Trunk[]): string {
  return trunks
    .map(({ id, updatedAt }) => `${id} ${updatedAt}`)
    .sort()
    .join();
}
