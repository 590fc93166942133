import { newAgentConfig } from '../../src/agents/agentConfig.ts';
import { starterPathway } from '../../src/agents/pathway/schema/starterPathway.ts';
import { createTemplateCache } from '../../src/agents/pathway/templates.ts';
import { systemClock } from '../../src/base/clock.ts';
import { ComputeShares } from '../../src/base/computeShares.ts';
import { uuidV7 } from '../../src/base/ids.ts';
import { createSealer } from '../../src/base/sealer.ts';
import { createConversationEngine } from '../../src/engine/createConversationEngine.ts';
import { cacheReleases } from '../../src/engine/session/releases.ts';
import type { SessionLock } from '../../src/engine/session/sessionLock.ts';
import { WriteBehind } from '../../src/engine/session/writeBehind.ts';
import type { Database } from '../../src/infra/postgres/connection/database.ts';
import { createStorage } from '../../src/infra/postgres/storage.ts';
import { scriptedModel } from '../../test/support/scriptedModel.ts';

const ANSWER =
  'Thank you, I have noted that. Doctor Chen has time on Tuesday at three or on Thursday at half past ten. Which suits you?';

const openLock: SessionLock = {
  acquire: async () => ({
    lost: new AbortController().signal,
    wasContended: false,
    release: async () => undefined,
  }),
};

/** One chat session of a new project on this database, whose model answers at once. */
export async function startTalk(database: Database) {
  const { stores } = createStorage(database, createSealer(Buffer.alloc(32, 1)));
  const projectId = uuidV7();
  const at = new Date().toISOString();
  await stores.projects.insert({
    id: projectId,
    name: 'Bench',
    sessionIdleMinutes: 30,
    historyRetentionDays: 30,
    reportUsage: false,
    createdAt: at,
    updatedAt: at,
  });
  const release = {
    agent: newAgentConfig('Bench'),
    pathwayId: uuidV7(),
    pathwayVersion: 1,
    pathway: starterPathway(),
    tools: [],
  };
  const onError = (error: unknown) => {
    throw error;
  };
  const engine = createConversationEngine({
    sessions: stores.sessions,
    attachedSessions: new WriteBehind({
      sessions: stores.sessions,
      spool: { put: async () => undefined, drop: async () => undefined, readPending: async () => [] },
      clock: systemClock,
      onError,
    }),
    releases: cacheReleases(stores.releases),
    releaseFor: async () => release,
    lock: openLock,
    turn: {
      models: { chat: scriptedModel(() => ({ text: ANSWER })), smart: 'm', balance: 'm', turbo: 'm' },
      tools: { run: async () => ({ ok: false, text: 'no tools here' }) },
      templates: createTemplateCache(),
      shares: new ComputeShares({ clock: systemClock }),
      clock: systemClock,
      onTemplateProblem: () => undefined,
      onToolFailed: () => undefined,
    },
    beforeStart: async ({ state }) => ({ state, events: [] }),
    usage: { admit: async () => undefined, add: () => undefined },
    clock: systemClock,
    makeId: uuidV7,
    finalizeTimeoutSeconds: 120,
    onEnded: () => undefined,
    onError,
  });
  const wanted = { projectId, sessionId: 'talk', channel: 'chat' } as const;
  const { signal } = new AbortController();
  return {
    say: (text: string) =>
      engine.runTurn(
        wanted,
        () => ({ input: { kind: 'user_message', text } }),
        () => undefined,
        signal,
      ),
  };
}
