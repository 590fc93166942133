import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { ApiAuthenticator, Revocations } from '../agents/accounts/apiAuthenticator.ts';
import type { ConsoleSessions } from '../agents/accounts/consoleSessions.ts';
import type { SessionCounter } from '../agents/accounts/dayQuotas.ts';
import type { RateLimiter } from '../agents/accounts/rateLimiter.ts';
import type { McpServers } from '../agents/mcp/mcpServers.ts';
import type { PathwayChecker } from '../agents/pathway/pathwayChecker.ts';
import type { KnownProviders } from '../agents/pathway/review/providers.ts';
import type { PatternMatcher, SchemaChecker } from '../agents/schemaChecker.ts';
import type { VoiceCatalog } from '../agents/speech/voiceCatalog.ts';
import type { ComputeShares } from '../base/async/computeShares.ts';
import type { Sealer } from '../base/sealer.ts';
import type { Tracer } from '../base/tracing.ts';
import type { Clock } from '../base/values/clock.ts';
import type { MakeId } from '../base/values/ids.ts';
import type { Customers } from '../calls/customers/customers.ts';
import type { MediaFiles } from '../calls/holdMusic/mediaFiles.ts';
import type { NodeReports } from '../calls/nodes/nodeReport.ts';
import type { NumberOwnership } from '../calls/numbers/numberClaim.ts';
import type { RecordingReader } from '../calls/recording/recordingStore.ts';
import type { RecordingUrls } from '../calls/recording/recordingUrls.ts';
import type { CallControl } from '../calls/runner/callControl.ts';
import type { AcceptedCall, InsertOnce, OutboundOrder } from '../calls/setup/outboundOrder.ts';
import type { SipRejection } from '../calls/trunks/sipRejection.ts';
import type { TrunkHealth } from '../calls/trunks/trunk.ts';
import type { Campaigns } from '../campaigns/campaigns.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type { SessionResults } from '../engine/history/sessionResults.ts';
import type { SessionLock } from '../engine/session/sessionLock.ts';
import type { ToolRunner } from '../engine/tools/toolRunner.ts';
import type { EventFeed } from '../events/eventFeed.ts';
import type { LiveEvents } from '../events/liveEvents.ts';
import type { TargetPolicy } from '../http/target.ts';
import type { createStorage } from '../infra/postgres/storage.ts';
import type { Documents } from '../knowledge/intake/documents.ts';
import type { Retrieval } from '../knowledge/search/retrieval.ts';
import type { EmbeddingModelName, OpenAiEmbeddingModelName } from '../models/ports/embedder.ts';
import type { InsightStore } from '../results/insights/insightStore.ts';
import type { MediaStreams } from '../streams/mediaStreams.ts';
import type { TestRuns } from '../testing/runs/testRuns.ts';
import type { SpeechPreview } from '../voice/speechPreview.ts';
import type { WebhookAdmin } from '../webhooks/webhookAdmin.ts';
import type { WakeWork } from '../work/work.ts';

/** The server as routes see it: handlers get the types of their schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The stores, one per aggregate. Within a transaction all of them share it. */
export type Stores = ReturnType<typeof createStorage>['stores'];

export interface Storage {
  readonly stores: Stores;
  /** Starts transactions of its own. */
  readonly insights: InsightStore;
  transaction<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
}

/** A service that Callway cannot work without, such as Postgres. */
export interface Dependency {
  readonly name: string;
  /** @throws {Error} When it does not respond. */
  check(): Promise<void>;
  /** The last known state, without a request; undefined when only `check` can tell. */
  isDown?(): boolean;
}

/** Ingests documents and searches them. */
export interface KnowledgeService {
  /** The encoder that serves the requested embedding model. */
  encoderOf(embeddingModelName: OpenAiEmbeddingModelName): EmbeddingModelName;
  readonly documents: Documents;
  readonly retrieval: Retrieval;
}

/** Live calls; stored calls are in {@link Stores}. */
export interface CallService {
  readonly control: CallControl;
  readonly campaigns: Campaigns;
  /** Tells a worker that an import is due. */
  readonly wakeImport: WakeWork;
  /** @see acceptCall */
  accept(order: OutboundOrder, keep: InsertOnce): Promise<AcceptedCall>;
  /** Health of each trunk, as last reported. */
  trunkHealth(trunkIds: readonly string[]): Promise<Map<string, TrunkHealth>>;
  /** Inbound calls that were refused, the newest first. @param projectId - Undefined: of the installation. */
  rejections(projectId: string | undefined, limit: number): Promise<SipRejection[]>;
  /** Notifies all nodes that a trunk or a phone number changed. */
  trunksChanged(): Promise<void>;
}

