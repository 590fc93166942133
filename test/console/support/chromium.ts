import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

import { findProgram } from '../../../scripts/lib/machine.mjs';
import { PROGRAMS_OF_CHROMIUM } from '../../../scripts/lib/systemParts.mjs';
import { requires } from '../../support/skips.ts';

const executablePath = PROGRAMS_OF_CHROMIUM.map((name) => findProgram(name)).find(
  (path) => path !== undefined,
);
/** WCAG 2.2 AA, with all versions before it. Preloading styles would add an element without the page's nonce. */
const AXE_OPTIONS = JSON.stringify({
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  resultTypes: ['violations'],
  preload: false,
});

/** Of a first load. */
const MAX_SCRIPT_BYTES = 300_000;

/** Of one step: a click, an element that appears. */
const STEP_TIMEOUT_MS = 30_000;

/** The narrowest screen that pages are made for. */
const PHONE = { width: 360, height: 800 };
/** How a page looks at its hardest. */
export const CHINESE_PHONE = { locale: 'zh-TW', colorScheme: 'dark', viewport: PHONE } as const;

/** For tests that drive the console. */
export const requiresChromium = requires(executablePath !== undefined, 'Chromium is not installed');

/** @param args - Of Chromium, beside those that a test machine needs. */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  if (executablePath === undefined) throw new Error('Chromium is not installed');
  return await chromium.launch({
    executablePath,
    // As root it has no sandbox, and containers have a small /dev/shm.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
  });
}

/** A page whose errors and failed requests are kept. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console, exceptions, violations of the policy, and responses from 400 on; grows. */
  readonly problems: readonly string[];
}

/** A page in a browser profile of its own, for the running test. Nothing moves while it is clicked. */
export async function watchPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  // An open page goes on asking for news.
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT_MS);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  return { page, problems };
}

/** A page that was opened with an empty cache has loaded less script than this, gzipped. */
export async function expectLightScripts(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  const urls = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))`,
  );
  const sizes = urls.map(async (url) => {
    const response = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    return gzipSync(await response.text()).length;
  });
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES);
}

/** No violation of WCAG 2.2 AA on the page as it is shown now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Half a megabyte, once for each document.
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${AXE_OPTIONS})`);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  expect(found).toEqual([]);
}

/** On a phone: no part of the page is wider than it, and nothing violates WCAG. */
export async function expectFitsPhone(page: Page): Promise<void> {
  await page.setViewportSize(PHONE);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  await expectAccessible(page);
}
