import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { expectAccessible, requiresChromium } from './support/chromium.ts';
import { type ConsoleService, startConsole } from './support/consoleService.ts';

const HOSTILE = '<img src=x onerror=document.title=1>';

describe('Pages of a project', requiresChromium, () => {
  let own: ConsoleService;
  beforeAll(async () => {
    own = await startConsole();
  });
  afterAll(() => own.close());

  test('Knowledge: documents are uploaded, searched, switched off and deleted; their words are text', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Clinic' });
    const { page, problems } = await own.open(`/projects/${id}/knowledge`);
    await page.getByLabel('Name').fill('Handbook');
    await page.getByRole('button', { name: 'Create the knowledge base' }).click();
    const hours = `The clinic is open on Sunday. ${HOSTILE}`;
    await page.locator('input[type=file]').setInputFiles([
      { name: `${HOSTILE}.txt`, mimeType: 'text/plain', buffer: Buffer.from(hours) },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7\nnothing') },
    ]);
    await page.getByText('The PDF is damaged').waitFor();
    const document = page.getByRole('article', { name: `${HOSTILE}.txt` });
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
    await page.getByRole('button', { name: `Delete ${HOSTILE}.txt` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await document.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});
