import { createApiAuthenticator } from '../../../src/agents/accounts/apiAuthenticator.ts';
import type { App, HttpSettings, Storage } from '../../../src/api/ports.ts';
import { createServer } from '../../../src/api/server.ts';
import { createSealer } from '../../../src/base/sealer.ts';
import { createStorage } from '../../../src/infra/postgres/storage.ts';
import { migrated, openServerDatabase } from '../../infra/postgres/support/databases.ts';
import { type HttpServices, httpDeps, noRevocations } from '../../support/httpDeps.ts';
import { createSimulatedClock, type SimulatedClock } from '../../support/simulatedClock.ts';

export const ADMIN_TOKEN = 'the-token-of-the-operator';

export interface TestApp {
  readonly app: App;
  readonly clock: SimulatedClock;
  readonly storage: Storage;
  close(): Promise<void>;
}

/** The HTTP API with a real database and a simulated clock. It does not listen yet. */
export async function createTestApp(
  settings: Partial<HttpSettings> = {},
  parts: Partial<HttpServices> = {},
): Promise<TestApp> {
  const opened = await migrated(openServerDatabase);
  const sealer = createSealer(Buffer.alloc(32));
  const storage = createStorage(opened.database, sealer);
  const clock = createSimulatedClock(Date.UTC(2026, 5, 1));
  const authenticator = createApiAuthenticator({
    findByDigest: storage.stores.apiKeys.findByDigest,
    findWidgetToken: storage.stores.widgetTokens.findByDigest,
    markUsed: storage.stores.apiKeys.markUsed,
    revocations: noRevocations,
    adminToken: ADMIN_TOKEN,
    clock,
    onError: (error) => {
      throw error;
    },
  });
  const app = await createServer(httpDeps({ storage, sealer, authenticator, clock, ...parts }, settings));
  return {
    app,
    clock,
    storage,
    async close() {
      await app.close();
      await authenticator.close();
      await opened.close();
    },
  };
}
