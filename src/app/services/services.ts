import { MediaFiles } from '../../calls/holdMusic/mediaFiles.ts';
import type { NodeContext } from '../node/node.ts';
import { buildCalls } from './calls.ts';
import { buildConversations } from './conversation.ts';
import { buildCustomers } from './customers.ts';
import { buildKnowledge } from './knowledge.ts';
import { buildChat } from './providers.ts';
import { buildRecordings } from './recordings.ts';
import { buildTests } from './tests.ts';
import { buildWebhooks } from './webhooks.ts';

export type Services = Awaited<ReturnType<typeof buildServices>>;

/** Builds what the roles of a node share: conversations, knowledge, webhooks, recordings, calls and customers. */
export async function buildServices(node: NodeContext) {
  const { config, lifecycle, metrics } = node;
  const recordings = buildRecordings(node);
  const models = await buildChat({ ...node, metrics: metrics.sessions });
  const webhooks = buildWebhooks({
    ...node,
    models,
    recordings: recordings.calls,
    metrics: metrics.sessions,
  });
  lifecycle.onClose(() => webhooks.eventDispatcher.close());
  lifecycle.onClose(() => webhooks.dispatcher.close());
  const knowledge = await buildKnowledge({ ...node, metrics: metrics.sessions });
  const { mcpServers, conversations } = buildConversations(node, {
    models,
    knowledge: knowledge.search,
    onEnded: () => webhooks.dispatcher.wake(),
    recoversTurns: config.ROLES.includes('voice'),
  });
  // Before what its workers use: they hand over their jobs first.
  lifecycle.onClose(() => node.jobs.close());
  const calls = buildCalls({
    ...node,
    subscriber: node.connectSubscriber(),
    conversations,
    recordings: recordings.calls,
    metrics: metrics.calls,
    onFact: () => webhooks.dispatcher.wake(),
  });
  lifecycle.onClose(() => calls.close());
  const mediaFiles = new MediaFiles({
    ...node,
    store: node.storage.stores.mediaFiles,
    files: knowledge.files,
  });
  const customers = buildCustomers({ ...node, recordings: recordings.calls });
  const recordingUrl = (key: string) => recordings.calls.url(key);
  const tests = buildTests({ ...node, models, knowledge: knowledge.search, mcpServers, recordingUrl });
  return {
    recordings: { ...recordings, store: recordings.shared(calls.requests) },
    models,
    webhooks,
    knowledge,
    mcpServers,
    conversations,
    calls,
    mediaFiles,
    customers,
    tests,
  };
}
