import { beforeAll, describe, expect, test } from 'vitest';

import {
  CHINESE_PHONE,
  expectAccessible,
  expectFitsPhone,
  expectLightScripts,
  requiresChromium,
} from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';
import { choose } from '../support/lists.ts';
import { createProject, type TestProject } from '../support/testProject.ts';

describe('Releases', requiresChromium, () => {
  let own: ConsoleService;
  let project: TestProject;
  beforeAll(async () => {
    own = await sharedConsole();
    project = await createProject(own, 'Released');
  });

  const setPrompt = (first: string) =>
    project.send('PATCH', '/agent', {
      status: 'draft',
      globalPrompt: first + ' It is open from nine to five.'.repeat(40),
    });

  test('A draft is published with a note, kept without being live, compared by words, and restored', async () => {
    await setPrompt('You are the friendly voice of a clinic.');
    const { page, problems } = await own.open(`/projects/${project.id}/releases`);
    await page.getByText('No release yet').waitFor();
    await expectLightScripts(page);
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByLabel('What is new').fill('The first');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('row', { name: /^1 live The first/ }).waitFor();
    await page.getByText('what you save is live at once').waitFor();

    await setPrompt('You are the kind voice of a large clinic.');
    await page.reload();
    await page.getByText('is a draft until you publish it').waitFor();
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByLabel('What is new').fill('Kind');
    await page.getByLabel('Live for new conversations at once').uncheck();
    await page.getByRole('button', { name: 'Keep as a release' }).click();
    await page.getByRole('row', { name: /^2 Kind/ }).waitFor();
    await page.getByRole('row', { name: /^1 live/ }).waitFor();

    await page.getByRole('link', { name: 'Compare release 2 with the one before' }).click();
    const difference = page.getByRole('region', { name: 'What release 2 changes in release 1' });
    await difference.getByText('0 added, 1 changed, 0 removed').waitFor();
    const words = (kind: string) => difference.locator(kind).allInnerTexts();
    expect(await words('del')).toEqual(['friendly']);
    expect((await words('ins')).map((text) => text.trim())).toEqual(['kind', 'large']);
    const [background] = await page.evaluate<string[]>(
      `[...document.querySelectorAll('ins')].map((one) => getComputedStyle(one).backgroundColor)`,
    );
    expect(background).not.toBe('rgba(0, 0, 0, 0)');
    await expectAccessible(page);
    await difference.getByRole('button', { name: /characters are the same/ }).click();
    expect(await difference.getByText(/(It is open from nine to five\. ?){40}/).count()).toBeGreaterThan(0);
    await choose(page, 'Compared with', 'Release 2');
    await page.getByText('Both releases say the same.').waitFor();

    await page.getByRole('button', { name: 'Restore release 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await project.send('GET', '/agent')).globalPrompt).toContain('friendly');
    expect(problems).toEqual([]);
  });

  test('A kept release is given to a share of people, to more of them, and taken back', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/releases`);
    await page.getByText('No rollout yet').waitFor();
    await page.getByRole('button', { name: 'Start a rollout' }).click();
    await page.getByLabel('Share of people, in percent').fill('20');
    await page.getByRole('button', { name: 'Remove Guard 1' }).click();
    await page.getByLabel('Limit').selectOption('at most');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Start the rollout' }).click();
    await page.getByText('20% of people get release 2, the others release 1.').waitFor();
    await page.getByText('With an error at most 5%').waitFor();
    await page.getByText('No conversation on either release has ended yet.').waitFor();
    expect((await project.send('GET', '/rollouts')).data[0]).toMatchObject({
      percent: 20,
      guards: [{ metric: 'error', max: 0.05 }],
      onBad: 'rollback',
      onGood: 'alert',
    });
    await page.getByLabel('Share of people, in percent').fill('50');
    await page.getByRole('button', { name: 'Change the share' }).click();
    await page.getByText('50% of people get release 2').waitFor();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('row', { name: /^50% from release 1 to 2 Rolled back Decided by hand/ }).waitFor();
    await page.getByRole('button', { name: /^Figures of the rollout of release 2/ }).click();
    await page.getByRole('alert').getByText('Decided by hand').waitFor();
    await expectAccessible(page);
    // By another hand: the page follows at once.
    const { id } = await project.send('POST', '/rollouts', { release: 2, percent: 5 });
    await page.getByText('5% of people get release 2').waitFor({ timeout: 10_000 });
    await project.send('POST', `/rollouts/${id}/promote`);
    await page.getByRole('row', { name: /^5% from release 1 to 2 Promoted/ }).waitFor({ timeout: 10_000 });
    await page.getByRole('row', { name: /^2 live/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/releases?release=2`, CHINESE_PHONE);
    await page.getByRole('region', { name: '版本 2 對版本 1 的更改' }).getByText('large').waitFor();
    await page.getByRole('button', { name: '還原版本 1' }).waitFor();
    await expectFitsPhone(page);
    expect(problems).toEqual([]);
  });
});
