import { BlockList, isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Counters } from '../stats.ts';
import { plainAddress } from './types.ts';

export interface GuardOptions {
  /**
   * `address`, `address:port` or `network/bits`: never limited, never banned. The other ports of an address that is
   * trusted by its port are sources of their own, so that nothing is held against all who share it.
   */
  readonly trusted: readonly string[];
  readonly messagesPerSecond: number;
  readonly burst: number;
  /** New calls of one source. */
  readonly callsPerSecond: number;
  readonly callBurst: number;
  readonly banMs: number;
}

/** A PBX of some hundred calls stays below it; a scanner's tens of thousands do not. A carrier's trunk is trusted. */
export const defaultGuard: GuardOptions = {
  trusted: [],
  messagesPerSecond: 2000,
  burst: 4000,
  callsPerSecond: 50,
  callBurst: 200,
  banMs: 60_000,
};

/** So much rubbish without one good message gets a source banned. */
const BAN_AT_RUBBISH = 20;
/** More sources than this are not told apart: a spoofed flood must not fill the memory. */
const MAX_SOURCES = 20_000;
/** A source that was quiet for so long is forgotten. */
const FORGET_AFTER_MS = 120_000;

/** So many at once, and then so many a second. */
interface Allowance {
  tokens: number;
  atMs: number;
}

interface Source {
  readonly messages: Allowance;
  readonly calls: Allowance;
  rubbish: number;
  bannedUntilMs: number;
}

/** Decides cheaply, before anything is parsed, whether a source's bytes are looked at. */
export interface Guard {
  admit(address: string, port: number): boolean;
  /** Whether one more call may begin; asked after `admit`. */
  admitCall(address: string, port: number): boolean;
  isTrusted(address: string, port: number): boolean;
  /** Trusts these from now on, and no others. @throws {RangeError} For an entry that is none; all stays as it was. */
  trust(entries: readonly string[]): void;
  /** A well-formed message came. */
  noteValidMessage(address: string, port: number): void;
  /** Rubbish came. */
  noteMalformedMessage(address: string, port: number): void;
}

export function createGuard(options: GuardOptions, clock: Clock, counters: Counters): Guard {
  let trusted = trustList(options.trusted);
  const sources = new Map<string, Source>();

  const keyOf = (address: string, port: number) =>
    trusted.isShared(address) ? `${address} ${port}` : address;
  const lookup = (address: string, port: number, nowMs: number): Source | undefined => {
    const key = keyOf(address, port);
    const known = sources.get(key);
    if (known) return known;
    if (sources.size >= MAX_SOURCES) forgetQuiet(sources, nowMs);
    if (sources.size >= MAX_SOURCES) return undefined;
    const fresh = {
      messages: { tokens: options.burst, atMs: nowMs },
      calls: { tokens: options.callBurst, atMs: nowMs },
      rubbish: 0,
      bannedUntilMs: 0,
    };
    sources.set(key, fresh);
    return fresh;
  };

  return {
    admit(address, port) {
      if (trusted.includes(address, port)) return true;
      const nowMs = clock.monotonicMs();
      const source = lookup(address, port, nowMs);
      if (!source) return refuse(counters, 'dropped.crowded');
      if (source.bannedUntilMs > nowMs) return refuse(counters, 'dropped.banned');
      const isAllowed = take(source.messages, options.burst, options.messagesPerSecond, nowMs);
      return isAllowed || refuse(counters, 'dropped.rate');
    },
    admitCall(address, port) {
      if (trusted.includes(address, port)) return true;
      const nowMs = clock.monotonicMs();
      const source = lookup(address, port, nowMs);
      return source !== undefined && take(source.calls, options.callBurst, options.callsPerSecond, nowMs);
    },
    isTrusted: (address, port) => trusted.includes(address, port),
    trust(entries) {
      trusted = trustList(entries);
    },
    noteValidMessage(address, port) {
      const source = sources.get(keyOf(address, port));
      if (source) source.rubbish = 0;
    },
    noteMalformedMessage(address, port) {
      if (trusted.includes(address, port)) return;
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

/** Who is trusted. */
export interface TrustList {
  includes(address: string, port: number): boolean;
  /** Whether some port of the address is trusted by itself. */
  isShared(address: string): boolean;
}

/** @throws {RangeError} When an entry is neither an address, an address with port, nor a network. */
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

/** @returns The port that the entry trusts, where it is one; else it is among the networks. */
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
