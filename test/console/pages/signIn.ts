import { beforeAll, describe, expect, test } from 'vitest';

import { CHINESE_PHONE, expectAccessible, requiresChromium } from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';

describe('Sign-in', requiresChromium, () => {
  let own: ConsoleService;
  beforeAll(async () => {
    own = await sharedConsole();
  });

  test('An unknown token is refused; the operator creates a project, reads its page again and signs out', async () => {
    const { page, problems } = await own.open('/projects', { token: null });
    await expectAccessible(page);
    await page.getByLabel('Token or project key').fill('unknown');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The credential is not valid here').waitFor();
    expect(problems.filter((problem) => !/401/.test(problem))).toEqual([]);

    await page.getByLabel('Token or project key').fill(own.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Name').fill('Clinic <b>of</b> hope');
    await page.getByRole('button', { name: 'Create a project' }).click();
    await page.getByRole('heading', { name: 'Clinic <b>of</b> hope' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Clinic <b>of</b> hope' }).waitFor();
    expect(
      await page.evaluate('document.cookie + JSON.stringify({...localStorage, ...sessionStorage})'),
    ).not.toContain(own.adminToken);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Callway' }).waitFor();
    expect(problems.filter((problem) => !/401/.test(problem))).toEqual([]);
  });

  test('A key opens its own project and no other; a revoked one leads to the sign-in within a minute', async () => {
    const [mine, other] = await Promise.all(
      ['Mine', 'Other'].map((name) => own.send('POST', '/v1/projects', { name })),
    );
    const key = await own.send('POST', `/v1/projects/${mine.id}/api-keys`, {
      name: 'console',
      kind: 'developer',
      scopes: ['read'],
    });
    const { page, problems } = await own.open('/', { token: key.key });
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    expect(problems).toEqual([]);
    await page.goto(`${own.service.url}/console/projects/${other.id}`);
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('Other').count()).toBe(0);

    await page.clock.install();
    await page.goto(`${own.service.url}/console/`);
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    const outage = page.waitForResponse((response) => response.status() === 503);
    await page.route('**/console/session', (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await page.clock.fastForward(31_000);
    await outage;
    await page.getByRole('heading', { name: 'Mine' }).waitFor();
    await own.send('DELETE', `/v1/projects/${mine.id}/api-keys/${key.id}`);
    await page.clock.fastForward(31_000);
    await page.getByRole('dialog').getByText('Your session has ended, or its key was revoked').waitFor();
    await expectAccessible(page);
  });

  test('In Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open('/projects', CHINESE_PHONE);
    await page.getByRole('heading', { name: '專案' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: '選單' }).click();
    await page.getByRole('link', { name: '專案' }).waitFor();
    expect(problems).toEqual([]);
  });
});
