import { LRUCache } from 'lru-cache';
import type { AgentRelease } from '../../agents/release.ts';
import type { ReleaseStore } from './sessionStore.ts';

/** More than the agents that one node talks for at a time, and few enough that large pathways do not fill its memory. */
const DEFAULT_MAX_RELEASES = 128;

/**
 * Remembers the releases that turns run on. A release is named by the digest of its content and so never changes: what
 * was found once needs no second look. One that is missing is looked for again, since it may be kept at any time.
 */
export function cacheReleases(store: ReleaseStore, maxReleases: number = DEFAULT_MAX_RELEASES): ReleaseStore {
  const found = new LRUCache<string, AgentRelease>({ max: maxReleases });
  return {
    async keep(projectId, release) {
      const releaseId = await store.keep(projectId, release);
      found.set(keyOf(projectId, releaseId), release);
      return releaseId;
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

function keyOf(projectId: string, releaseId: string): string {
  return `${projectId} ${releaseId}`;
}
