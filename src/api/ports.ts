import type { Logger } from 'pino';
import type { ApiKeyStore, AuditStore, ProjectStore } from '../agents/accounts/accountStores.ts';
import type { ApiAuthenticator, Revocations } from '../agents/accounts/apiAuthenticator.ts';
import type { RateLimiter } from '../agents/accounts/rateLimiter.ts';
import type { IdempotencyStore, LegacyUsageStore } from '../agents/accounts/requestStores.ts';
import type { WebhookEventName } from '../agents/agentConfig.ts';
import type { AgentStore, PathwayStore, ToolStore } from '../agents/agentStores.ts';
import type { TestCaseStore, TestSuiteStore } from '../agents/testSuites/testSuiteStores.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { Page, PageOf } from '../base/page.ts';
import type { Tracer } from '../base/tracing.ts';
import type { CallStore } from '../calls/callStore.ts';
import type { PhoneNumberStore } from '../calls/numbers/phoneNumberStore.ts';
import type { CallRecordings } from '../calls/recording/callRecordings.ts';
import type { RecordingStore } from '../calls/recording/recordingStore.ts';
import type { RecordingUrls } from '../calls/recording/recordingUrls.ts';
import type { CallControl } from '../calls/runner/callControl.ts';
import type { AcceptedCall, InsertOnce, OutboundOrder } from '../calls/setup/acceptCall.ts';
import type { SipTraceStore } from '../calls/sipTraceStore.ts';
import type { TrunkHealth } from '../calls/trunks/trunk.ts';
import type { TrunkStore } from '../calls/trunks/trunkStore.ts';
import type { ConversationEngine } from '../engine/conversationEngine.ts';
import type {
  HistoryStore,
  MemoryStore,
  ReleaseStore,
  SessionStore,
} from '../engine/session/sessionStore.ts';
import type { TargetPolicy } from '../infra/httpClient/target.ts';
import type { Documents } from '../knowledge/intake/documents.ts';
import type { Retrieval } from '../knowledge/search/retrieval.ts';
import type { ChunkStore, DatasetStore, KnowledgebaseStore } from '../knowledge/stores.ts';
import type { EmbeddingModelName, OpenAiEmbeddingModelName } from '../providers/ports/embedder.ts';
import type { MediaStreams } from '../streams/mediaStreams.ts';
import type { WebhookSecretStore } from '../webhooks/signingSecrets.ts';

/** One store an aggregate; in a transaction all of them see and change the same moment. */
export interface Stores {
  readonly projects: ProjectStore;
  readonly apiKeys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly agents: AgentStore;
  readonly pathways: PathwayStore;
  readonly tools: ToolStore;
  readonly testCases: TestCaseStore;
  readonly testSuites: TestSuiteStore;
  readonly idempotency: IdempotencyStore;
  readonly legacyUsage: LegacyUsageStore;
  readonly releases: ReleaseStore;
  readonly sessions: SessionStore;
  readonly history: HistoryStore;
  readonly memory: MemoryStore;
  readonly knowledgebases: KnowledgebaseStore;
  readonly datasets: DatasetStore;
  readonly chunks: ChunkStore;
  readonly webhookSecrets: WebhookSecretStore;
  readonly trunks: TrunkStore;
  readonly phoneNumbers: PhoneNumberStore;
  readonly calls: CallStore;
  readonly sipTraces: SipTraceStore;
}

export interface Storage {
  readonly stores: Stores;
  transaction<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
}

/** Something that Callway stands on. */
export interface Dependency {
  readonly name: string;
  /** @throws {Error} When it does not answer. */
  check(): Promise<void>;
  /** Known at once, without asking; absent where only asking tells. */
  isDown?(): boolean;
}

