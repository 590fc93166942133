import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { bracketed } from '../../../sip/message/fields/uri.ts';
import type { Clock, Timer } from '../../base/values/clock.ts';
import type { NodeBus } from '../../calls/nodes/nodeBus.ts';
import { formatNetwork, isInNetwork, isWideNetwork } from '../../calls/trunks/sourceNetwork.ts';
import type { Trunk } from '../../calls/trunks/trunk.ts';
import type { TrunkStore } from '../../calls/trunks/trunkStore.ts';
import type { KnownPeer } from '../control/sipServer.ts';
import { sourcesOf } from './addressing.ts';

export interface TrunkDirectoryDeps {
  readonly store: Pick<TrunkStore, 'active'>;
  readonly bus: NodeBus;
  /** Resolves all addresses of a host name. */
  readonly resolve: (host: string) => Promise<string[]>;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

type ChangeListener = (trunks: readonly Trunk[]) => void;

/** The ranks of a trunk's matches with a source; the lowest rank is the best. */
const Rank = { network: 0, registrar: 1, host: 2, otherPort: 2, none: 9 } as const;
/** Messages between nodes may be lost, and the addresses of host names change. */
const REFRESH_MS = 30_000;
const SRV_SERVICES = ['_sip._udp', '_sip._tcp', '_sips._tcp'];
const DNS_TIMEOUT_MS = 2000;

/** The active trunks and the addresses that their calls come from. */
export class TrunkDirectory {
  readonly #deps: TrunkDirectoryDeps;
  readonly #listeners = new Set<ChangeListener>();
  /** The addresses by host. */
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #unsubscribe: () => void;
  #trunks: readonly Trunk[] = [];
  #timer: Timer | undefined;
  #isClosed = false;
  #refreshing: Promise<void> | undefined;
  #isStale = false;

  constructor(deps: TrunkDirectoryDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.subscribe((message) => {
      if (message.kind === 'trunks' && !this.#isClosed) void this.start();
    });
  }

  get trunks(): readonly Trunk[] {
    return this.#trunks;
  }

  /**
   * Each trunk with its sources: its networks, and its hosts with the exact ports on which they listen, since others may
   * share the address. Wide networks are left out: most of their addresses are strangers'.
   */
  get peers(): readonly KnownPeer[] {
    return this.#trunks.map((trunk) => ({
      name: trunk.id,
      sources: [...new Set(this.#sources(trunk))],
      mayBePrivate: trunk.hasPrivateHost ?? false,
    }));
  }

  /** Returns true when the operator has placed a trunk at this address, which may then be private. */
  isPrivatePeer(address: string): boolean {
    return this.#trunks.some(
      (trunk) =>
        trunk.hasPrivateHost === true &&
        sourcesOf(trunk).some(({ host }) => this.#addresses.get(host)?.includes(address)),
    );
  }

  /** Reads the trunks, once more if one reading is in progress; then every 30 s. @returns When they have been read. */
  start(): Promise<void> {
    if (this.#refreshing) {
      this.#isStale = true;
      return this.#refreshing;
    }
    this.#timer?.cancel();
    this.#isStale = false;
    this.#refreshing = this.#refresh().finally(() => {
      this.#refreshing = undefined;
      if (this.#isClosed) return;
      if (this.#isStale) void this.start();
      else this.#timer = this.#deps.clock.setTimer(() => void this.start(), REFRESH_MS);
    });
    return this.#refreshing;
  }

  /**
   * The trunks whose calls may come from a source, the best match first: their networks, then registrars and then other
   * hosts at this very port, then both at another one.
   */
  bySource(address: string, port: number): Trunk[] {
    const ranked = this.#trunks.map((trunk) => ({ trunk, rank: this.#rank(trunk, address, port) }));
    return ranked
      .filter(({ rank }) => rank !== Rank.none)
      .sort((one, other) => one.rank - other.rank)
      .map(({ trunk }) => trunk);
  }

  /** Calls back when trunks or sources have changed, until the returned function is called. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#timer?.cancel();
    await this.#refreshing;
  }

  #sources(trunk: Trunk): string[] {
    const networks = trunk.inboundCidrs.filter((network) => !isWideNetwork(network)).map(formatNetwork);
    const hosts = sourcesOf(trunk).flatMap(({ host, port }) => {
      const addresses = (this.#addresses.get(host) ?? []).filter(isPlainAddress);
      return addresses.map((address) => `${bracketed(address)}:${port}`);
    });
    return [...networks, ...hosts];
  }

  #rank(trunk: Trunk, address: string, port: number): number {
    if (trunk.inboundCidrs.some((network) => isInNetwork(address, network))) return Rank.network;
    const hosts = sourcesOf(trunk).filter(({ host }) =>
      this.#addresses.get(host)?.some((one) => isInNetwork(address, one)),
    );
    if (hosts.length === 0) return Rank.none;
    const kind = trunk.register ? Rank.registrar : Rank.host;
    return hosts.some((host) => host.port === port) ? kind : kind + Rank.otherPort;
  }

  async #refresh(): Promise<void> {
    try {
      const before = this.#version();
      const trunks = await this.#deps.store.active();
      const hosts = [...new Set(trunks.flatMap(sourcesOf).map(({ host }) => host))];
      await Promise.all(hosts.map((host) => this.#resolve(host)));
      for (const host of this.#addresses.keys()) if (!hosts.includes(host)) this.#addresses.delete(host);
      this.#trunks = trunks;
      if (before === this.#version() || this.#isClosed) return;
      for (const listener of this.#listeners) listener(trunks);
    } catch (error) {
      this.#deps.onError(error, 'reading the trunks failed');
    }
  }

  async #resolve(host: string): Promise<void> {
    if (ipaddr.isValid(host)) {
      this.#addresses.set(host, [host]);
      return;
    }
    try {
      this.#addresses.set(host, await this.#deps.resolve(host));
    } catch (error) {
      // During a DNS outage the previous addresses stay in use.
      this.#deps.onError(error, `resolving the trunk host ${host} failed`);
    }
  }

  #version(): string {
    const trunks = this.#trunks.map(({ id, updatedAt }) => `${id} ${updatedAt}`).sort();
    return `${trunks.join()} ${JSON.stringify(this.peers)}`;
  }
}

/**
 * Resolves all addresses of a SIP host name, its own and those of its SRV records.
 *
 * @throws {Error} When the host has no address.
 * @see RFC 3263 section 4.2
 */
export async function resolveSipHost(host: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  const records = await fulfilled(SRV_SERVICES.map((service) => resolver.resolveSrv(`${service}.${host}`)));
  const names = [...new Set([host, ...records.map(({ name }) => name)])];
  const found = await fulfilled(names.map((name) => lookup(name, { all: true })));
  if (found.length === 0) throw new Error(`${host} has no address`);
  return [...new Set(found.map(({ address }) => address))];
}

async function fulfilled<Value>(promises: readonly Promise<Value[]>[]): Promise<Value[]> {
  const results = await Promise.allSettled(promises);
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}

/** Excludes short forms such as `127.1` and link-local addresses with a zone. */
function isPlainAddress(text: string): boolean {
  return isIP(text) > 0 && !text.includes('%');
}
