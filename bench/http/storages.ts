import { digestCredential } from '../../src/agents/accounts/apiKey.ts';
import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import type { AgentStore } from '../../src/agents/agentStores.ts';
import type { Storage, Stores } from '../../src/api/ports.ts';
import { createSealer } from '../../src/base/sealer.ts';
import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { migrate, readMigrations } from '../../src/infra/postgres/connection/migrate.ts';
import { openPostgres } from '../../src/infra/postgres/connection/postgres.ts';
import { openEmbedded } from '../../src/infra/postgres/embedded/server.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { KEY, PROJECT_ID } from './route.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SCOPES = ['read', 'write', 'calls'] as const;
const HINT = `sk_…${KEY.slice(-4)}`;
const sealer = createSealer(Buffer.alloc(32));

/** Only what the measured route and the key lookup need, from memory. */
export function memoryStorage(): Storage {
  const record = { config: newAgentConfig('Clinic reception'), live: null };
  const agents: AgentStore = {
    find: async () => record,
    insert: async () => undefined,
    save: async () => undefined,
  };
  const apiKeys: Pick<Stores['apiKeys'], 'findByDigest' | 'markUsed'> = {
    findByDigest: async () => ({
      kind: 'secret',
      keyId: PROJECT_ID,
      hint: HINT,
      projectId: PROJECT_ID,
      scopes: SCOPES,
    }),
    markUsed: async () => undefined,
  };
  const widgetTokens: Pick<Stores['widgetTokens'], 'findByDigest'> = { findByDigest: async () => undefined };
  const legacyUsage: Pick<Stores['legacyUsage'], 'add'> = { add: async () => undefined };
  const stores = { agents, apiKeys, widgetTokens, legacyUsage } as unknown as Stores;
  const insights = {} as Storage['insights'];
  return { stores, insights, transaction: (work) => work(stores) };
}

/** As the gateway builds it. */
export function storageIn(database: Database): Storage {
  return createStorage(database, sealer);
}

/**
 * A database with the project, the agent and the key of the measured route.
 *
 * @param url - An empty database on a server; absent for an embedded one in memory.
 */
export async function openMeasured(url: string | undefined, migrations: string): Promise<Database> {
  const database = url
    ? openPostgres({ url, onIdleError: (error) => console.error(error) })
    : await openEmbedded({ folder: 'memory://' });
  const done = await migrate(database, await readMigrations(migrations));
  if (done.length > 0) await fill(createStorage(database, sealer).stores);
  return database;
}

async function fill({ projects, agents, apiKeys }: Stores): Promise<void> {
  await projects.insert({
    id: PROJECT_ID,
    name: 'Clinic reception',
    sessionIdleMinutes: 30,
    historyRetentionDays: 30,
    reportUsage: false,
    createdAt: AT,
    updatedAt: AT,
  });
  await agents.insert(PROJECT_ID, { config: newAgentConfig('Clinic reception'), live: null });
  await apiKeys.insert({
    id: PROJECT_ID,
    projectId: PROJECT_ID,
    name: 'bench',
    kind: 'secret',
    digest: digestCredential(KEY),
    hint: HINT,
    scopes: [...SCOPES],
    createdAt: AT,
    lastUsedAt: null,
  });
}
