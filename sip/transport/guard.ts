import { BlockList, isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Counters } from '../stats.ts';
import { plainAddress } from './types.ts';

interface RateLimits {
  readonly messagesPerSecond: number;
  readonly burst: number;
  readonly callsPerSecond: number;
  readonly callBurst: number;
}

/** A peer with a budget of its own: it is never banned, and what others send does not use up its budget. */
export interface KnownPeer {
  readonly name: string;
  /**
   * The peer's sources, with the syntax of {@link GuardOptions.trusted}. The most specific entry of all peers decides
   * which peer a source belongs to.
   */
  readonly sources: readonly string[];
  /**
   * True when requests may go to the peer's addresses even if they are private. @see SipServerOptions.publicTargetsOnly
   */
  readonly mayBePrivate?: boolean;
}

export interface GuardOptions {
  /**
   * `address`, `address:port` or `network/bits`: without limits and bans. Other ports of an address that is trusted by
   * port are separate sources, since several hosts may share the address.
   */
  readonly trusted: readonly string[];
  /** The limits for all sources of one {@link KnownPeer} together. */
  readonly peer: RateLimits;
  readonly messagesPerSecond: number;
  readonly burst: number;
  /** The rate of new calls per source. */
  readonly callsPerSecond: number;
  readonly callBurst: number;
  readonly banMs: number;
}

/**
 * The default limits. Those for strangers are above the rates of a PBX with hundreds of calls and below those of a
 * scanner.
 */
export const defaultGuard: GuardOptions = {
  trusted: [],
  peer: { messagesPerSecond: 6000, burst: 12_000, callsPerSecond: 300, callBurst: 600 },
  messagesPerSecond: 2000,
  burst: 4000,
  callsPerSecond: 50,
  callBurst: 200,
  banMs: 60_000,
};

/** Malformed messages in a row that ban a source. */
const BAN_AT_RUBBISH = 20;
/** Bounds the memory during a flood with spoofed addresses. */
const MAX_SOURCES = 20_000;
/** Idle sources are forgotten after this time. */
const FORGET_AFTER_MS = 120_000;

/** A token bucket. */
interface Allowance {
  tokens: number;
  atMs: number;
}

interface Budget {
  readonly messages: Allowance;
  readonly calls: Allowance;
}

interface Source extends Budget {
  rubbish: number;
  bannedUntilMs: number;
}

/** Rate limits and bans by source, applied before parsing. */
export interface Guard {
  admit(address: string, port: number): boolean;
  /** Returns true when a new call is within the limit. It must be called after `admit`. */
  admitCall(address: string, port: number): boolean;
  /** Returns true when a source is trusted or belongs to a known peer. */
  isTrusted(address: string, port: number): boolean;
  /** Returns true when an address belongs to a peer that may be private. */
  isPrivatePeer(address: string): boolean;
  /** Returns true when a source has no limits at all. */
  isUnlimited(address: string, port: number): boolean;
  /**
   * Replaces the known peers; those that stay keep their budgets.
   *
   * @throws {RangeError} For an invalid source; nothing changes.
   */
  setKnownPeers(peers: readonly KnownPeer[]): void;
  /** Resets the count of malformed messages. */
  noteValidMessage(address: string, port: number): void;
  /** Counts a malformed message, and bans the source at the limit. */
  noteMalformedMessage(address: string, port: number): void;
}

export function createGuard(options: GuardOptions, clock: Clock, counters: Counters): Guard {
  const trusted = trustList(options.trusted);
  let peers = peerList([]);
  let budgets = new Map<string, Budget>();
  const sources = new Map<string, Source>();
  const newBudget = ({ burst, callBurst }: RateLimits, nowMs: number): Budget => ({
    messages: { tokens: burst, atMs: nowMs },
    calls: { tokens: callBurst, atMs: nowMs },
  });
  const budgetOf = (address: string, port: number) => budgets.get(peers.find(address, port) ?? '');

  const keyOf = (address: string, port: number) =>
    trusted.isShared(address) || peers.isShared(address) ? `${address} ${port}` : address;
  const lookup = (address: string, port: number, nowMs: number): Source | undefined => {
    const key = keyOf(address, port);
    const known = sources.get(key);
    if (known) return known;
    if (sources.size >= MAX_SOURCES) forgetQuiet(sources, nowMs);
    if (sources.size >= MAX_SOURCES) return undefined;
    const fresh = { ...newBudget(options, nowMs), rubbish: 0, bannedUntilMs: 0 };
    sources.set(key, fresh);
    return fresh;
  };

  return {
    admit(address, port) {
      if (trusted.includes(address, port)) return true;
      const nowMs = clock.monotonicMs();
      const budget = budgetOf(address, port);
      if (budget) {
        const { burst, messagesPerSecond } = options.peer;
        return take(budget.messages, burst, messagesPerSecond, nowMs) || refuse(counters, 'dropped.rate');
      }
      const source = lookup(address, port, nowMs);
      if (!source) return refuse(counters, 'dropped.crowded');
      if (source.bannedUntilMs > nowMs) return refuse(counters, 'dropped.banned');
      const isAllowed = take(source.messages, options.burst, options.messagesPerSecond, nowMs);
      return isAllowed || refuse(counters, 'dropped.rate');
    },
    admitCall(address, port) {
      if (trusted.includes(address, port)) return true;
      const nowMs = clock.monotonicMs();
      const budget = budgetOf(address, port);
      if (budget) return take(budget.calls, options.peer.callBurst, options.peer.callsPerSecond, nowMs);
      const source = lookup(address, port, nowMs);
      return source !== undefined && take(source.calls, options.callBurst, options.callsPerSecond, nowMs);
    },
    isTrusted: (address, port) => trusted.includes(address, port) || budgetOf(address, port) !== undefined,
    isPrivatePeer: (address) => peers.isPrivate(address),
    isUnlimited: (address, port) => trusted.includes(address, port),
    setKnownPeers(next) {
      peers = peerList(next);
      const nowMs = clock.monotonicMs();
      budgets = new Map(next.map(({ name }) => [name, budgets.get(name) ?? newBudget(options.peer, nowMs)]));
    },
    noteValidMessage(address, port) {
      const source = sources.get(keyOf(address, port));
      if (source) source.rubbish = 0;
    },
    noteMalformedMessage(address, port) {
      if (trusted.includes(address, port) || budgetOf(address, port)) return;
      const nowMs = clock.monotonicMs();
      const source = lookup(address, port, nowMs);
      if (!source) return;
      source.rubbish += 1;
      if (source.rubbish < BAN_AT_RUBBISH) return;
      source.rubbish = 0;
      source.bannedUntilMs = nowMs + options.banMs;
      counters.count('sources.banned');
    },
  };
}

