import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';

import {
  CHINESE_PHONE,
  expectAccessible,
  expectLightScripts,
  requiresChromium,
} from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';
import { choose, chooseFrom } from '../support/lists.ts';

describe('Agent page', { ...requiresChromium, timeout: 120_000 }, () => {
  let own: ConsoleService;
  beforeAll(async () => {
    own = await sharedConsole();
  });

  test('A clinic agent is built by hand, with a tool, and published', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Clinic' });
    const { page, problems } = await own.open(`/projects/${id}/agent`);
    const api = apiOf(page, id);
    await node(page, 'Greeting').waitFor();
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'Tools' }).click();
    await page.getByRole('button', { name: 'New tool' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('find slot');
    await page.getByLabel('URL').fill('https://clinic.example.com/slots');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('must be letters, digits').first().waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('find_slot');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Try it' }).waitFor();
    await expectAccessible(page);
    const [tool] = (await api.get('tools')).data;

    await page.getByRole('tab', { name: 'Pathway' }).click();
    await addNode(page, 'Tool', 'Find a slot');
    // Its panel does not cover it.
    await node(page, 'Find a slot').click({ trial: true });
    await choose(page, 'Tools', 'find_slot', 'find');
    await page.getByRole('button', { name: 'Close' }).click();

    await addNode(page, 'Say', 'Confirm <b>it</b>');
    const prompt = page.getByLabel('Prompt');
    const complete = async () => {
      await prompt.fill('');
      await prompt.pressSequentially('You called {{ chan');
    };
    await chooseFrom(complete, page.getByRole('option', { name: '{{ channel }}' }));
    expect(await prompt.inputValue()).toBe('You called {{ channel }}');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('textbox', { name: 'channel', exact: true }).fill('<b>web</b>');
    await page.getByText('You called <b>web</b>').waitFor();
    await choose(page, 'Connect to', 'Goodbye', 'Goodbye');
    await page.getByLabel('Label').fill('done');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('button', { name: 'Show all' }).click();
    await node(page, 'Goodbye').click();
    await choose(page, 'Connect from', 'Any node');
    await choose(page, 'Condition', 'A sentence that the model evaluates');
    await page.getByLabel('Value').fill('The caller says goodbye.');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('button', { name: 'Arrange' }).click();
    // It is in view, and no node hides it.
    const label = page.locator('.react-flow__edgelabel-renderer').getByText('The caller says goodbye.');
    await label.click({ trial: true });
    await drag(page, 'Help the caller', 'Find a slot');
    await choose(page, 'Condition', 'A sentence that the model evaluates');
    await page.getByLabel('Value').fill('The caller wants an appointment.');
    await page.getByRole('button', { name: 'Close' }).click();
    await drag(page, 'Find a slot', 'Confirm <b>it</b>');
    await expectAccessible(page);

    await node(page, 'Goodbye').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Goodbye' }).waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel')).toBe('Goodbye');
    await node(page, 'Goodbye').focus();
    await page.keyboard.press('Delete');
    await node(page, 'Goodbye').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await node(page, 'Goodbye').waitFor();

    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByLabel('What is new').fill('Finds a slot');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Published', { exact: true }).waitFor();
    const { nodes, edges } = await api.get('pathway');
    const idOf = (title: string) => nodes.find(({ data }: Titled) => data.title === title)?.id;
    expect(nodes.find(({ data }: Titled) => data.title === 'Find a slot').data.tools).toEqual([tool.id]);
    expect(
      edges.map(({ source, target, data }: Edge) => [source, target, data.label, data.condition]),
    ).toEqual([
      ['start', 'conversation', 'greeted', null],
      ['conversation', 'end', 'finished', 'The caller needs nothing more, or says goodbye.'],
      [idOf('Confirm <b>it</b>'), 'end', 'done', null],
      ['*', 'end', '', 'The caller says goodbye.'],
      ['conversation', idOf('Find a slot'), '', 'The caller wants an appointment.'],
      [idOf('Find a slot'), idOf('Confirm <b>it</b>'), '', null],
    ]);
    expect((await api.get('agent')).status).toBe('published');
    expect(problems.filter((problem) => !/\b400\b/.test(problem))).toEqual([]);
  });

  test('The second of two editors sees both versions and chooses; fields without a form are kept', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Two editors' });
    const [first, second] = [
      await own.open(`/projects/${id}/agent`),
      await own.open(`/projects/${id}/agent`, { viewport: { width: 1440, height: 900 } }),
    ];
    const api = apiOf(first.page, id);
    const silence = { afterMs: 6000, prompts: ['Still there?'], hangupAfter: 2 };
    await api.patch('pathway/nodes/conversation', { data: { silence, returns: false } });
    await first.page.reload();
    await second.page.reload();
    await rename(first.page, 'Help the caller', 'First');
    await rename(second.page, 'Help the caller', 'Second');
    await rename(second.page, 'Goodbye', 'Farewell');
    await save(first.page);
    await first.page.getByText('Version 3').waitFor();

    await save(second.page);
    const dialog = second.page.getByRole('dialog');
    await dialog.getByText('Theirs (version 3)').first().waitFor();
    await dialog.getByRole('cell', { name: 'Second' }).waitFor();
    await dialog.getByRole('cell', { name: 'First' }).waitFor();
    await expectAccessible(second.page);
    // In the order of the columns.
    expect(await dialog.getByRole('radio').first().getAttribute('value')).toBe('theirs');
    await dialog.getByRole('radio', { name: 'Mine' }).check();
    await dialog.getByRole('button', { name: 'Save the result' }).click();
    await second.page.getByText('Version 4').waitFor();
    const { nodes } = await api.get('pathway');
    expect(nodes.map(({ data }: Titled) => data.title)).toEqual(['Greeting', 'Second', 'Farewell']);
    expect(nodes[1].data).toMatchObject({ silence, returns: false });

    await second.page.getByRole('tab', { name: 'Versions' }).click();
    await second.page.getByText('0 added, 2 changed, 0 removed').waitFor();
    await expectAccessible(second.page);
    await choose(second.page, 'Version', /^3 /);
    await second.page.getByRole('button', { name: 'Restore this version' }).click();
    await second.page.getByRole('tab', { name: 'Pathway' }).click();
    await node(second.page, 'First').waitFor();
    expect([...first.problems, ...second.problems].filter((problem) => !/\b412\b/.test(problem))).toEqual([]);
  });

  test('An edge says in words which event takes it', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Events' });
    const { page, problems } = await own.open(`/projects/${id}/agent`);
    const api = apiOf(page, id);
    const { nodes, edges } = await api.get('pathway');
    const events = [
      'silence',
      'not_understood',
      'opt_out',
      'tool_result',
      'voicemail',
      'screening',
      'transfer',
    ];
    const taken = events.map((event) => ({
      id: event,
      source: 'conversation',
      target: 'end',
      data: { condition: { event } },
    }));
    await api.put('pathway', { nodes, edges: [...edges, ...taken] });
    await page.reload();
    const labels = page.locator('.react-flow__edgelabel-renderer');
    await labels.getByText('Wants no more calls').waitFor();
    const text = (await labels.textContent()) ?? '';
    expect(events.filter((event) => text.includes(event))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('A node at the border is chosen and copied by keys alone, and is seen beside its panel', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Copies' });
    const { page, problems } = await own.open(`/projects/${id}/agent`, {
      viewport: { width: 1440, height: 900 },
    });
    const api = apiOf(page, id);
    await api.patch('pathway/nodes/end', { position: { x: 900, y: 0 } });
    await page.reload();
    await node(page, 'Goodbye').focus();
    await page.keyboard.press('Enter');
    const chosen = page.locator('.react-flow__node.selected');
    const panel = page.getByRole('region', { name: 'Goodbye' });
    const gap = async () => {
      const [node, fields] = await Promise.all([chosen.boundingBox(), panel.boundingBox()]);
      return node && fields ? fields.x - node.x - node.width : 0;
    };
    await expect.poll(gap).toBeGreaterThan(0);
    for (const key of ['Control+c', 'Control+v']) await page.keyboard.press(key);
    await expect.poll(() => node(page, 'Goodbye').count()).toBe(2);
    await expect.poll(gap).toBeGreaterThan(0);
    await page.keyboard.press('Control+z');
    expect(await node(page, 'Goodbye').count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('Unsaved changes outlive the session: its user signs in over them, and is taken back by no other', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: 'Kept' });
    const newKey = () =>
      own.send('POST', `/v1/projects/${id}/api-keys`, {
        name: 'console',
        kind: 'developer',
        scopes: ['read', 'write'],
      });
    const [first, second] = [await newKey(), await newKey()];
    const { page, problems } = await own.open(`/projects/${id}/agent`, { token: first.key });
    await rename(page, 'Help the caller', 'Not saved yet');
    // By keys: where the page looks after its session just then, the dialog is there before the save.
    const saveByKeys = () => page.keyboard.press('Control+s');
    await own.send('DELETE', `/v1/projects/${id}/api-keys/${first.id}`);
    await saveByKeys();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await dialog.getByLabel('Token or project key').fill(second.key);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // The save that found no session.
    await page.getByText('Version 2').waitFor();
    const titles = async () =>
      (await own.send('GET', `/v1/projects/${id}/pathway`, undefined, second.key)).nodes.map(
        ({ data }: Titled) => data.title,
      );
    expect(await titles()).toEqual(['Greeting', 'Not saved yet', 'Goodbye']);

    await rename(page, 'Goodbye', 'Of the first user');
    page.on('dialog', (leaving) => leaving.accept());
    await page.context().clearCookies();
    await saveByKeys();
    await dialog.getByLabel('Token or project key').fill(own.adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(await titles()).toEqual(['Greeting', 'Not saved yet', 'Goodbye']);
    expect(problems.filter((problem) => !/\b401\b/.test(problem))).toEqual([]);
  });

  test('In Chinese, dark and on a telephone; what the API refuses stands at its field', async () => {
    const { id } = await own.send('POST', '/v1/projects', { name: '診所' });
    const { page, problems } = await own.open(`/projects/${id}/agent`, CHINESE_PHONE);
    await node(page, 'Help the caller').waitFor();
    expect(await page.locator('[aria-roledescription="node"], [aria-roledescription="edge"]').count()).toBe(
      0,
    );
    await page.getByRole('group', { name: '對話：Help the caller' }).waitFor();
    await expectLightScripts(page);
    await node(page, 'Help the caller').click();
    await page.getByLabel('提示詞').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: '關閉' }).click();
    // Two rules refuse the empty target; the first says enough.
    const add = () => page.getByRole('button', { name: '新增節點' }).click();
    await chooseFrom(add, page.getByRole('menuitem', { name: '轉接' }));
    await page.getByText('轉接至不可空白').first().waitFor();
    expect(await page.getByText('轉接至必須是').count()).toBe(0);
    await page.getByRole('button', { name: '關閉' }).click();
    for (const tab of ['工具', '語音', '設定', '版本']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').waitFor();
      await expectAccessible(page);
    }
    await page.getByRole('tab', { name: '設定' }).click();
    await page.getByLabel('時區').fill('Mars/Olympus');
    await page.getByRole('button', { name: '儲存' }).click();
    await page.getByText('時區必須是 IANA 時區，例如 Asia/Taipei', { exact: true }).waitFor();
    await page.getByText('輸入的內容有誤：時區必須是').waitFor();
    expect(await page.getByLabel('時區').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('時區').fill('Asia/Taipei');
    await page.keyboard.press('Control+s');
    await page.getByText('已儲存').waitFor();
    expect((await apiOf(page, id).get('agent')).timezone).toBe('Asia/Taipei');
    expect(problems.filter((problem) => !/\b400\b/.test(problem))).toEqual([]);
  });

  /** The API, with the page's cookie. */
  function apiOf(page: Page, projectId: string) {
    const send = async (method: string, path: string, data?: unknown) => {
      const response = await page.request.fetch(`${own.service.url}/v1/projects/${projectId}/${path}`, {
        method,
        headers: { 'X-Callway-Console': '1' },
        ...(data !== undefined && { data }),
      });
      expect(response.status()).toBe(200);
      return await response.json();
    };
    return {
      get: (path: string) => send('GET', path),
      patch: (path: string, data: unknown) => send('PATCH', path, data),
      put: (path: string, data: unknown) => send('PUT', path, data),
    };
  }
});

interface Titled {
  readonly data: { readonly title: string };
}

interface Edge {
  readonly source: string;
  readonly target: string;
  readonly data: { readonly label: string; readonly condition: unknown };
}

function node(page: Page, title: string) {
  return page.locator('.react-flow__node').filter({ has: page.getByText(title, { exact: true }) });
}

async function addNode(page: Page, type: string, title: string): Promise<void> {
  const open = () => page.getByRole('button', { name: 'Add a node' }).click();
  await chooseFrom(open, page.getByRole('menuitem', { name: type }));
  await page.getByLabel('Title').fill(title);
}

async function rename(page: Page, from: string, to: string): Promise<void> {
  await node(page, from).click();
  await page.getByLabel('Title').fill(to);
}

/** Connects two nodes by the mouse. */
async function drag(page: Page, from: string, to: string): Promise<void> {
  await node(page, from).locator('.react-flow__handle.source').hover();
  await page.mouse.down();
  await node(page, to).locator('.react-flow__handle.target').hover();
  await page.mouse.up();
  await page.getByRole('heading', { name: 'Edge' }).waitFor();
}

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
}
