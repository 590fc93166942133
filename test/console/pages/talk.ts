import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { CHINESE_PHONE, expectAccessible, requiresChromium } from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';
import { type HostPage, serveHostPage } from '../support/hostPage.ts';

const SLOW = { timeout: 45_000 };
const MAX_GZIPPED_BYTES = 25_000;
/** The agent asks, and a voice at the microphone answers, again and again: a slow machine misses none of it. */
const PATHWAY = {
  nodes: [
    {
      id: 'ask',
      type: 'start',
      data: {
        title: 'Ask about the table',
        prompt: 'Say: "Shall we keep your table?"',
        expectedAnswers: ['yes keep it', 'no cancel it'],
        interruption: 'off',
      },
    },
    {
      id: 'kept',
      type: 'say',
      data: { title: 'Keep it', prompt: 'Wonderful. See you tomorrow.', interruption: 'off' },
    },
    { id: 'canceled', type: 'say', data: { title: 'Let it go', prompt: 'Another time, then.' } },
    {
      id: 'more',
      type: 'conversation',
      data: { title: 'Ask for more', prompt: 'Ask: "Anything else?"', interruption: 'off' },
    },
  ].map((node) => ({ ...node, position: { x: 0, y: 0 } })),
  edges: [
    {
      id: 'yes',
      source: 'ask',
      target: 'kept',
      data: { condition: 'The caller says yes, or wants to keep the table.' },
    },
    {
      id: 'no',
      source: 'ask',
      target: 'canceled',
      data: { condition: 'The caller says no, or wants to cancel the table.' },
    },
    { id: 'after', source: 'kept', target: 'more' },
  ],
};

describe('A talk in the browser', { timeout: 150_000, ...requiresChromium }, () => {
  let own: ConsoleService;
  let host: HostPage;
  let projectId: string;
  beforeAll(async () => {
    host = await serveHostPage();
    own = await sharedConsole();
    projectId = (await own.send('POST', '/v1/projects', { name: 'Luna' })).id;
    const { key } = await own.send('POST', `/v1/projects/${projectId}/api-keys`, {
      name: 'test',
      kind: 'secret',
    });
    const put = await fetch(`${own.service.url}/v1/projects/${projectId}/pathway`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(PATHWAY),
    });
    expect(put.status, await put.text()).toBe(200);
  });
  afterAll(() => host?.close());

  async function openHostPage(options: object = {}, token = { allowedOrigins: [host.origin] }) {
    const made = await own.send('POST', `/v1/projects/${projectId}/widget-tokens`, token);
    host.show(
      own.service.url,
      `<callway-widget project="${projectId}" token="${made.token}"></callway-widget>`,
    );
    return await own.visit(host.origin, options);
  }

  test('on the page Talk: heard, answered, its path, latency and keys shown, and made a test case', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/talk`);
    await page.getByRole('button', { name: 'Call the agent' }).click();
    const log = page.getByRole('log');
    await log.getByText('Shall we keep your table?').waitFor(SLOW);
    await log.getByText('yes keep it').first().waitFor(SLOW);
    await log.getByText('Wonderful. See you tomorrow. Anything else?').waitFor(SLOW);
    await page.locator('[data-active]').getByText('Ask for more').waitFor();
    await page
      .getByText(/end of turn/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Keypad' }).click();
    await page.getByRole('button', { name: '5', exact: true }).click();
    await page.getByText('Keys pressed: 5').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('The conversation has ended').waitFor();
    await page.getByRole('button', { name: 'Make a test case of it' }).click();
    await page.getByText(/The test case “.*” was made/).waitFor();
    expect(problems).toEqual([]);
  });

  test('on the page Talk by chat, on the draft, in Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/talk`, CHINESE_PHONE);
    await page.getByText('草稿').click();
    await page.getByRole('textbox', { name: '訊息' }).fill('hello <b>there</b>');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('Shall we keep your table?').waitFor();
    await page.getByRole('log').getByText('hello <b>there</b>').waitFor();
    await page.getByRole('textbox', { name: '訊息' }).fill('yes keep it');
    // Not while the agent still answers.
    await page.getByRole('button', { name: '傳送' }).click();
    await page.getByRole('log').getByText('Wonderful. See you tomorrow.').waitFor();
    await page.locator('[aria-current="step"]').getByText('Ask for more').waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test('by the widget on a page of another origin under a strict policy: heard, answered, ended', async () => {
    const { page, problems } = await openHostPage();
    await page.getByRole('button', { name: 'Talk or chat with us' }).click();
    const panel = page.getByRole('dialog', { name: 'How can we help?' });
    await panel.getByRole('button', { name: 'Talk' }).click();
    const log = page.getByRole('log');
    await log.getByText('Shall we keep your table?').waitFor(SLOW);
    await log.getByText('yes keep it').first().waitFor(SLOW);
    await log.getByText('Wonderful. See you tomorrow.').waitFor(SLOW);
    await panel.getByRole('button', { name: 'Mute', exact: true }).click();
    await expectAccessible(page);
    await panel.getByRole('button', { name: 'Hang up' }).click();
    await log.getByText('The call has ended.').waitFor();
    expect(problems).toEqual([]);
  });

  test('by the widget’s chat, by keyboard alone, in Chinese, dark and on a telephone', async () => {
    const { page, problems } = await openHostPage(CHINESE_PHONE);
    await page.getByRole('button', { name: '與我們通話或聊天' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: '輸入訊息' }).waitFor();
    await page.keyboard.type('hello <img src=x onerror=alert(1)>');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('Shall we keep your table?').waitFor();
    await page.keyboard.type('yes keep it');
    await page.keyboard.press('Enter');
    await page.getByRole('log').getByText('Wonderful. See you tomorrow.').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(await focusedLabel(page)).toBe('與我們通話或聊天');
    expect(problems).toEqual([]);
  });

  test('by the widget is refused in words to a page of an origin that its token does not name', async () => {
    const { page } = await openHostPage({}, { allowedOrigins: ['https://www.example.com'] });
    await page.getByRole('button', { name: 'Talk or chat with us' }).click();
    await page.keyboard.type('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The assistant cannot be reached').waitFor();
  });

  test('by the widget loads a script of less than 25 KB', async () => {
    const response = await fetch(`${own.service.url}/widget.js`);
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('cache-control')).toContain('public');
    expect(gzipSync(await response.text()).length).toBeLessThan(MAX_GZIPPED_BYTES);
    const etag = response.headers.get('etag') ?? '';
    const again = await fetch(`${own.service.url}/widget.js`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });
});

/** Of the element in the widget that has the focus. */
function focusedLabel(page: Page): Promise<string | null> {
  return page.evaluate(
    `document.querySelector('callway-widget').shadowRoot.activeElement?.getAttribute('aria-label')`,
  );
}
