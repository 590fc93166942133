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

const FROM = '+886223450077';
const LIST = ['Name;Phone;City', 'Ada;0912 345 678;Taipei', '"Bo; b";not a number;', 'Cy;0922 333 444;'];

/** What a browser gives for a file that is dropped. */
const dropOf = (name: string, text: string) => `(() => {
  const data = new DataTransfer();
  data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}, { type: 'text/csv' }));
  return data;
})()`;

describe('Campaigns', requiresChromium, () => {
  let own: ConsoleService;
  let project: TestProject;
  beforeAll(async () => {
    own = await sharedConsole();
    project = await createProject(own, 'Clinic');
    await project.send('POST', '/trunks', { name: 'Carrier', host: '127.0.0.1', port: 9 });
    await project.send('POST', '/phone-numbers', { number: FROM });
  });

  test('A list is dropped, its wrong row is told, and the campaign is started and paused', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/campaigns`);
    await page.getByText('No campaign yet').waitFor();
    await expectLightScripts(page);
    await page.getByRole('button', { name: 'Create a campaign' }).click();
    await page.getByLabel('Name').fill('Renewals');
    await page.getByRole('combobox', { name: 'From numbers' }).click();
    await page.getByRole('option', { name: FROM }).click();
    await page.getByLabel('Hours', { exact: true }).selectOption('Other hours');
    await page.getByRole('button', { name: 'Mon 08:00' }).click();
    await page.getByText('Mon 08:00–18:00').waitFor();
    await page.getByLabel('No call before').fill('2027-01-02T09:30');
    await page.getByLabel('No call from then on').fill('2027-01-01T09:30');
    await page.getByLabel('Answering machine', { exact: true }).uncheck();
    await page.getByLabel('Busy: minutes').fill('5');
    await page.getByLabel('Pauses itself').uncheck();
    await page.getByLabel('Variables of every call').fill('company = A = B\nwrong');
    await page.getByText('“wrong” is not a name').waitFor();
    await page.getByLabel('Variables of every call').fill('company = A = B\n');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create the campaign' }).click();
    await page.getByRole('alert').getByText('endAt must be later').waitFor();
    await page.getByLabel('No call before').fill('');
    await page.getByRole('button', { name: 'Create the campaign' }).click();

    await page.getByRole('heading', { name: 'Renewals' }).waitFor();
    const created = (await project.send('GET', '/campaigns')).data[0];
    expect(created).toMatchObject({ variables: { company: 'A = B' }, pauseWhen: null });
    expect(created.schedule.startAt).toBeUndefined();
    expect(Date.parse(created.schedule.endAt)).toBe(new Date('2027-01-01T09:30').getTime());
    expect(created.retry.rules).toEqual([
      { outcomes: ['busy'], afterMinutes: 5 },
      { outcomes: ['no_answer'], afterMinutes: 120 },
      { outcomes: ['failed'], afterMinutes: 60 },
    ]);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').getByText('It has no contacts to call').waitFor();
    const dataTransfer = await page.evaluateHandle(dropOf('list.csv', LIST.join('\n')));
    await page.getByText('or drop it here').dispatchEvent('drop', { dataTransfer });
    await page.getByRole('cell', { name: 'Bo; b' }).waitFor();
    expect(await page.getByLabel('Column with the number').inputValue()).toBe('Phone');
    await page.getByRole('button', { name: 'Import the contacts' }).click();
    await page.getByText('3 rows: 2 added, 1 skipped').waitFor();
    await page.getByRole('row', { name: /^2 Invalid number/ }).waitFor();
    const read = page.getByRole('region', { name: 'Files that were read' });
    await read.getByRole('row', { name: /Read 3 2 1 Download the skipped rows/ }).waitFor();
    await page.getByText('0 of 2 contacts are finished').waitFor();
    await page.getByRole('region', { name: 'What goes out when' }).getByText('+886912345678').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Running').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
    // Another one who works on it.
    await project.send('POST', `/campaigns/${created.id}/resume`, {});
    await page.getByText('Running').waitFor({ timeout: 5_000 });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
    await page.getByRole('button', { name: 'Remove +886922333444' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('row', { name: '+886922333444 Skipped Removed' }).waitFor();
    await page.getByText('Not called: Removed: 1').waitFor();
    await page.getByRole('link', { name: 'Show its calls' }).click();
    await page.getByLabel('Campaign').getByText('Renewals').waitFor({ state: 'attached' });
    expect(await page.getByLabel('Campaign').inputValue()).toBe(created.id);
    // The end before the start, and the start without contacts.
    expect(problems.filter((problem) => !/\b(400|409)\b/.test(problem))).toEqual([]);
  });

  test('By keys alone the page is reached past the menu, and the focus goes on to the next step', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/campaigns`);
    await page.getByRole('button', { name: 'Create a campaign' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();
    await page.getByRole('button', { name: 'Create a campaign' }).press('Enter');
    await page.getByLabel('Name').fill('By keys');
    await page.getByRole('combobox', { name: 'From numbers' }).press('ArrowDown');
    await page.getByRole('option', { name: FROM }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create the campaign' }).press('Enter');
    await page.getByRole('heading', { name: 'By keys' }).waitFor();
    await page.locator('main:focus').waitFor();
    expect(await page.title()).toBe('By keys · Callway');
    const { data } = await project.send('GET', '/campaigns');
    const contacts = [{ toNumber: '+886912345678' }];
    await project.send('POST', `/campaigns/${data[0].id}/contacts`, { contacts });
    await page.getByText('0 of 1 contacts are finished').waitFor();
    await page.getByRole('button', { name: 'Start' }).press('Enter');
    await page.locator('button:focus').getByText('Pause').waitFor();
    expect(problems).toEqual([]);
  });

  test('A number is listed as never called, found and removed', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/campaigns`);
    await page.getByRole('tab', { name: 'Do not call' }).click();
    await page.getByText('No number is listed').waitFor();
    await page.getByLabel('Numbers to add').fill('+886912345678\n0912 345 678\n');
    await page.getByRole('button', { name: 'Add to the list' }).click();
    await page.getByText('1 added, 1 were listed already').waitFor();
    await page.getByLabel('Look a number up').fill('0912345678');
    await page.keyboard.press('Enter');
    await page.getByText('+886912345678 has been listed since').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Remove +886912345678' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No number is listed').waitFor();
    expect(problems).toEqual([]);
  });

  test.each([
    ['a project', () => `/projects/${project.id}/campaigns`],
    ['the installation', () => '/do-not-call'],
  ])('A file is read into the do-not-call list of %s, and its wrong rows are told', async (owner, path) => {
    const { page, problems } = await own.open(path());
    if (owner === 'a project') await page.getByRole('tab', { name: 'Do not call' }).click();
    await page.getByText('No number is listed').waitFor();
    const list = 'Name;Mobile\nAda;+886912000777\nBo;none\n';
    const dataTransfer = await page.evaluateHandle(dropOf('stop.csv', list));
    await page.getByText('or drop it here').dispatchEvent('drop', { dataTransfer });
    expect(await page.getByLabel('Column with the number').inputValue()).toBe('Mobile');
    expect(await page.getByLabel('Your id').count()).toBe(0);
    await page.getByRole('button', { name: 'Import the numbers' }).click();
    await page.getByText('2 rows: 1 added, 1 skipped').waitFor();
    await page.getByText('Invalid number: 1').waitFor();
    await page.getByRole('row', { name: /^\+886912000777 File/ }).waitFor();
    const file = page.getByRole('link', { name: 'Download all skipped rows (CSV)' });
    const url = new URL((await file.getAttribute('href')) ?? '', own.service.url);
    expect(await (await page.request.get(url.href)).text()).toContain('2,invalid_number,');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Remove +886912000777' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No number is listed').waitFor();
    expect(problems).toEqual([]);
  });

  test('The calling hours are drawn on a week, with a day without calls, and lifted', async () => {
    const { page, problems } = await own.open(`/projects/${project.id}/settings`);
    const savedHours = async () => (await project.send('GET', '')).callingHours;
    await page.getByRole('tab', { name: 'Calling hours' }).click();
    await page.getByRole('button', { name: 'Sun 08:00', exact: true }).hover();
    await page.mouse.down();
    await page.getByRole('button', { name: 'Sun 09:00', exact: true }).hover();
    await page.mouse.up();
    await page.getByText('Sun 10:00–21:00').waitFor();
    await page.getByRole('button', { name: 'Mon 08:00', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    await page.getByText('Tue 09:00–21:00').waitFor();
    await page.getByRole('combobox', { name: 'Days without calls' }).fill('2026-12-25');
    await page.keyboard.press('Enter');
    await page.getByLabel('Orders by the API').check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save the calling hours' }).click();
    await page.getByText('The calling hours are saved.').waitFor();
    expect(await savedHours()).toMatchObject({
      timezone: 'callee',
      windows: [
        { days: ['mon', 'wed', 'thu', 'fri', 'sat'], from: '08:00', to: '21:00' },
        { days: ['tue'], from: '09:00', to: '21:00' },
        { days: ['sun'], from: '10:00', to: '21:00' },
      ],
      exceptDates: ['2026-12-25'],
      appliesTo: ['campaign', 'callback', 'api'],
    });
    await page.getByRole('switch', { name: /these hours only/ }).click();
    await page.getByRole('button', { name: 'Save the calling hours' }).click();
    await expect.poll(savedHours).toBe(null);
    expect(problems).toEqual([]);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const campaign = await project.send('POST', '/campaigns', { name: 'Renewals' });
    const contacts = [{ toNumber: '+886912345678' }, { toNumber: 'none' }];
    await project.send('POST', `/campaigns/${campaign.id}/contacts`, { contacts });
    const { page, problems } = await own.open(`/projects/${project.id}/campaigns`, CHINESE_PHONE);
    await page.getByRole('button', { name: '建立外撥活動' }).click();
    await page.getByLabel('時段', { exact: true }).selectOption('其他時段');
    await page.getByRole('button', { name: '週一 08:00' }).waitFor();
    await expectAccessible(page);
    await page.goto(`${own.service.url}/console/projects/${project.id}/settings`);
    await page.getByRole('tab', { name: '可撥時段' }).click();
    await page.getByRole('button', { name: '儲存可撥時段' }).waitFor();
    await expectFitsPhone(page);
    await page.goto(`${own.service.url}/console/projects/${project.id}/campaigns/${campaign.id}`);
    await page.getByText('1 位聯絡人中有 0 位已結束').waitFor();
    await page.getByRole('region', { name: '撥出的時間' }).waitFor();
    await expectFitsPhone(page);
    expect(problems).toEqual([]);
  });
});
