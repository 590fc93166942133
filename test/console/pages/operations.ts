import { beforeAll, describe, expect, test } from 'vitest';

import { expectAccessible, requiresChromium } from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';

/** Of the line p95, in the dark. */
const COUNT_P95_PIXELS = `(() => {
  const canvas = document.querySelector('[aria-label$="Response time of turns"] canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.filter((_, i) => i % 4 === 0 && data.slice(i, i + 3).join() === '255,135,135').length;
})()`;
const PHONE = { width: 390, height: 844 };

describe('Trunks, settings and health', requiresChromium, () => {
  let own: ConsoleService;
  let projectId: string;
  beforeAll(async () => {
    own = await sharedConsole();
    ({ id: projectId } = await own.send('POST', '/v1/projects', { name: 'Clinic' }));
  });

  test('A trunk and a number are added, a call over them fails, and the page says why', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}`);
    await page.getByRole('link', { name: 'Connect a trunk' }).click();
    await page.getByRole('button', { name: 'Add a trunk' }).click();
    await page
      .getByRole('textbox', { name: 'Name', exact: true })
      .fill('Carrier <img src=x onerror=alert(1)>');
    await page.getByRole('textbox', { name: 'Host' }).fill('not a host');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    await page.getByRole('textbox', { name: 'Host' }).fill('127.0.0.1');
    // No SIP peer listens there.
    await page.getByRole('textbox', { name: 'Port' }).fill('9');
    await page.getByLabel('Format of numbers').selectOption('0912345678 (national)');
    await page.getByRole('button', { name: 'Save' }).hover();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Carrier <img src=x onerror=alert(1)>', exact: true }).waitFor();
    const [trunk] = (await own.send('GET', `/v1/projects/${projectId}/trunks`)).data;
    expect(trunk.numberFormat).toBe('national');
    await page.getByRole('textbox', { name: 'Number' }).fill('+886223456789');
    await page.getByRole('button', { name: 'Add the number' }).click();
    await page.getByRole('cell', { name: '+886223456789', exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole('textbox', { name: 'To' }).fill('+886223456780');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('status').getByText('Status: failed').waitFor();
    await page.getByRole('status').getByText('check host, port and transport').waitFor();
    // The host that was refused.
    expect(problems.filter((problem) => !/\b400\b/.test(problem))).toEqual([]);

    await page.getByRole('button', { name: 'Delete +886223456789' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No number yet.').waitFor();
    expect((await own.send('GET', `/v1/projects/${projectId}/phone-numbers`)).data).toEqual([]);
  });

  test('A key is created, shown once, used and revoked; the audit log and the usage are shown', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/settings`);
    // A ten-millionth of it: such a share has an exponent as JavaScript writes it, and as screen readers do not read it.
    await page.route('**/usage', async (route) => {
      const usage = await (await route.fetch()).json();
      usage.quotas.storedBytes.used = usage.quotas.storedBytes.limit / 1e7;
      await route.fulfill({ json: usage });
    });
    await page.reload();
    await page.getByRole('heading', { name: 'Quotas' }).waitFor();
    await page.getByText('Tokens today, on the installation’s keys: 0 / no limit').waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('CRM');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('status').locator('code').textContent();
    const used = () =>
      fetch(`${own.service.url}/v1/projects/${projectId}`, { headers: { authorization: `Bearer ${key}` } });
    expect((await used()).status).toBe(200);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke CRM' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke CRM' }).waitFor({ state: 'detached' });
    expect((await used()).status).toBe(401);

    await page.getByRole('tab', { name: 'Providers' }).click();
    await page.getByRole('combobox', { name: 'Provider' }).selectOption('deepgram');
    await page.getByRole('textbox', { name: 'Key' }).fill('a-key-of-deepgram');
    await page.getByRole('button', { name: 'Save the key' }).click();
    await page.getByRole('button', { name: 'Delete deepgram' }).waitFor();
    await page.getByRole('tab', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: 'Key revoked api_key.revoked' }).first().waitFor();
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    expect(await page.getByText('a-key-of-deepgram').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('The operator sees the nodes with their plots; a key has no such page', async () => {
    const { page, problems } = await own.open('/health', { token: null, colorScheme: 'dark' });
    await page.request.post(`${own.service.url}/console/session`, { data: { token: own.adminToken } });
    // One answer between samples without any.
    await page.route('**/v1/nodes', async (route) => {
      const nodes = await (await route.fetch()).json();
      for (const node of nodes.data) {
        const [sample] = node.samples;
        node.samples = [null, { p50: 400, p95: 400 }, null].map((turnLatencyMs, place) => ({
          ...sample,
          at: new Date(place * 15_000).toISOString(),
          turnLatencyMs,
        }));
      }
      await route.fulfill({ json: nodes });
    });
    await page.reload();
    await page.getByRole('cell', { name: 'Ready' }).waitFor();
    const latency = page.getByRole('img', { name: /Response time of turns/ });
    await latency.waitFor();
    await expect.poll(() => page.evaluate(COUNT_P95_PIXELS)).toBeGreaterThan(0);
    // Of the last sample, without a pointer on the plot.
    await page
      .getByRole('img', { name: /: Calls/ })
      .getByText(/:30/)
      .waitFor();
    await page.getByText('Database: up').waitFor();
    await expectAccessible(page);
    // Its table is wider than a phone, and is scrolled by keys.
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    expect(problems).toEqual([]);

    const { key } = await own.send('POST', `/v1/projects/${projectId}/api-keys`, {
      name: 'reader',
      kind: 'developer',
      scopes: ['read'],
    });
    const reader = await own.open('/', { token: key });
    await reader.page.getByRole('heading', { name: 'Clinic' }).waitFor();
    expect(await reader.page.getByRole('link', { name: 'Health' }).count()).toBe(0);
    await reader.page.goto(`${own.service.url}/console/health`);
    await reader.page.getByRole('alert').waitFor();
    expect(await reader.page.getByRole('cell', { name: 'Ready' }).count()).toBe(0);
    await reader.page.goto(`${own.service.url}/console/do-not-call`);
    await reader.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  });
});
