import { digestCredential } from '../../src/accounts/apiKey.js';
import { newAgentConfig } from '../../src/agents/agentConfig.js';
import { createSealer } from '../../src/base/sealer.js';
import { openEmbedded } from '../../src/storage/embedded.js';
import { migrate, readMigrations } from '../../src/storage/migrate.js';
import { openPostgres } from '../../src/storage/postgres.js';
import { createStorage } from '../../src/storage/storage.js';
import { KEY, PROJECT_ID } from './route.js';

const AT = '2026-01-01T00:00:00.000Z';
const SCOPES = ['read', 'write', 'calls'];
const HINT = `sk_…${KEY.slice(-4)}`;
const sealer = createSealer(Buffer.alloc(32));
/** Only what the measured route and the key's look-up ask for, from memory. */
export function memoryStorage() {
  const record = { config: newAgentConfig('Clinic reception'), frozen: null };
  const agents = {
    find: async () => record,
    insert: async () => undefined,
    save: async () => undefined,
  };
  const apiKeys = {
    findByDigest: async () => ({
      kind: 'secret',
      keyId: PROJECT_ID,
      hint: HINT,
      projectId: PROJECT_ID,
      scopes: SCOPES,
    }),
    markUsed: async () => undefined,
  };
  const stores = { agents, apiKeys, legacyUsage: { add: async () => undefined } };
  return { stores, transaction: (work) => work(stores) };
}
/** As the gateway builds it. */
export function storageIn(database) {
  return createStorage(database, sealer);
}
/**
 * A database with the project, the agent and the key of the measured route.
 *
 * @param url - Of an empty one on a server; without it one is embedded, in memory.
 */
export async function openMeasured(url, migrations) {
  const database = url
    ? openPostgres({ url, onIdleError: (error) => console.error(error) })
    : await openEmbedded({ folder: 'memory://' });
  const done = await migrate(database, await readMigrations(migrations));
  if (done.length > 0) await fill(createStorage(database, sealer).stores);
  return database;
}
async function fill({ projects, agents, apiKeys }) {
  await projects.insert({
    id: PROJECT_ID,
    name: 'Clinic reception',
    sessionIdleMinutes: 30,
    historyRetentionDays: 30,
    reportUsage: false,
    createdAt: AT,
    updatedAt: AT,
  });
  await agents.insert(PROJECT_ID, { config: newAgentConfig('Clinic reception'), frozen: null });
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
