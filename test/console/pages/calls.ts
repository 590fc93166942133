import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';

import {
  CHINESE_PHONE,
  expectAccessible,
  expectLightScripts,
  requiresChromium,
} from '../support/chromium.ts';
import { type ConsoleService, sharedConsole } from '../support/consoleService.ts';

const SLOW = { timeout: 60_000, interval: 200 };
/** Words that would be an element, were they not text. */
const GREETING = 'Hello <img src=x onerror=document.title=1>, this is the clinic.';
const TIMEOUT_MS = 120_000;

describe('Calls', { ...requiresChromium, timeout: TIMEOUT_MS }, () => {
  let own: ConsoleService;
  let projectId: string;
  let callId: string;
  beforeAll(async () => {
    own = await sharedConsole();
    ({ projectId, callId } = await placeTestCall(own));
  }, TIMEOUT_MS);

  test('A live call is shown among more scheduled ones than a list has', async () => {
    const busy = await placeTestCall(own);
    await scheduleCalls(own, busy.projectId, 201);
    const { page } = await own.open(`/projects/${busy.projectId}/calls?tests=true`);
    await page.getByRole('region', { name: 'Scheduled' }).getByText('and 151 more').waitFor();
    const live = page.getByRole('region', { name: 'Live now' });
    await live.getByText('In progress').waitFor();
    expect(await live.getByText(/more$/).count()).toBe(0);
  });

  test('A live call is controlled from the list and explained by its page', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/calls?tests=true`);
    const live = page.getByRole('region', { name: 'Live now' });
    await live.getByText('In progress').waitFor();
    await live.getByText('Greeting').waitFor();
    await live.getByRole('button', { name: 'Control' }).click();
    await expectAccessible(page);
    await live.getByLabel('Words that the agent says').fill('One moment, please.');
    await live.getByRole('button', { name: 'Say' }).click();
    await live.getByRole('button', { name: 'Listen' }).click();
    await live.getByRole('button', { name: 'Leave the call (Listen)' }).click();
    await expectWhisperToOne(page, live);
    const explained = await own.open(`/projects/${projectId}/calls/${callId}`);
    await explained.page.getByRole('button', { name: 'Hang up' }).waitFor();
    expect(await explained.page.getByText('Nothing went wrong').count()).toBe(0);
    await explained.page.getByText('Recording', { exact: true }).first().waitFor();
    await explained.page.getByText('Audible after the call').waitFor();
    await explained.page.close();
    await live.getByRole('button', { name: 'Hang up' }).click();
    await live.getByRole('button', { name: 'Hang up now?' }).click();
    await live.getByText('No call at the moment.').waitFor(SLOW);

    await page
      .getByRole('link', { name: /test → test/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'test → test' }).waitFor();
    await page.getByText('Completed', { exact: true }).waitFor(SLOW);
    await expectExplained(page);
    expect(problems).toEqual([]);
  });

  test('A link opens a call at its place, in Chinese, dark and on a telephone', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/calls/${callId}?t=2`, CHINESE_PHONE);
    await page.getByText(/^0:02 \//).waitFor();
    await expectLightScripts(page);
    await page.getByRole('tab', { name: 'SIP' }).click();
    await page
      .getByRole('button', { name: /INVITE/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    expect(problems).toEqual([]);
  });

  test('Calls are found by number and words, and exported', async () => {
    const { page, problems } = await own.open(`/projects/${projectId}/calls?tests=true`);
    const row = page.getByRole('row', { name: /test → test/ });
    await row.waitFor();
    await page.getByLabel('Words that were said').fill('nobody said this');
    await page.getByText('No call matches.').waitFor();
    await page.getByLabel('Words that were said').fill('CLINIC');
    await row.waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('calls.csv');
    expect(problems).toEqual([]);
  });
});

/** A whisper that one of two participants hears; their phones are not part of this test. */
async function expectWhisperToOne(page: Page, live: Locator): Promise<void> {
  const people = [
    { id: '01a1fd42-0004-7000-8000-000000000001', to: '+886223456789', status: 'joined' },
    {
      id: '01a1fd42-0004-7000-8000-000000000002',
      to: '<b>sip:interpreter@example.com</b>',
      status: 'joined',
    },
    { id: '01a1fd42-0004-7000-8000-000000000003', to: '+886223456780', status: 'ringing' },
  ];
  let asked: unknown;
  await page.route('**/participants', (route) => route.fulfill({ json: { data: people } }));
  await page.route('**/supervise', async (route) => {
    asked = route.request().postDataJSON();
    await route.continue({ postData: { mode: 'listen' } });
  });
  const interpreter = page.getByRole('menuitem', { name: 'Only to <b>sip:interpreter' });
  await live.getByRole('button', { name: 'Whisper' }).focus();
  await page.keyboard.press('Enter');
  await interpreter.waitFor();
  await expectAccessible(page);
  expect(await page.getByRole('menuitem').allTextContents()).toEqual([
    'To everyone but the caller',
    'Only to +886223456789',
    'Only to <b>sip:interpreter@example.com</b>',
  ]);
  await interpreter.press('Enter');
  await live.getByRole('button', { name: `Leave the call (Whisper to ${people[1]?.to})` }).click();
  expect(asked).toEqual({ mode: 'whisper', participantId: people[1]?.id });
}

/** The words, the path, the figures, the ladder and the audio. */
async function expectExplained(page: Page): Promise<void> {
  const transcript = page.getByRole('region', { name: 'Transcript' });
  await transcript.getByText(/Hello <img src=x onerror/).waitFor();
  expect(await page.title()).not.toBe('1');
  const play = page.getByRole('button', { name: 'Play' });
  await vi.waitFor(async () => expect(await play.isEnabled()).toBe(true), SLOW);
  await page.locator('canvas').first().waitFor();
  await expectAccessible(page);
  await transcript.getByRole('button', { name: /Hello/ }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('tab', { name: 'SIP' }).click();
  await page.getByRole('button', { name: /INVITE · SDP/ }).click();
  await page.getByText(/^INVITE sip:/).waitFor();
  await expectAccessible(page);
  await page.getByRole('slider', { name: 'Position' }).focus();
  await page.keyboard.press('Home');
  await page.getByText(/^0:00 \//).waitFor();
}

/** A simulated caller's call to an agent that greets and listens. */
async function scheduleCalls({ send }: ConsoleService, projectId: string, count: number): Promise<void> {
  const path = `/v1/projects/${projectId}`;
  await send('PATCH', path, { callLimits: { maxCallsPerMinute: null } });
  await send('POST', `${path}/trunks`, { name: 'Carrier', host: '127.0.0.1', optionsIntervalSeconds: 0 });
  const fromNumber = '+886223450001';
  await send('POST', `${path}/phone-numbers`, { number: fromNumber });
  const { key } = await send('POST', `${path}/api-keys`, { name: 'orders', kind: 'secret' });
  const notBefore = new Date(Date.now() + 3_600_000).toISOString();
  for (let n = 0; n < count; n++) {
    const toNumber = `+8869120${String(n).padStart(5, '0')}`;
    await send('POST', '/v1/calls/outbound', { projectId, fromNumber, toNumber, notBefore }, key);
  }
}

async function placeTestCall({ service, send, adminToken }: ConsoleService) {
  const { id: projectId } = await send('POST', '/v1/projects', { name: 'Clinic' });
  const path = `/v1/projects/${projectId}`;
  const { key } = await send('POST', `${path}/api-keys`, { name: 'test', kind: 'developer' });
  expect(adminToken).not.toBe(key);
  const api = async (method: string, resource: string, body?: object, headers: object = {}) => {
    const response = await fetch(service.url + path + resource, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
    const read = (await response.json()) as { readonly id: string; readonly data: readonly { id: string }[] };
    return { body: read, etag: response.headers.get('etag') ?? '' };
  };
  const { etag } = await api('GET', '/pathway');
  // Nothing but a person ends the call, however slow the machine is.
  const data = { title: 'Greeting', prompt: `Say "${GREETING}"`, silence: { hangupAfter: 0 } };
  const start = { id: 'start', type: 'start', data };
  await api('PUT', '/pathway', { nodes: [start], edges: [] }, { 'if-match': etag });
  await api('PUT', '/agent', { status: 'published' });
  const { body: testCase } = await api('POST', '/test-cases', {
    name: 'Listens',
    channel: 'phone',
    turns: [{ waitMs: 300_000 }],
  });
  await api('POST', `/test-cases/${testCase.id}/runs`, {});
  const callId = await vi.waitFor(async () => {
    const { data } = (await api('GET', '/calls?includeTests=true&status=in_progress')).body;
    expect(data).toHaveLength(1);
    return data[0]?.id ?? '';
  }, SLOW);
  return { projectId: projectId as string, callId };
}
