import { LRUCache } from 'lru-cache';
import type { ExecutionMode } from '../../agents/agentConfig.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import { isChosen, type Rollout } from '../../agents/releases/rollout.ts';
import { coalesceReads } from '../../base/async/coalesce.ts';
import type { Clock } from '../../base/values/clock.ts';

/** The most releases in memory: more than the agents in use on one node, and few enough for its memory. */
const MAX_RELEASES = 128;
/** An unused release is removed a day after it was stored; it is stored again long before that. */
const STORE_AGAIN_MS = 30 * 60_000;

/** Stores the releases that sessions run on, by the digest of their content. */
export interface ReleaseStore {
  /** @returns The release's id, which is the same for the same content. */
  keep(projectId: string, release: AgentRelease): Promise<string>;
  find(projectId: string, releaseId: string): Promise<AgentRelease | undefined>;
  /**
   * A stamp that changes with the project's agent, pathway, tools or rollout.
   *
   * @returns The stamp; undefined for an unknown project, or when it is not known.
   */
  stampOf(projectId: string): Promise<string | undefined>;
  /** Removes releases that have no number, and that no live session and no unfinished webhook needs. */
  removeUnused(): Promise<void>;
}

/** A store with the releases of running sessions in memory. */
export interface CachedReleases extends ReleaseStore {
  /** Caches a release that was read elsewhere. */
  add(projectId: string, releaseId: string, release: AgentRelease): void;
}

/** The release that a project's new sessions run on. */
export interface CurrentRelease {
  readonly release: AgentRelease;
  readonly releaseId: string;
}

/** What new sessions of a project run on. */
interface OfferedReleases {
  readonly live: AgentRelease;
  /** The release that a rollout gives some people in place of it; undefined while none runs. */
  readonly candidate?: { readonly rollout: Rollout; readonly release: AgentRelease } | undefined;
}

/** Names the project release that a new session runs on. */
export interface WantedRelease {
  readonly projectId: string;
  /** Whether to take the working copy even while a release is live. */
  readonly draft: boolean;
  /** Replaces the agent's own mode. */
  readonly executionMode: ExecutionMode | undefined;
}

/** The current release, and the one that a rollout gives some people. */
interface KnownReleases {
  readonly current: CurrentRelease;
  readonly candidate: { readonly rollout: Rollout; readonly current: CurrentRelease } | undefined;
}

export interface CurrentReleasesDeps {
  readonly releases: ReleaseStore;
  /** Reads the live release with that of a rollout, or the draft. */
  readonly offeredReleases: (projectId: string, draft: boolean) => Promise<OfferedReleases>;
  readonly clock: Clock;
}

/**
 * Caches the releases of running sessions. A release is named by the digest of its content and never changes; a missing
 * one is not cached, since it may be stored at any time.
 */
export function cacheReleases(store: ReleaseStore, maxReleases: number = MAX_RELEASES): CachedReleases {
  const found = new LRUCache<string, AgentRelease>({ max: maxReleases });
  return {
    async keep(projectId, release) {
      const releaseId = await store.keep(projectId, release);
      found.set(keyOf(projectId, releaseId), release);
      return releaseId;
    },
    add(projectId, releaseId, release) {
      const key = keyOf(projectId, releaseId);
      if (!found.has(key)) found.set(key, release);
    },
    stampOf: (projectId) => store.stampOf(projectId),
    removeUnused: () => store.removeUnused(),
    async find(projectId, releaseId) {
      const key = keyOf(projectId, releaseId);
      const known = found.get(key);
      if (known) return known;
      const release = await store.find(projectId, releaseId);
      if (release) found.set(key, release);
      return release;
    },
  };
}

/**
 * Looks up the release of new sessions; while a rollout runs, by the person. Each look-up reads the project's stamp, and the release only when the stamp has
 * changed. Concurrent look-ups share one read.
 */
export function createCurrentReleases(deps: CurrentReleasesDeps) {
  const known = new LRUCache<string, { stamp: string; releases: KnownReleases; storedAtMs: number }>({
    max: MAX_RELEASES,
  });

  const lookUp = async (key: string): Promise<KnownReleases> => {
    const { projectId, draft, executionMode }: WantedRelease = JSON.parse(key);
    // Read first: a change in between makes the release newer than its stamp, never older.
    const stamp = await deps.releases.stampOf(projectId);
    const before = known.get(key);
    const nowMs = deps.clock.monotonicMs();
    if (before && before.stamp === stamp && nowMs - before.storedAtMs < STORE_AGAIN_MS)
      return before.releases;
    const keep = async (found: AgentRelease) => {
      const release = executionMode ? { ...found, agent: { ...found.agent, executionMode } } : found;
      return { release, releaseId: await deps.releases.keep(projectId, release) };
    };
    const { live, candidate: offered } = await deps.offeredReleases(projectId, draft);
    const current = await keep(live);
    const candidate = offered && { rollout: offered.rollout, current: await keep(offered.release) };
    const releases = { current, candidate };
    if (stamp !== undefined) known.set(key, { stamp, releases, storedAtMs: nowMs });
    return releases;
  };

  const read = coalesceReads(lookUp);
  return async (
    { projectId, draft = false, executionMode }: Partial<WantedRelease> & { readonly projectId: string },
    /** Meets the same release again. */
    person: string,
  ): Promise<CurrentRelease> => {
    const wanted = { projectId, draft, executionMode } satisfies WantedRelease;
    const { current, candidate } = await read(JSON.stringify(wanted));
    return candidate && isChosen(candidate.rollout, person) ? candidate.current : current;
  };
}

const keyOf = (projectId: string, id: string) => `${projectId} ${id}`;
