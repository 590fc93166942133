import { TIME_ZONE_DATA } from '../../base/values/numberTimeZones.ts';
import { MediaFiles } from '../../calls/holdMusic/mediaFiles.ts';
import type { NodeContext } from '../node/node.ts';
import { buildCalls } from './calls.ts';
import { buildCampaigns, contactSettler } from './campaigns.ts';
import { buildConversations } from './conversation.ts';
import { buildCustomers } from './customers.ts';
import { buildKnowledge } from './knowledge.ts';
import { buildChat } from './providers.ts';
import { buildRecordings } from './recordings.ts';
import { buildResults } from './results.ts';
import { buildTests } from './tests.ts';
import { buildWebhooks } from './webhooks.ts';

export type Services = Awaited<ReturnType<typeof buildServices>>;

/** Builds what the roles of a node share: conversations, knowledge, webhooks, recordings, calls and customers. */
export async function buildServices(node: NodeContext) {
  const { config, lifecycle, storage, makeId, onError } = node;
  node.logger.info(TIME_ZONE_DATA, 'time zones of numbers');
  const recordings = buildRecordings(node);
  const models = await buildChat(node);
  const webhooks = buildWebhooks(node, models, recordings.calls);
  lifecycle.onClose(() => webhooks.eventDispatcher.close());
  lifecycle.onClose(() => webhooks.dispatcher.close());
  const knowledge = await buildKnowledge(node);
  const { conversations, mcpServers, tools } = buildConversations(node, {
    models,
    knowledge: knowledge.search,
    onEnded: () => webhooks.dispatcher.wake(),
    recoversTurns: config.ROLES.includes('voice'),
  });
  lifecycle.onClose(() => node.wakeups.close());
  const calls = buildCalls(node, conversations, recordings.calls, {
    async recordFact(...fact) {
      await storage.outbox.recordFact(...fact);
      webhooks.dispatcher.wake();
    },
    settleContact: contactSettler(node),
  });
  lifecycle.onClose(() => calls.close());
  const campaigns = buildCampaigns(node, calls, knowledge);
  const { mediaFiles: store } = storage.stores;
  const mediaFiles = new MediaFiles({ store, files: knowledge.files, makeId, onError });
  const customers = buildCustomers(node, recordings.calls);
  const analyses = buildResults(node, models);
  const tests = buildTests(node, models, knowledge.search, tools, recordings.calls);
  return {
    recordings: { ...recordings, store: recordings.shared(calls.requests) },
    models,
    webhooks,
    knowledge,
    mcpServers,
    tools,
    conversations,
    calls,
    campaigns,
    mediaFiles,
    customers,
    analyses,
    tests,
  };
}
