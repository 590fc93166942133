import { expect, test } from 'vitest';

import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { starterPathway } from '../../../src/agents/pathway/schema/starterPathway.ts';
import type { AgentRelease } from '../../../src/agents/release.ts';
import { cacheReleases } from '../../../src/engine/session/releases.ts';

function scene(maxReleases?: number) {
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

test('a release is asked for once, and is the same one each time', async () => {
  const { releases, asked, keep } = scene();
  const release = keep('p/1');
  expect(await releases.find('p', '1')).toBe(release);
  expect(await releases.find('p', '1')).toBe(release);
  expect(asked).toEqual(['p/1']);
});

test('equal releases of two projects are two', async () => {
  const { releases, keep } = scene();
  const ours = keep('p/1');
  expect(await releases.find('p', '1')).toBe(ours);
  expect(await releases.find('q', '1')).toBeUndefined();
});

test('one that was missing is found once it is kept', async () => {
  const { releases, asked, keep } = scene();
  expect(await releases.find('p', '1')).toBeUndefined();
  const release = keep('p/1');
  expect(await releases.find('p', '1')).toBe(release);
  expect(asked).toEqual(['p/1', 'p/1']);
});

test('of more than there is room for, the one unused for the longest time is asked for again', async () => {
  const { releases, asked, keep } = scene(2);
  for (const id of ['1', '2', '3']) keep(`p/${id}`);
  for (const id of ['1', '2', '1', '3', '1', '2']) await releases.find('p', id);
  expect(asked).toEqual(['p/1', 'p/2', 'p/3', 'p/2']);
});

test('one that was just kept is not asked for', async () => {
  const { releases, asked } = scene();
  expect(await releases.keep('p', RELEASE)).toBe('kept for p');
  expect(await releases.find('p', 'kept for p')).toBe(RELEASE);
  expect(asked).toEqual([]);
});

test('all else goes to the store', async () => {
  const { releases, asked } = scene();
  await releases.removeUnused();
  expect(asked).toEqual(['removeUnused']);
});