function take(allowance: Allowance, burst: number, perSecond: number, nowMs: number): boolean {
  const refill = ((nowMs - allowance.atMs) * perSecond) / 1000;
  allowance.tokens = Math.min(burst, allowance.tokens + refill);
  allowance.atMs = nowMs;
  if (allowance.tokens < 1) return false;
  allowance.tokens -= 1;
  return true;
}

function refuse(counters: Counters, name: string): false {
  counters.count(name);
  return false;
}

function forgetQuiet(sources: Map<string, Source>, nowMs: number): void {
  for (const [address, source] of sources) {
    if (nowMs - source.messages.atMs > FORGET_AFTER_MS && source.bannedUntilMs < nowMs)
      sources.delete(address);
  }
}

/** The sources without limits. */
export interface TrustList {
  includes(address: string, port: number): boolean;
  /** Returns true when an address is trusted by port. */
  isShared(address: string): boolean;
}

/** @throws {RangeError} When an entry is not an address, an address with port, or a network. */
export function trustList(entries: readonly string[]): TrustList {
  const networks = new BlockList();
  const exact = new Set<string>();
  const shared = new Set<string>();
  for (const entry of entries) {
    const at = addTrusted(entry, networks);
    if (!at) continue;
    shared.add(at.address);
    exact.add(`${at.address}:${at.port}`);
  }
  if (entries.length === 0) return { includes: () => false, isShared: () => false };
  const known = new Map<string, boolean>();
  const isInNetwork = (address: string): boolean => {
    const before = known.get(address);
    if (before !== undefined) return before;
    if (known.size >= MAX_SOURCES) known.clear();
    const found = networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
    known.set(address, found);
    return found;
  };
  return {
    includes: (address, port) =>
      isInNetwork(address) || (exact.size > 0 && exact.has(`${plainAddress(address)}:${port}`)),
    isShared: (address) => shared.size > 0 && shared.has(plainAddress(address)),
  };
}

/** Adds an address or network to `networks`. @returns The address and port of an `address:port` entry. */
function addTrusted(entry: string, networks: BlockList): { address: string; port: string } | undefined {
  const [network = '', bits] = entry.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const isNetwork = /^\d{1,3}$/.test(bits ?? '') && Number(bits) <= (family === 'ipv6' ? 128 : 32);
  if (isNetwork && isIP(network) > 0) networks.addSubnet(network, Number(bits), family);
  else if (isIP(entry) > 0) networks.addAddress(entry, family);
  else {
    const [, address, port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(entry) ?? [];
    if (!address || !port || isIP(address) === 0)
      throw new RangeError(`trusted source "${entry}" is not an address`);
    return { address, port };
  }
  return undefined;
}

/** The sources of known peers. */
export interface PeerList {
  /** @returns The name of the peer. */
  find(address: string, port: number): string | undefined;
  /** Returns true when an address belongs to a peer by port. */
  isShared(address: string): boolean;
  /** Returns true when an address belongs to a peer that may be private. */
  isPrivate(address: string): boolean;
}

/** @throws {RangeError} For an invalid source. */
export function peerList(peers: readonly KnownPeer[]): PeerList {
  const exact = new Map<string, string>();
  const shared = new Set<string>();
  const privates = new Set<string>();
  const networks: { readonly list: BlockList; readonly bits: number; readonly name: string }[] = [];
  for (const { name, sources, mayBePrivate } of peers) {
    for (const source of sources) {
      const list = new BlockList();
      const at = addTrusted(source, list);
      if (!at) networks.push({ list, bits: bitsOf(source), name });
      else if (!exact.has(`${at.address}:${at.port}`)) exact.set(`${at.address}:${at.port}`, name);
      if (at) shared.add(at.address);
      if (at && mayBePrivate) privates.add(at.address);
    }
  }
  networks.sort((one, other) => other.bits - one.bits);
  const known = new Map<string, string | undefined>();
  const inNetwork = (address: string): string | undefined => {
    if (networks.length === 0 || known.has(address)) return known.get(address);
    if (known.size >= MAX_SOURCES) known.clear();
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const name = networks.find(({ list }) => list.check(address, family))?.name;
    known.set(address, name);
    return name;
  };
  return {
    find(address, port) {
      const plain = plainAddress(address);
      return exact.get(`${plain}:${port}`) ?? inNetwork(plain);
    },
    isShared: (address) => shared.size > 0 && shared.has(plainAddress(address)),
    isPrivate: (address) => privates.has(plainAddress(address)),
  };
}

/** The prefix length of a network on the scale of IPv6, so that both families compare. */
function bitsOf(source: string): number {
  const [network = '', bits] = source.split('/');
  const most = isIP(network) === 6 ? 128 : 32;
  return 128 - most + (bits === undefined ? most : Number(bits));
}
