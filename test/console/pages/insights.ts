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

/** Ended sessions are counted within 60 s. */
const COUNTED_MS = 75_000;

describe('Insights', requiresChromium, () => {
  let own: ConsoleService;
  let project: TestProject;
  beforeAll(async () => {
    own = await sharedConsole();
    project = await createProject(own, 'Counted');
  });

  test('Pages without a conversation say what will be there, and how it comes about', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}`);
    await page.getByText('No conversation has ended today yet.').waitFor();
    await page.getByRole('region', { name: 'First steps' }).waitFor();
    await expectLightScripts(page);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Cost: not measured' }).click();
    await page.getByRole('link', { name: 'Set the rates' }).waitFor();
    await page.getByLabel('Metric').selectOption('Conversations');
    await page.getByText('No ended conversation in this time.').waitFor();
    await page.getByRole('tab', { name: 'Funnel' }).click();
    await page.getByText('went through the pathway').waitFor();
    expect(problems).toEqual([]);
  });

  test('From the figures of today to one conversation behind a point, by mouse and by keys', async () => {
    for (const sessionId of ['first', 'second']) await project.talk(sessionId, 'Hello', 'What does it cost?');
    await project.send('POST', '/agent/publish', { note: 'Other words' });
    await project.talk('third', 'Hello', 'What does it cost?');
    const counted = async () => (await project.send('GET', '/insights?metric=sessions')).total.n;
    await expect.poll(counted, { timeout: COUNTED_MS, interval: 1_000 }).toBe(3);

    const { page, problems } = await own.open(`/projects/${project.id}`);
    await page.getByRole('img', { name: 'Conversations by the hour' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Conversations: 3' }).click();
    await page.getByLabel('Time').selectOption('The last 7 days');
    await page.getByLabel('By', { exact: true }).selectOption('Release');
    const plot = page.getByRole('img', { name: 'Conversations' });
    await plot.waitFor();
    await expectLightScripts(page);
    await expectAccessible(page);
    const table = page.getByRole('table', { name: 'Conversations' });
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      'From (UTC)',
      'Draft',
      'Release 1',
    ]);

    await table.getByRole('link', { name: /^2: conversations of Draft/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('2 of 2').waitFor();
    expect(await page.getByLabel('Release').inputValue()).toBe('draft');
    await expectAccessible(page);
    await page.goBack();
    // The newest point is at the right end.
    const { x = 0, y = 0, width = 0, height = 0 } = (await plot.locator('.u-over').boundingBox()) ?? {};
    await page.mouse.move(x + width - 3, y + height * 0.1);
    await page.mouse.click(x + width - 3, y + height * 0.1);
    await page.getByText('2 of 2').waitFor();
    await page.getByLabel('Release').selectOption('Release 1');
    await page.getByText('1 of 1').waitFor();
    await page
      .getByRole('row', { name: /Chat.*Release 1/ })
      .getByRole('link')
      .click();
    await page.getByRole('heading', { name: 'third' }).waitFor();
    expect(problems).toEqual([]);
  });

  test.each([
    ['that ended at a node', 'node', /^3: conversations of Help the caller/, 'Node of the end'],
    ['without a disposition', 'disposition', /^3: conversations of Without/, 'Disposition'],
    ['without a label', 'provider', /^3: conversations of Without/, 'Label'],
  ])('A point of conversations %s leads to them', async (_, groupBy, point, filter) => {
    const { page, problems } = await own.open(`/projects/${project.id}/insights?groupBy=${groupBy}`);
    await page.getByRole('link', { name: point }).click();
    await page.getByText('3 of 3').waitFor();
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    await page.getByLabel(filter).waitFor();
    expect(problems).toEqual([]);
  });

  test('Points by how conversations ended lead to them, and agreement tells its kappa', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/insights?metric=endReasons`);
    await page.getByRole('link', { name: /^3: conversations of Terminated through the API/ }).click();
    await page.getByText('3 of 3').waitFor();
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    expect(await page.getByLabel('How it ended').inputValue()).toBe('api_terminate');
    await page.getByLabel('Status').selectOption('Active');
    await page.getByText('No conversation matches.').waitFor();

    const point = { at: new Date().toISOString(), value: 0.75, n: 20, kappa: 0.423 };
    const agreement = { series: [{ key: 'polite', points: [point] }], total: point };
    await page.route(/\/v1\/.*metric=judgeAgreement/, (route) => route.fulfill({ json: agreement }));
    await page.goto(`${own.service.url}/console/projects/${project.id}/insights?metric=judgeAgreement`);
    await page.getByText('from 20 · κ 0.42').waitFor();
    await page.getByRole('cell').getByText('κ 0.42 · n 20').waitFor();
    expect(problems).toEqual([]);
  });

  test('The funnel is drawn on the canvas, and stands in a table', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/insights?tab=funnel`);
    await page.getByText('3 entered · 0 ended').waitFor();
    await page.getByText('greeted · 3').waitFor();
    await page.getByRole('row', { name: /^Greeting 3 0 0%/ }).waitFor();
    await expectLightScripts(page);
    await expectAccessible(page);
    await page.getByRole('link', { name: '3: conversations that ended at Help the caller' }).click();
    await page.getByText('3 of 3').waitFor();
    const filtered = await own.open(`/projects/${project.id}/insights?tab=funnel&node=start`);
    await filtered.page.getByText('Remove these filters.').waitFor();
    expect([...problems, ...filtered.problems]).toEqual([]);
  });

  test('An alert is made, changed and deleted', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/insights?tab=alerts`);
    await page.getByText('No alert yet.').waitFor();
    await page.getByRole('button', { name: 'Create an alert' }).click();
    await page.getByLabel('Name').fill('Few successes');
    await page
      .getByRole('group', { name: 'Only of conversations with' })
      .getByLabel('Channel')
      .selectOption('Chat');
    await page.getByRole('button', { name: 'Set: Webhook' }).click();
    await page.getByLabel('URL').fill('https://clinic.example.com/alerts');
    await page.getByRole('button', { name: 'Add: Headers' }).click();
    await page.getByLabel('Key').fill('X-Team');
    await page.getByLabel('Value').fill('north');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save the alert' }).click();
    await page.getByRole('row', { name: /^Few successes Success below 80% within 60 min Chat OK/ }).waitFor();
    await page.getByRole('button', { name: 'Edit Few successes' }).click();
    await page.getByLabel('Fires').selectOption('above');
    await page.getByLabel('Bound').fill('90');
    await page.getByRole('button', { name: 'Save the alert' }).click();
    await page.getByRole('row', { name: /Success above 90% within 60 min/ }).waitFor();
    const [alert] = (await project.send('GET', '/alerts')).data;
    expect(alert).toMatchObject({ metric: 'success', above: 0.9, minCount: 20, filter: { channel: 'chat' } });
    expect(alert.webhook).toEqual({
      url: 'https://clinic.example.com/alerts',
      headers: [{ key: 'X-Team', value: 'north' }],
    });
    const busy = { name: 'Busy', metric: 'sessions', windowMinutes: 60, above: 1, minCount: 0 };
    await project.send('POST', '/alerts', busy);
    // Seen without a reload, by its event.
    await page.getByRole('row', { name: /^Busy .* Firing/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete Few successes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('row', { name: /^Few successes/ }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}`, CHINESE_PHONE);
    const isNarrow = async () => {
      await expectFitsPhone(page);
    };
    const open = (page_: string) => page.goto(`${own.service.url}/console/projects/${project.id}/${page_}`);
    await page.getByRole('link', { name: '對話數：3' }).waitFor();
    await isNarrow();
    await open('insights?metric=endReasons');
    await page.getByRole('img', { name: '結束原因' }).waitFor();
    await page.getByRole('button', { name: '篩選' }).click();
    await page.getByLabel('方向').waitFor();
    await isNarrow();
    await open('insights?tab=funnel');
    await page.getByText('進入 3 · 結束 0').waitFor();
    await isNarrow();
    await open('sessions');
    await page.getByText('3 / 3').waitFor();
    await isNarrow();
    expect(problems).toEqual([]);
  });
});
