import type { Sealer } from '../../base/sealer.ts';
import { agentStore } from './agents.ts';
import { apiKeyStore } from './apiKeys.ts';
import { auditStore } from './audit.ts';
import { callStore } from './calls.ts';
import { chunkSearch } from './chunkSearch.ts';
import { chunkStore } from './chunks.ts';
import type { Database, Queryable } from './database.ts';
import { datasetStore } from './datasets.ts';
import { fileRemovalStore } from './fileRemovals.ts';
import { historyStore } from './history.ts';
import { idempotencyStore } from './idempotency.ts';
import { knowledgebaseStore } from './knowledgebases.ts';
import { legacyUsageStore } from './legacyUsage.ts';
import { memoryStore } from './memories.ts';
import { pathwayStore } from './pathways.ts';
import { phoneNumberStore } from './phoneNumbers.ts';
import { projectStore } from './projects.ts';
import { recordingRemovals } from './recordingRemovals.ts';
import { releaseStore } from './releases.ts';
import { createSealing, type Sealing } from './sealing.ts';
import { sessionStore } from './sessions.ts';
import { sipTraceStore } from './sipTraces.ts';
import { testCaseStore } from './testCases.ts';
import { testSuiteStore } from './testSuites.ts';
import { toolStore } from './tools.ts';
import { trunkStore } from './trunks.ts';
import { webhookDeliveryStore } from './webhookDeliveries.ts';
import { webhookOutbox } from './webhookOutbox.ts';
import { webhookSecretStore } from './webhookSecrets.ts';

/** All stores over one database, and over its transactions. */
export function createStorage(database: Database, sealer: Sealer) {
  const sealing = createSealing(sealer);
  return {
    stores: storesOver(database, sealing),
    /** Has transactions of its own. */
    outbox: webhookOutbox(database),
    /** Has transactions of its own. */
    chunkSearch: chunkSearch(database),
    transaction: <Result>(
      work: (stores: ReturnType<typeof storesOver>) => Promise<Result>,
    ): Promise<Result> => database.transaction((transaction) => work(storesOver(transaction, sealing))),
  };
}

function storesOver(database: Queryable, sealing: Sealing) {
  return {
    projects: projectStore(database),
    apiKeys: apiKeyStore(database),
    audit: auditStore(database),
    agents: agentStore(database, sealing),
    pathways: pathwayStore(database),
    tools: toolStore(database, sealing),
    testCases: testCaseStore(database),
    testSuites: testSuiteStore(database),
    idempotency: idempotencyStore(database),
    legacyUsage: legacyUsageStore(database),
    releases: releaseStore(database, sealing),
    sessions: sessionStore(database),
    history: historyStore(database),
    memory: memoryStore(database),
    knowledgebases: knowledgebaseStore(database),
    datasets: datasetStore(database),
    chunks: chunkStore(database),
    fileRemovals: fileRemovalStore(database),
    webhookDeliveries: webhookDeliveryStore(database),
    webhookSecrets: webhookSecretStore(database, sealing),
    trunks: trunkStore(database, sealing),
    phoneNumbers: phoneNumberStore(database),
    calls: callStore(database),
    sipTraces: sipTraceStore(database),
    recordingRemovals: recordingRemovals(database),
  };
}
