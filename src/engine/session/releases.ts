import { LRUCache } from 'lru-cache';
import type { ExecutionMode } from '../../agents/agentConfig.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
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
   * A stamp that changes with the project's agent, pathway or tools.
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

/** Names the project release that a new session runs on. */
export interface WantedRelease {
  readonly projectId: string;
  /** Whether to take the working copy even while a release is live. */
  readonly draft: boolean;
  /** Replaces the agent's own mode. */
  readonly executionMode: ExecutionMode | undefined;
}

export interface CurrentReleasesDeps {
  readonly releases: ReleaseStore;
  /** Reads the live release, or the draft. */
  readonly releaseFor: (projectId: string, version?: 'draft') => Promise<AgentRelease>;
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
 * Looks up the release of new sessions. Each look-up reads the project's stamp, and the release only when the stamp has
 * changed. Concurrent look-ups share one read.
 */
export function createCurrentReleases(deps: CurrentReleasesDeps) {
  const known = new LRUCache<string, { stamp: string; current: CurrentRelease; storedAtMs: number }>({
    max: MAX_RELEASES,
  });

  const lookUp = async (key: string): Promise<CurrentRelease> => {
    const { projectId, draft, executionMode }: WantedRelease = JSON.parse(key);
    // Read first: a change in between makes the release newer than its stamp, never older.
    const stamp = await deps.releases.stampOf(projectId);
    const before = known.get(key);
    const nowMs = deps.clock.monotonicMs();
    if (before && before.stamp === stamp && nowMs - before.storedAtMs < STORE_AGAIN_MS) return before.current;
    const found = await deps.releaseFor(projectId, draft ? 'draft' : undefined);
    const release = executionMode ? { ...found, agent: { ...found.agent, executionMode } } : found;
    const current = { release, releaseId: await deps.releases.keep(projectId, release) };
    if (stamp !== undefined) known.set(key, { stamp, current, storedAtMs: nowMs });
    return current;
  };

  const read = coalesceReads(lookUp);
  return ({
    projectId,
    draft = false,
    executionMode,
  }: Partial<WantedRelease> & Pick<WantedRelease, 'projectId'>) =>
    read(JSON.stringify({ projectId, draft, executionMode } satisfies WantedRelease));
}

const keyOf = (projectId: string, id: string) => `${projectId} ${id}`;
