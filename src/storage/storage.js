import { agentStore } from './agents.js';
import { apiKeyStore } from './apiKeys.js';
import { auditStore } from './audit.js';
import { callStore } from './calls.js';
import { chunkSearch } from './chunkSearch.js';
import { chunkStore } from './chunks.js';
import { datasetStore } from './datasets.js';
import { fileRemovalStore } from './fileRemovals.js';
import { historyStore } from './history.js';
import { idempotencyStore } from './idempotency.js';
import { knowledgebaseStore } from './knowledgebases.js';
import { legacyUsageStore } from './legacyUsage.js';
import { memoryStore } from './memories.js';
import { pathwayStore } from './pathways.js';
import { phoneNumberStore } from './phoneNumbers.js';
import { projectStore } from './projects.js';
import { recordingRemovals } from './recordingRemovals.js';
import { releaseStore } from './releases.js';
import { createSealing } from './sealing.js';
import { sessionStore } from './sessions.js';
import { sipTraceStore } from './sipTraces.js';
import { testCaseStore } from './testCases.js';
import { testSuiteStore } from './testSuites.js';
import { toolStore } from './tools.js';
import { trunkStore } from './trunks.js';
import { webhookDeliveryStore } from './webhookDeliveries.js';
import { webhookOutbox } from './webhookOutbox.js';
import { webhookSecretStore } from './webhookSecrets.js';
/** All stores over one database, and over its transactions. */
export function createStorage(database, sealer) {
  const sealing = createSealing(sealer);
  return {
    stores: storesOver(database, sealing),
    /** Has transactions of its own. */
    outbox: webhookOutbox(database),
    /** Has transactions of its own. */
    chunkSearch: chunkSearch(database),
    transaction: (work) => database.transaction((transaction) => work(storesOver(transaction, sealing))),
  };
}
function storesOver(database, sealing) {
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