/** Keys, sign-in, and what limits requests. */
interface AccessServices {
  readonly authenticator: ApiAuthenticator;
  readonly revocations: Revocations;
  readonly consoleSessions: ConsoleSessions;
  readonly rateLimiter: RateLimiter;
  /** Allows one request at a time with an `Idempotency-Key`, over all nodes. */
  readonly requestLock: SessionLock;
  readonly sessionCounter: SessionCounter;
  /** Seals secrets that a stored object keeps. */
  readonly sealer: Sealer;
}

/** What checks an agent's parts and tries them. */
interface AgentServices {
  readonly schemas: SchemaChecker;
  readonly patterns: PatternMatcher;
  readonly pathways: PathwayChecker;
  readonly tools: ToolRunner;
  readonly mcpServers: McpServers;
  readonly targetPolicy: TargetPolicy;
  readonly voices: VoiceCatalog;
  readonly speechPreview: SpeechPreview;
  readonly tests: TestRuns;
}

/** Conversations, the people in them, and their events. */
interface SessionServices {
  readonly conversations: ConversationEngine;
  readonly customers: Customers;
  readonly liveEvents: LiveEvents;
  readonly eventFeed: EventFeed;
  readonly analyses: {
    /** @see analyzeAgain */
    analyzeAgain(projectId: string, sessionId: string): Promise<SessionResults>;
    /** @throws {CallwayError} 409 `analysis_not_configured` */
    requireAnalyzing(projectId: string): Promise<unknown>;
    /** Tells a worker that a job is due. */
    readonly wake: WakeWork;
  };
}

/** Audio streams and stored audio. */
interface AudioServices {
  /** The media streams; undefined on nodes without voice. */
  readonly mediaStreams?: MediaStreams | undefined;
  readonly mediaFiles: MediaFiles;
  readonly recordings: { readonly store: RecordingReader; readonly urls: RecordingUrls };
}

/** What the operator of the installation sees. */
interface OperationServices {
  readonly dependencies: readonly Dependency[];
  readonly nodeReports: NodeReports;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  /** The tracer; undefined when tracing is off. */
  readonly tracing?: Tracer | undefined;
  /** The shares that projects' large bodies take. */
  readonly shares: ComputeShares;
}

/** Everything the HTTP API needs from the rest of the program. */
export interface HttpDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly settings: HttpSettings;
  readonly access: AccessServices;
  readonly agents: AgentServices;
  readonly sessions: SessionServices;
  readonly calls: CallService;
  readonly audio: AudioServices;
  readonly knowledge: KnowledgeService;
  readonly webhookAdmin: WebhookAdmin;
  readonly operations: OperationServices;
}

export interface HttpSettings {
  /** What the node serves besides `/healthz`, `/readyz` and `/metrics`: the public API, the WebSockets of audio streams. */
  readonly serves: readonly ('api' | 'audioStreams')[];
  /** The models that `GET …/models` lists. */
  readonly modelNames: readonly string[];
  /** Chat models that agents and nodes may name; undefined for all. */
  readonly allowedModels?: readonly string[] | undefined;
  /** The installation's. */
  readonly knownProviders: KnownProviders;
  readonly publicUrl: () => string;
  /** False leaves out the console, its sign-in included. Default true. */
  readonly hasConsole?: boolean;
  /** The built console; undefined without a build. */
  readonly consoleFolder?: string;
  /** The built scripts of the widget; undefined without a build. */
  readonly widgetFolder?: string;
  /** False, a number of proxies, or the addresses of the proxies (CIDRs); the client's is the first other one from the right. */
  readonly trustProxy: false | number | string[];
  readonly corsOrigins: readonly string[];
  readonly legacySunset: Date;
  readonly rateLimitPerMinute: number;
  readonly projectRateLimitPerMinute: number;
  readonly failedAuthPerMinute: number;
  readonly maxUploadBytes: number;
  readonly maxImportBytes: number;
  /** Whether `/metrics` is among the routes; else it has a port of its own. */
  readonly showsMetrics?: boolean;
  /** Whether tenants may set private and loopback hosts of trunks. Default true. */
  readonly allowsPrivateTrunks?: boolean;
  readonly numberOwnership?: NumberOwnership;
  /** Settings by name in the environment, for the operator; without secrets. */
  readonly shown: Readonly<Record<string, string>>;
  /** True from the start of a shutdown on. */
  readonly isDraining: () => boolean;
  /** Aborted at the start of a shutdown. Default: never. */
  readonly draining?: AbortSignal;
  /** Parts of this node that are late, so that new calls are refused. */
  readonly overloadedParts: () => readonly string[];
  /** Whether the providers of speech and chat do what they are asked, by name. */
  readonly providers: () => Readonly<Record<string, ProviderState>>;
}

/**
 * A provider's state by its last answer to this node. @property reason - Tells the operator; it quotes no provider and
 * no key.
 */
interface ProviderState {
  readonly status: 'up' | 'degraded';
  readonly reason?: string;
}

export interface HttpMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  observeRequest(labels: { method: string; route: string; status: number }, seconds: number): void;
  countLegacyRequest(labels: { project: string; route: string }): void;
}
