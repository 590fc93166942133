import { beforeAll, describe, expect, test } from 'vitest';

import {
  CHINESE_PHONE,
  expectAccessible,
  expectFitsPhone,
  expectLightScripts,
  requiresChromium,
} from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';
import { createProject, type TestProject } from '../support/testProject.ts';

/** Ended sessions are queued within 60 s. */
const QUEUED_MS = 75_000;

describe('Reviews', requiresChromium, () => {
  let own: ConsoleService;
  let project: TestProject;
  beforeAll(async () => {
    own = await sharedConsole();
    project = await createProject(own, 'Reviewed');
  });

  const waiting = async () => (await project.send('GET', '/reviews')).pagination.total;

  test('What a rule has queued is reviewed by keys alone, and the bad one becomes a test case', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/reviews`);
    await page.getByText('Nothing waits for review.').waitFor();
    await expectLightScripts(page);
    await page.getByRole('tab', { name: 'What is queued' }).click();
    await page.getByLabel('At random', { exact: true }).check();
    await page.getByLabel('At random: share in percent').fill('100');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save the rules' }).click();
    await page.getByText('The rules are saved.').waitFor();
    for (const sessionId of ['one', 'two', 'three']) await project.talk(sessionId, `Hello from ${sessionId}`);
    await expect.poll(waiting, { timeout: QUEUED_MS, interval: 1_000 }).toBe(3);

    await page.goto(`${own.service.url}/console/projects/${project.id}`);
    await page.getByRole('link', { name: '3 conversations wait for review' }).click();
    await page.getByText('Hello from three').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('j');
    await page.getByText('Hello from two').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.type('booked the wrong day');
    await page.keyboard.press('Escape');
    await page.keyboard.press('l');
    await page.keyboard.type('dates');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('b');
    await page.getByText('2 left').waitFor();
    await page.getByText('Hello from one').waitFor();
    await page.keyboard.press('k');
    await page.getByText('Hello from three').waitFor();
    await page.keyboard.press('g');
    await page.getByText('1 left').waitFor();
    const { data } = await project.send('GET', '/reviews?status=done');
    expect(data.map(({ sessionId, review }: Reviewed) => [sessionId, review.verdict, review.note])).toEqual([
      ['three', 'good', undefined],
      ['two', 'bad', 'booked the wrong day'],
    ]);

    await page.getByRole('tab', { name: 'Reviewed' }).click();
    await page.getByRole('row', { name: /Bad booked the wrong day dates/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Make a test case of the bad one' }).click();
    await page.getByText('1 test case is made').waitFor();
    expect((await project.send('GET', '/test-cases')).data).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/reviews`, CHINESE_PHONE);
    await page.getByText('Hello from one').waitFor();
    await expectFitsPhone(page);
    await page.getByRole('button', { name: '好', exact: true }).click();
    await page.getByText('沒有待審查的對話').waitFor();
    expect(problems).toEqual([]);
  });
});

interface Reviewed {
  readonly sessionId: string;
  readonly review: { readonly verdict: string; readonly note?: string };
}
