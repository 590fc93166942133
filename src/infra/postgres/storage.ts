import type { Sealer } from '../../base/sealer.ts';
import { memoize } from '../../base/values/memoize.ts';
import { agentStore } from './agents/agents.ts';
import { mcpServerStore } from './agents/mcpServers.ts';
import { numberedReleaseStore } from './agents/numberedReleases.ts';
import { pathwayStore } from './agents/pathways.ts';
import { providerCredentialStore } from './agents/providerCredentials.ts';
import { releaseStore } from './agents/releases.ts';
import { rolloutStore } from './agents/rollouts.ts';
import { testCaseStore } from './agents/testCases.ts';
import { testSuiteStore } from './agents/testSuites.ts';
import { toolStore } from './agents/tools.ts';
import { callStore } from './calls/calls.ts';
import { dialogStore } from './calls/dialogs.ts';
import { doNotCallStore } from './calls/doNotCall.ts';
import { mediaFileStore } from './calls/mediaFiles.ts';
import { numberClaimStore } from './calls/numberClaims.ts';
import { phoneNumberStore } from './calls/phoneNumbers.ts';
import { sipTraceStore } from './calls/sipTraces.ts';
import { slotHolders } from './calls/slotHolders.ts';
import { trunkStore } from './calls/trunks.ts';
import { waitingCallStore } from './calls/waitingCalls.ts';
import { campaignStore } from './campaigns/campaigns.ts';
import { contactStore } from './campaigns/contacts.ts';
import { dueCampaigns, dueContacts } from './campaigns/dueContacts.ts';
import { contactImportStore } from './campaigns/imports.ts';
import type { Database, Queryable } from './connection/database.ts';
import { chunkSearch } from './knowledge/chunkSearch.ts';
import { chunkStore } from './knowledge/chunks.ts';
import { datasetStore } from './knowledge/datasets.ts';
import { knowledgebaseStore } from './knowledge/knowledgebases.ts';
import { apiKeyStore } from './projects/apiKeys.ts';
import { auditStore } from './projects/audit.ts';
import { idempotencyStore } from './projects/idempotency.ts';
import { legacyUsageStore } from './projects/legacyUsage.ts';
import { projectStore } from './projects/projects.ts';
import { quotaStore } from './projects/quotas.ts';
import { usageStore } from './projects/usage.ts';
import { widgetTokenStore } from './projects/widgetTokens.ts';
import { alertStore } from './results/alerts.ts';
import { analysisStore } from './results/analyses.ts';
import { insightStore } from './results/insights.ts';
import { ratesStore } from './results/rates.ts';
import { reviewStore } from './results/reviews.ts';
import { createNumberDigests, type NumberDigests } from './secrets/numberDigests.ts';
import { createSecretFields, type SecretFields } from './secrets/secretFields.ts';
import { customerStore } from './sessions/customers.ts';
import { historyStore } from './sessions/history.ts';
import { memoryStore } from './sessions/memories.ts';
import { sessionStore } from './sessions/sessions.ts';
import { testRunStore } from './testing/testRuns.ts';
import { eventQueueStore } from './webhooks/eventQueues.ts';
import { webhookDeliveryStore } from './webhooks/webhookDeliveries.ts';
import { webhookOutbox } from './webhooks/webhookOutbox.ts';
import { webhookSecretStore } from './webhooks/webhookSecrets.ts';
import { leasedWork } from './work/claims.ts';
import { removals } from './work/removals.ts';
import { CALL_QUEUES, leasedWorks, SCHEDULED_CALLS } from './work/tables.ts';

/** Creates all stores over one database, and over its transactions. */
export function createStorage(database: Database, sealer: Sealer) {
  const secrets = createSecretFields(sealer);
  const digests = createNumberDigests(sealer);
  /** A pool's connections serve many transactions, each of which uses few of the stores. */
  const storesOf = memoize((transaction: Queryable) => storesOver(transaction, secrets, digests));
  return {
    stores: storesOver(database, secrets, digests),
    /** Starts transactions of its own. */
    outbox: webhookOutbox(database),
    /** Starts transactions of its own. */
    eventQueue: eventQueueStore(database),
    /** Starts transactions of its own. */
    chunkSearch: chunkSearch(database),
    /** Starts transactions of its own. */
    customers: customerStore(database, digests),
    /** Starts transactions of its own. */
    insights: insightStore(database),
    /** Starts transactions of its own. */
    waitingCalls: waitingCallStore(database),
    work: {
      ...leasedWorks(database),
      calls: leasedWork(database, CALL_QUEUES),
      scheduledCalls: leasedWork(database, SCHEDULED_CALLS),
      campaigns: dueCampaigns(database),
    },
    transaction: <Result>(
      work: (stores: ReturnType<typeof storesOver>) => Promise<Result>,
    ): Promise<Result> => database.transaction((transaction) => work(storesOf(transaction))),
  };
}

function storesOver(database: Queryable, secrets: SecretFields, digests: NumberDigests) {
  return {
    projects: projectStore(database),
    quotas: quotaStore(database),
    usage: usageStore(database),
    rates: ratesStore(database),
    apiKeys: apiKeyStore(database),
    widgetTokens: widgetTokenStore(database),
    audit: auditStore(database),
    agents: agentStore(database, secrets),
    pathways: pathwayStore(database),
    tools: toolStore(database, secrets),
    mcpServers: mcpServerStore(database, secrets),
    providerCredentials: providerCredentialStore(database, secrets),
    testCases: testCaseStore(database),
    testSuites: testSuiteStore(database),
    testRuns: testRunStore(database),
    idempotency: idempotencyStore(database),
    legacyUsage: legacyUsageStore(database),
    releases: releaseStore(database, secrets),
    numberedReleases: numberedReleaseStore(database, secrets),
    rollouts: rolloutStore(database),
    sessions: sessionStore(database),
    history: historyStore(database),
    memory: memoryStore(database),
    knowledgebases: knowledgebaseStore(database),
    datasets: datasetStore(database),
    chunks: chunkStore(database),
    fileRemovals: removals(database, 'file_removals', 'file_key'),
    webhookDeliveries: webhookDeliveryStore(database),
    webhookSecrets: webhookSecretStore(database, secrets),
    trunks: trunkStore(database, secrets),
    phoneNumbers: phoneNumberStore(database),
    numberClaims: numberClaimStore(database),
    calls: callStore(database),
    doNotCall: doNotCallStore(database, digests),
    slotHolders: slotHolders(database),
    sipTraces: sipTraceStore(database),
    mediaFiles: mediaFileStore(database),
    dialogs: dialogStore(database),
    recordingRemovals: removals(database, 'recording_removals', 'key'),
    campaigns: campaignStore(database),
    campaignContacts: contactStore(database),
    contactImports: contactImportStore(database),
    dueContacts: dueContacts(database),
    analyses: analysisStore(database),
    reviews: reviewStore(database),
    alerts: alertStore(database, secrets),
  };
}
