import type { Route } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';

import { CHINESE_PHONE, expectAccessible, expectFitsPhone, requiresChromium } from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';
import { choose } from '../support/lists.ts';

/** Buttons whose words are wider than they. */
const CLIPPED_LABELS =
  '[...document.querySelectorAll(".mantine-Button-label")].filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent)';
const HOSTILE = '<img src=x onerror=document.title=1>';
/** Behind it, `fdp.txt` reads `txt.pdf`. */
const RIGHT_TO_LEFT_OVERRIDE = '\u202e';

/** Answers with a run of which nothing was played yet. */
async function unplayed(route: Route): Promise<void> {
  const response = await route.fetch();
  const { data } = await response.json();
  const cases = data.cases.map((one: { readonly runs: readonly object[] }) => ({
    ...one,
    ...{ status: 'queued', passed: 0, failed: 0, passRate: null },
    runs: one.runs.map((play, index) => ({ ...play, index, status: 'queued', assertions: [] })),
  }));
  await route.fulfill({ response, json: { data: { ...data, status: 'running', endedAt: null, cases } } });
}

describe('Pages of a project', requiresChromium, () => {
  let own: ConsoleService;
  beforeAll(async () => {
    own = await sharedConsole();
  });

  /** A project, and requests with a key of it. */
  async function newProject(name = 'Clinic') {
    const { id } = await own.send('POST', '/v1/projects', { name });
    const { key } = await own.send('POST', `/v1/projects/${id}/api-keys`, {
      name: 'test',
      kind: 'secret',
    });
    const send = (method: string, path: string, body: unknown) =>
      own.send(method, `/v1/projects/${id}${path}`, body, key);
    return { id, send };
  }

  test('Knowledge: documents are uploaded, searched, switched off and deleted; their words are text', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Clinic' });
    const { page, problems } = await own.open(`/projects/${id}/knowledge`);
    await page.getByLabel('Name').fill('Handbook');
    await page.getByRole('button', { name: 'Create the knowledge base' }).click();
    const hours = `The clinic is open on Sunday. ${HOSTILE}`;
    await page.locator('input[type=file]').setInputFiles([
      {
        name: `${HOSTILE}${RIGHT_TO_LEFT_OVERRIDE}fdp.txt`,
        mimeType: 'text/plain',
        buffer: Buffer.from(hours),
      },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nnothing') },
    ]);
    await page.getByText('The PDF is damaged').waitFor();
    const document = page.getByRole('article', { name: `${HOSTILE}fdp.txt` });
    await document.getByText('Ready').waitFor();

    await page.getByLabel('Question').fill('Is the clinic open on Sunday?');
    await page.keyboard.press('Enter');
    await page.getByLabel(/^Similarity 0\./).waitFor();
    await page.getByText(hours).waitFor();
    await expectAccessible(page);

    await document.getByRole('link').click();
    await page.getByRole('switch', { name: 'Searchable' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('switch', { name: 'Searchable', checked: false }).waitFor();
    await page.getByText(hours).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: '← Knowledge' }).click();
    await page.getByRole('button', { name: `Delete ${HOSTILE}fdp.txt` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await document.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('Tests: a suite and a case are made, run and compared; a failure shows both sides', async () => {
    const { id, send } = await newProject();
    await send('PUT', '/pathway', {
      nodes: [
        { id: 'begin', type: 'start', data: { title: 'Begin' }, position: { x: 0, y: 0 } },
        {
          id: 'greeting',
          type: 'say',
          data: { title: 'Greeting', prompt: 'Welcome.' },
          position: { x: 0, y: 9 },
        },
      ],
      edges: [{ id: 'e', source: 'begin', target: 'greeting', data: { label: '', condition: null } }],
    });
    const { page, problems } = await own.open(`/projects/${id}/tests`);
    await page.getByLabel('Name of the suite').fill('Before each release');
    await page.keyboard.press('Enter');
    // The list has such a link, too, for a case of no suite.
    await page.getByRole('heading', { name: 'Before each release' }).waitFor();
    await page.getByRole('link', { name: 'Create a case' }).click();
    // The page before it has a field of such a name, too.
    await page.getByRole('heading', { name: 'New test case' }).waitFor();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Words').fill('Good morning');
    await page.getByRole('button', { name: 'Add an assertion' }).click();
    await page.getByLabel('Value').fill('Goodbye');
    await page.getByText('YAML', { exact: true }).click();
    await expectAccessible(page);
    const yaml = await page.getByLabel('The case as YAML').inputValue();
    expect(yaml).toContain('- say: Good morning');
    await page.getByRole('button', { name: 'Create the case' }).click();

    await page.getByRole('button', { name: 'Run Before each release' }).click();
    await page.getByLabel('Repeats of each case').fill('2');
    // The page is there before the plays: a failure opens as it comes.
    await page.route(/test-runs\/[^/?]+$/, unplayed, { times: 1 });
    let show = () => {};
    const isShown = new Promise<void>((resolve) => {
      show = resolve;
    });
    await page.route('**/events?type=test.updated', async (route) => {
      await isShown;
      // That of the page before is gone.
      await route.continue().catch(() => undefined);
    });
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('0 of 2 plays have ended').first().waitFor();
    show();
    await page.getByText('0 of 2 plays passed').waitFor();
    await page.getByText('Good morning').waitFor();
    await page.getByText('Welcome.', { exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByText('YAML', { exact: true }).click();
    await page.getByLabel('The case as YAML').fill(yaml.replace('Goodbye', 'Welcome'));
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The case is saved').waitFor();
    await page.getByRole('link', { name: '← Tests' }).click();
    await page.getByRole('tab', { name: 'Suites' }).click();
    await page.getByRole('button', { name: 'Run Before each release' }).click();
    await choose(page, 'Compare with', /./);
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('Newly passing').waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: '← Tests' }).click();
    await page.getByRole('tab', { name: 'Runs' }).click();
    for (const place of [0, 1])
      await page.getByLabel('Choose Before each release to compare').nth(place).check();
    await page.getByRole('link', { name: 'Compare 2 runs' }).click();
    await page.getByRole('row', { name: 'Live version' }).waitFor();
    expect(await page.getByRole('cell', { name: /Passed|Failed/ }).count()).toBe(2);
    await expectAccessible(page);
    await page.goBack();
    await page.getByRole('link', { name: 'Before each release' }).first().click();

    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    const report = await page.getByRole('link', { name: 'HTML report' }).getAttribute('href');
    await page.goto(`${own.service.url}${report}`);
    await page.getByText('Against the baseline: 0 newly failing, 1 newly passing').waitFor();
    await expectFitsPhone(page);
    expect(problems).toEqual([]);
  });

  test('Webhooks: a delivery shows its body as text, and is sent again; the secret is rotated', async () => {
    const { id, send } = await newProject();
    const url = `${own.service.url}/nobody`;
    await send('PATCH', '/agent', {
      eventWebhook: { url, events: ['turn.user'] },
      status: 'published',
    });
    await send('POST', '/chat/completions', {
      messages: [{ role: 'user', content: HOSTILE + RIGHT_TO_LEFT_OVERRIDE }],
    });
    const { page, problems } = await own.open(`/projects/${id}/webhooks`);
    await page.getByText(url).waitFor();
    const delivery = page.getByRole('button', { name: /turn.user/ }).first();
    const refresh = page.getByRole('button', { name: 'Refresh' });
    await expect
      .poll(async () => {
        await refresh.click();
        // Another attempt that appears would move what is clicked below.
        await page.locator('button:not([data-loading])', { hasText: 'Refresh' }).waitFor();
        return await delivery.count();
      })
      .toBe(1);
    await delivery.click();
    await page.getByText('the receiver answered 404').waitFor();
    await page.getByText(HOSTILE).waitFor();
    expect(await page.locator('main').textContent()).not.toContain(RIGHT_TO_LEFT_OVERRIDE);
    await page.getByText('"code": "not_found"').waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('It is sent again').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByText(/signs too until/).waitFor();
    expect(problems).toEqual([]);
  });

  test('A page that cannot be refreshed stays, says how old it is, and recovers; one that was never loaded says why', async () => {
    const { id, send } = await newProject();
    const { page } = await own.open(`/projects/${id}`);
    await page.clock.install();
    await page.goto(`${own.service.url}/console/projects/${id}/tests?tab=suites`);
    await page.getByText('No suite yet').waitFor();
    const json = { error: { code: 'unavailable', message: 'The database is away' } };
    const suites = '**/test-suites?*';
    await page.route(suites, (route) => route.fulfill({ status: 503, json }));
    await page.clock.fastForward(6_000);
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    const notice = page.getByText(/could not be refreshed.*The database is away/);
    await notice.waitFor();
    await page.getByText('No suite yet').waitFor();
    await expectAccessible(page);
    await send('POST', '/test-suites', { name: 'Made in the meantime', testCaseIds: [] });
    await page.getByRole('button', { name: 'Retry' }).click();
    await notice.waitFor();
    await page.unroute(suites);
    await page.clock.fastForward(11_000);
    await page.getByText('Made in the meantime').waitFor();
    await notice.waitFor({ state: 'detached' });

    await page.route(suites, (route) => route.fulfill({ status: 503, json }));
    await page.reload();
    await page
      .getByRole('alert', { name: 'This page cannot be shown' })
      .getByText('The database is away')
      .waitFor();
    expect(await notice.count()).toBe(0);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const { id, send } = await newProject(`Clinic ${'w'.repeat(60)}`);
    await send('POST', '/test-cases', {
      name: 'Tells a caller on the street when it is open',
      turns: [{ say: 'Hello' }],
    });
    const { page, problems } = await own.open(`/projects/${id}`, CHINESE_PHONE);
    for (const [path, text = ''] of [
      ['', '第一步'],
      ['tests?tab=cases', 'Tells a caller'],
      ['knowledge', '每個專案有一個知識庫'],
      ['tests', '尚無測試套件'],
      ['tests/cases/new', '新的測試案例'],
      ['webhooks', '尚未傳送任何內容'],
    ]) {
      await page.goto(`${own.service.url}/console/projects/${id}/${path}`);
      await page.getByText(text).waitFor();
      await expectFitsPhone(page);
      expect(await page.evaluate(CLIPPED_LABELS)).toEqual([]);
    }
    expect(problems).toEqual([]);
  });
});
