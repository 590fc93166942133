import { expect, test } from 'vitest';

import { newAgentConfig } from '../../../src/agents/agentConfig.ts';
import { starterPathway } from '../../../src/agents/pathway/schema/starterPathway.ts';
import type { AgentRelease } from '../../../src/agents/release.ts';
import { createCurrentReleases } from '../../../src/engine/session/releases.ts';
import { createSimulatedClock } from '../../support/simulatedClock.ts';

function scene(stamp: { value: string | undefined }) {
  const clock = createSimulatedClock();
  const asked = { stamps: 0, releases: 0, kept: 0 };
  const currentRelease = createCurrentReleases({
    clock,
    async releaseFor(projectId, draft): Promise<AgentRelease> {
      asked.releases += 1;
      const agent = newAgentConfig(`${projectId} ${stamp.value} ${draft ? 'draft' : 'live'}`);
      return {
        agent,
        pathwayId: 'p',
        pathwayVersion: 1,
        pathway: starterPathway(),
        tools: [],
      };
    },
    releases: {
      async stampOf() {
        asked.stamps += 1;
        return stamp.value;
      },
      async keep(_projectId, { agent }) {
        asked.kept += 1;
        return `id of ${agent.name}`;
      },
    },
  });
  return { clock, asked, currentRelease };
}

test('reads a release once as long as nothing changes, for each project, live and draft', async () => {
  const stamp = { value: '1' };
  const { asked, currentRelease } = scene(stamp);
  for (const [project, draft] of [
    ['a', false],
    ['a', false],
    ['a', true],
    ['b', false],
  ] as const) {
    const { releaseId } = await currentRelease(project, draft);
    expect(releaseId).toBe(`id of ${project} 1 ${draft ? 'draft' : 'live'}`);
  }
  expect(asked).toEqual({ stamps: 4, releases: 3, kept: 3 });
  stamp.value = '2';
  expect((await currentRelease('a', false)).releaseId).toBe('id of a 2 live');
});

test('keeps it anew now and then, so that it is not taken for unused', async () => {
  const { clock, asked, currentRelease } = scene({ value: '1' });
  await currentRelease('a', false);
  clock.advance(31 * 60_000);
  await currentRelease('a', false);
  expect(asked.kept).toBe(2);
});

test('reads it each time where changes cannot be told', async () => {
  const { asked, currentRelease } = scene({ value: undefined });
  await currentRelease('a', false);
  await currentRelease('a', false);
  expect(asked.releases).toBe(2);
});

test('those who begin at once share a look-up', async () => {
  const { asked, currentRelease } = scene({ value: undefined });
  await Promise.all(Array.from({ length: 50 }, () => currentRelease('a', false)));
  expect(asked.releases).toBeLessThanOrEqual(2);
});
