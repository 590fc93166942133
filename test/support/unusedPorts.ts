import type { CallService, HttpDeps, KnowledgeService } from '../../src/api/ports.ts';
import type { ConversationEngine } from '../../src/engine/conversationEngine.ts';
import type { SessionStore } from '../../src/engine/session/sessionStore.ts';
import type { WebhookAdmin } from '../../src/webhooks/webhookAdmin.ts';

const refuse = (): never => {
  throw new Error('this port is not expected to be used');
};

/** Ports that throw when they are used. */
export const unusedEngine: ConversationEngine = {
  prepare: refuse,
  start: refuse,
  releaseOf: refuse,
  knowRelease: refuse,
  create: refuse,
  find: refuse,
  withAllMessages: refuse,
  findContinued: refuse,
  attach: refuse,
  detach: refuse,
  runTurn: refuse,
  end: refuse,
  endIdle: refuse,
};

export const unusedSessions: SessionStore = {
  insert: refuse,
  find: refuse,
  messagesBefore: refuse,
  findByDigest: refuse,
  saveTurn: refuse,
  appendLateTurn: refuse,
  end: refuse,
  search: refuse,
  idle: refuse,
};

export const unusedKnowledge: KnowledgeService = {
  encoderOf: refuse,
  documents: {
    receive: refuse,
    discard: refuse,
    enqueue: refuse,
    retry: refuse,
    cleanUp: refuse,
    removeFiles: refuse,
  },
  retrieval: { search: refuse, prefetch: refuse },
};

export const unusedMediaFiles: HttpDeps['mediaFiles'] = { receive: refuse, discard: refuse };

export const unusedWebhooks: WebhookAdmin = {
  deliveries: refuse,
  delivery: refuse,
  redeliver: refuse,
  secret: refuse,
  rotate: refuse,
};

export const unusedSpeechPreview: HttpDeps['speechPreview'] = { say: refuse };

export const unusedPatterns: HttpDeps['patterns'] = { checkPattern: refuse };

export const unusedTests: HttpDeps['tests'] = {
  suite: refuse,
  case: refuse,
  replay: refuse,
  release: refuse,
  create: refuse,
  enqueue: refuse,
  find: refuse,
  detail: refuse,
  cancel: refuse,
};

export const unusedCalls: CallService = {
  accept: refuse,
  hangUp: refuse,
  transfer: refuse,
  quality: refuse,
  mediaSamples: refuse,
  ask: refuse,
  addParticipant: refuse,
  trunkHealth: refuse,
  rejections: refuse,
  trunksChanged: refuse,
  recordings: { url: refuse },
};

export const unusedRequestLock: HttpDeps['requestLock'] = { acquire: refuse };

export const unusedCustomers: HttpDeps['customers'] = {
  find: refuse,
  removeMemory: refuse,
  erase: refuse,
  hashOf: refuse,
};

export const unusedConsoleSessions: HttpDeps['consoleSessions'] = {
  start: refuse,
  find: refuse,
  end: refuse,
};

export const unusedNodeReports: HttpDeps['nodeReports'] = { list: refuse };

export const unusedSchemas: HttpDeps['schemas'] = { checkSchema: refuse };

export const unusedPathways: HttpDeps['pathways'] = { parsePathway: refuse, reviewPathway: refuse };

export const unusedTools: HttpDeps['tools'] = { run: refuse };

export const unusedMcpServers: HttpDeps['mcpServers'] = { refresh: refuse, refreshStale: refuse };