/** One webhook that was sent, and what its receiver made of it. */
export interface WebhookDelivery {
  readonly deliveryId: string;
  readonly event: WebhookEventName;
  readonly sessionId: string;
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
  /** Whether the receiver answered 2xx. */
  readonly ok: boolean;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface WebhookDeliveryFilter {
  readonly sessionId?: string;
  readonly event?: WebhookEventName;
}

export interface SigningSecret {
  /** `whsec_…` */
  readonly secret: string;
  /** Until when the secret before this one signs as well; null when none does. */
  readonly previousValidUntil: string | null;
}

/** What a project's operator sees of its webhooks. */
export interface WebhookAdmin {
  /** Latest first. */
  deliveries(projectId: string, filter: WebhookDeliveryFilter, page: Page): Promise<PageOf<WebhookDelivery>>;
  secret(projectId: string): Promise<SigningSecret>;
  /** @param store - Of the transaction that the rotation is part of. */
  rotate(projectId: string, store: Pick<WebhookSecretStore, 'rotate'>): Promise<SigningSecret>;
}

/** Documents, from their upload to what is found in them. */
export interface KnowledgeService {
  /** What really makes the vectors of a knowledgebase for which this model was asked. */
  encoderOf(embeddingModelName: OpenAiEmbeddingModelName): EmbeddingModelName;
  readonly documents: Documents;
  readonly retrieval: Retrieval;
}

/** Recordings, and the links that open them. */
export interface RecordingAccess {
  readonly store: Pick<RecordingStore, 'open'>;
  readonly urls: Pick<RecordingUrls, 'verify'>;
}

/** Calls, beside what is kept of them. */
export interface CallService extends Pick<CallControl, 'hangUp' | 'transfer'> {
  /** @see acceptCall */
  accept(order: OutboundOrder, keep: InsertOnce): Promise<AcceptedCall>;
  /** What is known of each trunk at the moment. */
  trunkHealth(trunkIds: readonly string[]): Promise<Map<string, TrunkHealth>>;
  /** Tells the nodes that a trunk or a number was changed. */
  trunksChanged(): Promise<void>;
  readonly recordings: Pick<CallRecordings, 'url'>;
}

/** All that the routes need from the rest of the program. */
export interface HttpDeps {
  readonly storage: Storage;
  readonly authenticator: ApiAuthenticator;
  readonly revocations: Revocations;
  readonly rateLimiter: RateLimiter;
  readonly dependencies: readonly Dependency[];
  readonly egressPolicy: TargetPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly settings: HttpSettings;
  /** Absent where nobody traces. */
  readonly tracing?: Tracer;
  readonly metrics: HttpMetrics;
  readonly conversations: ConversationEngine;
  readonly webhookAdmin: WebhookAdmin;
  readonly knowledge: KnowledgeService;
  /** Absent where the program has no voice. */
  readonly mediaStreams?: MediaStreams;
  /** Absent where the program keeps no recordings. */
  readonly recordings?: RecordingAccess;
  /** Hangs up a live call; absent where the program takes no calls. */
  readonly calls: CallService;
  /** Hangs up a live call and waits for its end; absent where the program takes no calls. */
  readonly hangUp?: (projectId: string, callId: string) => Promise<void>;
}

export interface HttpSettings {
  /** What beside `/healthz`, `/readyz` and `/metrics`: the public API, the WebSockets of streams of audio. */
  readonly serves: readonly ('api' | 'talks')[];
  /** Of the models that answer, as `GET …/models` shows them. */
  readonly modelNames: readonly string[];
  readonly publicUrl: () => string;
  readonly trustProxy: boolean;
  readonly corsOrigins: readonly string[];
  readonly legacySunset: Date;
  readonly rateLimitPerMinute: number;
  readonly failedAuthPerMinute: number;
  readonly maxUploadBytes: number;
  /** Set while the service stops: it is not ready, and says so. */
  readonly isDraining: () => boolean;
}

/** The numbers that the HTTP room reports. */
export interface HttpMetrics {
  readonly contentType: string;
  render(): Promise<string>;
  requestDone(labels: { method: string; route: string; status: number }, seconds: number): void;
  legacyRequest(labels: { project: string; route: string }): void;
}
