import { tmpdir } from 'node:os';
import type { Logger } from 'pino';
import { createSealer } from '../../base/sealer.ts';
import { systemClock } from '../../base/values/clock.ts';
import { advertisedAddress, httpUrl } from '../../calls/nodes/nodeAddress.ts';
import { VoiceNodeRegistration } from '../../calls/nodes/voiceNodeRegistry.ts';
import type { AudioStream } from '../../conversation/streams/audioStream.ts';
import type { TextStream } from '../../conversation/streams/textStream.ts';
import { findDialect } from '../../dialects/index.ts';
import { DatabaseClock } from '../../infra/postgres/databaseClock.ts';
import { redisWidgetSessions } from '../../infra/redis/limits/leasedSlots.ts';
import { redisProjectCalls } from '../../infra/redis/limits/projectCalls.ts';
import { redisVoiceNodes } from '../../infra/redis/nodes/leasedEntries.ts';
import { redisStreamTickets } from '../../infra/redis/nodes/streamTickets.ts';
import { ActiveStreams } from '../../streams/activeStreams.ts';
import { createAudioOpener, JambonzApplications } from '../../streams/jambonzApplications.ts';
import { serveStream } from '../../streams/serveStream.ts';
import { AdmittedTickets, type StreamGrant } from '../../streams/streamTickets.ts';
import { listenForStreams } from '../../streams/transport/streamListener.ts';
import type {
  VoiceThreadEvents,
  VoiceThreadMethods,
  VoiceThreadReady,
} from '../../voice/threads/threadMessages.ts';
import { Lifecycle } from '../lifecycle.ts';
import { connectDatabase, type DatabaseServer, redisConnector } from '../node/connections.ts';
import { createThreadContext, type ThreadContext } from '../node/threadContext.ts';
import { buildConversations } from '../services/conversation.ts';
import { buildKnowledgeSearch } from '../services/knowledgeSearch.ts';
import { buildChat } from '../services/providers.ts';
import type { Config } from '../settings/config.ts';
import { takeReadAhead } from './readAhead.ts';
import { buildTextBots } from './textBots.ts';
import { reportedMetrics, type ThreadReports } from './threadReports.ts';
import { buildVoice } from './voice.ts';

/** The turns of a thread's sessions read and write a row or two each. */
const POOL_SIZE = 8;

export interface VoiceServiceStart {
  readonly config: Config;
  /** The thread's name in its log. */
  readonly name: string;
  readonly nodeId: string;
  readonly database: DatabaseServer;
  readonly redisUrl: string;
  readonly secretsKey: Uint8Array;
  readonly recoversTurns: boolean;
}

export interface VoiceServiceDeps {
  readonly logger: Logger;
  readonly main: VoiceThreadEvents & ThreadReports;
}

/** Audio WebSockets and the voice sessions on them. */
export interface VoiceService extends VoiceThreadMethods<StreamGrant>, VoiceThreadReady {}

/** Builds all that a voice thread has, on connections of its own. */
export async function startVoiceService(
  start: VoiceServiceStart,
  { logger, main }: VoiceServiceDeps,
): Promise<VoiceService> {
  const { config } = start;
  const lifecycle = new Lifecycle((error) => logger.error({ err: error }, 'close failed'));
  const context = await openContext(start, logger, lifecycle, main);
  const { clock, redis, storage, nodeId, onError } = context;
  const { conversations } = buildConversations(context, {
    models: await buildChat(context),
    knowledge: (await buildKnowledgeSearch(context)).search,
    onEnded: () => main.sessionEnded(),
    recoversTurns: start.recoversTurns,
  });
  const voice = await buildVoice(context, conversations, buildTextBots(context));
  let registration: VoiceNodeRegistration | undefined;
  let isOverloaded = false;
  const live = new ActiveStreams<AudioStream | TextStream>({
    clock,
    async serveVoiceSession(stream) {
      takeReadAhead(context, conversations, stream.info);
      const stop = context.credentials.keepFresh(stream.info.projectId);
      try {
        if ('say' in stream) return await voice.serveText(stream);
        return await (stream.info.party ? voice.serveParty(stream, stream.info.party) : voice.serve(stream));
      } finally {
        stop();
      }
    },
    onCountChange() {
      main.sessions(live.count);
      registration?.update();
    },
  });
  const usage = redisProjectCalls(redis, storage.stores.slotHolders);
  const tickets = redisStreamTickets(redis);
  const admitted = new AdmittedTickets(clock);
  const openAudio = createAudioOpener(tickets, () => url);
  const streamLogger = logger.child({ part: 'streams' });
  const serving = {
    slots: { renew: usage.renewSlot, release: usage.releaseSlot },
    widgetSessions: redisWidgetSessions(redis),
    minutes: storage.stores.widgetTokens,
    applications: new JambonzApplications({ openAudio, clock, makeId: context.makeId, onError }),
    conversations,
    serveVoiceSession: (stream: AudioStream | TextStream) => live.serve(stream),
    clock,
    onError: (err: unknown, what: string, fields: object) => streamLogger.warn({ err, ...fields }, what),
  };
  const listener = await listenForStreams<StreamGrant>(config.HOST, {
    async redeem(ticket) {
      const own = admitted.redeem(ticket);
      if (own) return own;
      const grant = await tickets.redeem(ticket);
      if (!grant || 'relayTo' in grant) return undefined;
      // A peer that reaches this port does not get around the check of the API.
      const isChecked = grant.visitor || findDialect(grant.dialect).isSignedByTwilio;
      return isChecked && !grant.isAdmitted ? undefined : grant;
    },
    serve: (grant, socket) => serveStream(serving, grant, socket),
    onError,
    socketsBelow: tmpdir(),
  });
  lifecycle.closing(listener);
  const url = config.NODE_URL ?? httpUrl(advertisedAddress(config.HOST), listener.port);
  await redis.untilReady();
  return {
    port: listener.port,
    socketPath: listener.socketPath,
    admit: (ticket, grant) => admitted.admit(ticket, grant),
    async register() {
      const node = { nodeId, url };
      const registry = redisVoiceNodes(redis);
      registration = new VoiceNodeRegistration({
        registry,
        node,
        load: () => ({ sessions: live.count, isOverloaded }),
        clock,
        onError,
      });
      await registration.start();
    },
    tellOverload(now) {
      isOverloaded = now;
      registration?.update();
    },
    async drain(graceMs) {
      await registration?.withdraw();
      await live.drain(graceMs);
    },
    async end() {
      await registration?.withdraw();
      await lifecycle.close();
      // At once: what is still closing must not hold up the stop of the node.
      process.exit();
    },
  };
}

async function openContext(
  { config, nodeId, redisUrl, secretsKey, ...start }: VoiceServiceStart,
  logger: Logger,
  lifecycle: Lifecycle,
  main: ThreadReports,
): Promise<ThreadContext> {
  const onError = (error: unknown, what: string) => logger.warn({ err: error }, what);
  const database = lifecycle.closing(connectDatabase(start.database, logger, POOL_SIZE));
  // The main thread reports the offset.
  const clock = new DatabaseClock({ system: systemClock, onOffset: () => undefined, onError });
  lifecycle.onClose(await clock.follow(database));
  const redis = redisConnector(redisUrl, clock, logger, lifecycle)('commands');
  return await createThreadContext({
    config,
    logger,
    lifecycle,
    clock,
    nodeId,
    database,
    redis,
    sealer: createSealer(secretsKey, config.SECRETS_KEY_PREVIOUS),
    sessionMetrics: reportedMetrics(main),
    // The main thread has said what is missing.
    warn: () => undefined,
  });
}
