import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';

import { createTestDatabase } from '../../support/postgres.ts';
import { type ServiceOptions, type ServiceProcess, startService } from '../../support/processes.ts';
import { redisDatabase } from '../../support/redis.ts';
import { startChromium, type WatchedPage, watchPage } from './chromium.ts';
import { makeMicrophone } from './microphone.ts';

/** The service with its console, and a browser. */
export interface ConsoleService {
  readonly service: ServiceProcess;
  readonly browser: Browser;
  readonly adminToken: string;
  /** Sends a request. @param token - Default: the operator's. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of every shape
  send(method: string, path: string, body?: unknown, token?: string): Promise<any>;
  /** A page of its own browser profile, signed in with the token. @param path - Below `/console`. */
  open(path: string, options?: OpenOptions): Promise<WatchedPage>;
  /** A page of another site, in a browser profile of its own. */
  visit(url: string, options?: BrowserContextOptions): Promise<WatchedPage>;
  close(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  /** Default: the operator's. Null: not signed in. */
  readonly token?: string | null;
}

let shared: Promise<ConsoleService> | undefined;

/** The console of all pages' tests: a service and a browser cost more than a page. */
export function sharedConsole(): Promise<ConsoleService> {
  shared ??= startSharedConsole();
  return shared;
}

/** After the last of the pages' tests. */
export async function closeSharedConsole(): Promise<void> {
  const running = await shared;
  shared = undefined;
  await running?.close();
}

async function startSharedConsole(): Promise<ConsoleService> {
  const microphone = await makeMicrophone('yes keep it');
  const started = await startConsole({
    // The receivers of the tests are on loopback.
    env: { ALLOW_INSECURE_WEBHOOKS: 'true' },
    browserArgs: microphone.args,
  });
  return {
    ...started,
    async close() {
      await started.close();
      microphone.remove();
    },
  };
}

/** @param options - Of the service, and Chromium's arguments. */
async function startConsole({
  browserArgs = [],
  env = {},
  ...options
}: ServiceOptions & { browserArgs?: readonly string[] } = {}): Promise<ConsoleService> {
  const [database, redis] = await Promise.all([createTestDatabase('newest'), redisDatabase()]);
  const servers = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const [service, browser] = await Promise.all([
    startService({ ...options, env: { ...servers, ...env } }),
    startChromium(browserArgs),
  ]);
  const adminToken = readFileSync(join(service.dataDir, 'admin-token'), 'utf8').trim();
  return {
    service,
    browser,
    adminToken,
    async send(method, path, body, token = adminToken) {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.status === 204 ? undefined : await response.json();
    },
    async open(path, { token = adminToken, ...contextOptions } = {}) {
      const watched = await watchPage(browser, { locale: 'en-US', ...contextOptions });
      const { page } = watched;
      if (token !== null) {
        await page.request.post(`${service.url}/console/session`, { data: { token } });
      }
      await page.goto(`${service.url}/console${path}`);
      return watched;
    },
    async visit(url, options = {}) {
      const watched = await watchPage(browser, { locale: 'en-US', ...options });
      await watched.page.goto(url);
      return watched;
    },
    async close() {
      await browser.close();
      await service.close();
      await Promise.all([database.drop(), redis.drop()]);
    },
  };
}
