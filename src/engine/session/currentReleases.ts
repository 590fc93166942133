import { LRUCache } from 'lru-cache';
import type { AgentRelease } from '../../agents/release.ts';
import type { Clock } from '../../base/clock.ts';
import { coalesceReads } from '../../base/coalesce.ts';
import type { ReleaseStore } from './sessionStore.ts';

/** More than the agents that one node talks for at a time, and few enough that large pathways do not fill its memory. */
const MAX_RELEASES = 128;
/** A release that no session uses is removed a day after it was kept; long before that it is kept again. */
const KEPT_AGAIN_MILLISECONDS = 30 * 60_000;

/** What sessions of a project that begin now run on. */
export interface CurrentRelease {
  readonly release: AgentRelease;
  /** It is kept under this id. */
  readonly releaseId: string;
}

export interface CurrentReleasesDeps {
  readonly releases: Pick<ReleaseStore, 'keep' | 'stampOf'>;
  /** What callers of a project get at this moment. */
  readonly releaseFor: (projectId: string, draft: boolean) => Promise<AgentRelease>;
  readonly clock: Clock;
}

interface Known {
  readonly stamp: string;
  readonly current: CurrentRelease;
  readonly keptAtMs: number;
}

/**
 * Looks up what a session that begins now runs on. Each look-up asks whether anything has changed, which is one small
 * question; only then the release is read, and kept, anew. When hundreds of sessions begin at once, they share it.
 */
export function createCurrentReleases(deps: CurrentReleasesDeps) {
  const known = new LRUCache<string, Known>({ max: MAX_RELEASES });

  const lookUp = async (projectId: string, draft: boolean): Promise<CurrentRelease> => {
    const key = `${projectId} ${draft}`;
    // Asked for first: a change in between makes what is read newer than its stamp, never older.
    const stamp = await deps.releases.stampOf(projectId);
    const before = known.get(key);
    const nowMs = deps.clock.monotonicMs();
    if (before && before.stamp === stamp && nowMs - before.keptAtMs < KEPT_AGAIN_MILLISECONDS)
      return before.current;
    const release = await deps.releaseFor(projectId, draft);
    const current = { release, releaseId: await deps.releases.keep(projectId, release) };
    if (stamp !== undefined) known.set(key, { stamp, current, keptAtMs: nowMs });
    return current;
  };

  const live = coalesceReads((projectId: string) => lookUp(projectId, false));
  const draft = coalesceReads((projectId: string) => lookUp(projectId, true));
  return (projectId: string, isDraft: boolean): Promise<CurrentRelease> =>
    isDraft ? draft(projectId) : live(projectId);
}
