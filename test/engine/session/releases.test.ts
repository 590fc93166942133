import { describe, expect, test } from 'vitest';
import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { starterPathway } from '../../../src/agents/pathway/schema/starterPathway.ts';
import type { AgentRelease } from '../../../src/agents/releases/release.ts';
import type { ReleaseStore } from '../../../src/engine/session/releases.ts';
import { cacheReleases, createCurrentReleases } from '../../../src/engine/session/releases.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';
import { unused } from '../../support/unused.ts';

function lookUpScene(stamp: { value: string | undefined }) {
  const clock = createSimulatedClock();
  const asked = { stamps: 0, releases: 0, kept: 0 };
  const currentRelease = createCurrentReleases({
    clock,
    async offeredReleases(projectId, draft) {
      asked.releases += 1;
      const agent = newAgentConfig(`${projectId} ${stamp.value} ${draft ? 'draft' : 'live'}`);
      return { live: { agent, pathwayId: 'p', pathwayVersion: 1, pathway: starterPathway(), tools: [] } };
    },
    releases: unused<ReleaseStore>('releases', {
      async stampOf() {
        asked.stamps += 1;
        return stamp.value;
      },
      async keep(_projectId, { agent }) {
        asked.kept += 1;
        return `id of ${agent.name}`;
      },
    }),
  });
  return { clock, asked, currentRelease };
}

describe('The current release look-up', () => {
  test('reads a release again only when its project has changed', async () => {
    const stamp = { value: '1' };
    const { asked, currentRelease } = lookUpScene(stamp);
    for (const [project, draft] of [
      ['a', false],
      ['a', false],
      ['a', true],
      ['b', false],
    ] as const) {
      const { releaseId } = await currentRelease({ projectId: project, draft: draft }, 'p');
      expect(releaseId).toBe(`id of ${project} 1 ${draft ? 'draft' : 'live'}`);
    }
    expect(asked).toEqual({ stamps: 4, releases: 3, kept: 3 });
    stamp.value = '2';
    expect((await currentRelease({ projectId: 'a', draft: false }, 'p')).releaseId).toBe('id of a 2 live');
  });

  test('stores the release again after 30 min, so that it does not count as unused', async () => {
    const { clock, asked, currentRelease } = lookUpScene({ value: '1' });
    await currentRelease({ projectId: 'a', draft: false }, 'p');
    clock.advance(31 * 60_000);
    await currentRelease({ projectId: 'a', draft: false }, 'p');
    expect(asked.kept).toBe(2);
  });

  test('replaces the agent’s execution mode where another one is asked for', async () => {
    const { currentRelease } = lookUpScene({ value: '1' });
    const modes = await Promise.all(
      ([undefined, 'turbo', 'smart'] as const).map(async (executionMode) => {
        const { release } = await currentRelease({ projectId: 'a', executionMode }, 'p');
        return release.agent.executionMode;
      }),
    );
    expect(modes).toEqual([null, 'turbo', 'smart']);
  });

  test('reads the release each time without a stamp', async () => {
    const { asked, currentRelease } = lookUpScene({ value: undefined });
    await currentRelease({ projectId: 'a', draft: false }, 'p');
    await currentRelease({ projectId: 'a', draft: false }, 'p');
    expect(asked.releases).toBe(2);
  });

  test('shares concurrent look-ups', async () => {
    const { asked, currentRelease } = lookUpScene({ value: undefined });
    await Promise.all(
      Array.from({ length: 50 }, () => currentRelease({ projectId: 'a', draft: false }, 'p')),
    );
    expect(asked.releases).toBeLessThanOrEqual(2);
  });
});

function cacheScene(maxReleases?: number) {
  const kept = new Map<string, AgentRelease>();
  const asked: string[] = [];
  const keep = (key: string) => {
    const release = { ...RELEASE, pathwayId: key };
    kept.set(key, release);
    return release;
  };
  const releases = cacheReleases(
    {
      keep: async (projectId) => `kept for ${projectId}`,
      async find(projectId, releaseId) {
        asked.push(`${projectId}/${releaseId}`);
        return kept.get(`${projectId}/${releaseId}`);
      },
      stampOf: async () => undefined,
      removeUnused: async () => void asked.push('removeUnused'),
    },
    maxReleases,
  );
  return { releases, asked, keep };
}

const RELEASE: AgentRelease = {
  agent: newAgentConfig('a'),
  pathwayId: 'p',
  pathwayVersion: 1,
  pathway: starterPathway(),
  tools: [],
};

describe('The release cache', () => {
  test('reads a release once', async () => {
    const { releases, asked, keep } = cacheScene();
    const release = keep('p/1');
    expect(await releases.find('p', '1')).toBe(release);
    expect(await releases.find('p', '1')).toBe(release);
    expect(asked).toEqual(['p/1']);
  });

  test('keeps the releases of projects apart', async () => {
    const { releases, keep } = cacheScene();
    const ours = keep('p/1');
    expect(await releases.find('p', '1')).toBe(ours);
    expect(await releases.find('q', '1')).toBeUndefined();
  });

  test('finds a missing release once it is stored', async () => {
    const { releases, asked, keep } = cacheScene();
    expect(await releases.find('p', '1')).toBeUndefined();
    const release = keep('p/1');
    expect(await releases.find('p', '1')).toBe(release);
    expect(asked).toEqual(['p/1', 'p/1']);
  });

  test('drops the least recently used release', async () => {
    const { releases, asked, keep } = cacheScene(2);
    for (const id of ['1', '2', '3']) keep(`p/${id}`);
    for (const id of ['1', '2', '1', '3', '1', '2']) await releases.find('p', id);
    expect(asked).toEqual(['p/1', 'p/2', 'p/3', 'p/2']);
  });

  test('holds a release that was just stored', async () => {
    const { releases, asked } = cacheScene();
    expect(await releases.keep('p', RELEASE)).toBe('kept for p');
    expect(await releases.find('p', 'kept for p')).toBe(RELEASE);
    expect(asked).toEqual([]);
  });
});
