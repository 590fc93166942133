import { BlockList, isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Counters } from '../stats.ts';
import { plainAddress } from './types.ts';

export interface GuardOptions {
  /**
   * `address`, `address:port` or `network/bits`: without limits and bans. Other ports of an address that is trusted by
   * port are separate sources, since several hosts may share the address.
   */
  readonly trusted: readonly string[];
  readonly messagesPerSecond: number;
  readonly burst: number;
  /** New calls per source. */
  readonly callsPerSecond: number;
  readonly callBurst: number;
  readonly banMs: number;
}

/** Above the rates of a PBX with hundreds of calls, below those of a scanner. Trunks of carriers are trusted. */
export const defaultGuard: GuardOptions = {
  trusted: [],
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

interface Source {
  readonly messages: Allowance;
  readonly calls: Allowance;
  rubbish: number;
  bannedUntilMs: number;
}

/** Rate limits and bans by source, applied before parsing. */
export interface Guard {
  admit(address: string, port: number): boolean;
  /** Whether a new call is within the limit; to be called after `admit`. */
  admitCall(address: string, port: number): boolean;
  isTrusted(address: string, port: number): boolean;
  /** Replaces the trusted sources. @throws {RangeError} For an invalid entry; nothing changes. */
  trust(entries: readonly string[]): void;
  /** Resets the count of malformed messages. */
  noteValidMessage(address: string, port: number): void;
  /** Counts a malformed message, and bans the source at the limit. */
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

/** The sources without limits. */
export interface TrustList {
  includes(address: string, port: number): boolean;
  /** Whether an address is trusted by port. */
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
