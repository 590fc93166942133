import type { Logger } from 'pino';

import type { Authenticator, Revocations } from '../accounts/authenticator.ts';
import type { RateLimiter } from '../accounts/rateLimiter.ts';
import type { IdempotencyStore, LegacyUsageStore } from '../accounts/requestStores.ts';
import type { ApiKeyStore, AuditStore, ProjectStore } from '../accounts/stores.ts';
import type { AgentStore, PathwayStore, ToolStore } from '../agents/stores.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { EgressPolicy } from '../egress/target.ts';
import type { TestCaseStore, TestSuiteStore } from '../suites/stores.ts';

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
  isAway?(): boolean;
}

/** All that the routes need from the rest of the program. */
export interface HttpDeps {
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly revocations: Revocations;
  readonly rateLimiter: RateLimiter;
  readonly dependencies: readonly Dependency[];
  readonly egressPolicy: EgressPolicy;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly logger: Logger;
  readonly settings: HttpSettings;
  readonly metrics: Metrics;
}

export interface HttpSettings {
  readonly publicUrl: () => string;
  readonly trustProxy: boolean;
  readonly corsOrigins: readonly string[];
  readonly legacySunset: Date;
  readonly rateLimitPerMinute: number;
  readonly failedAuthPerMinute: number;
  /** Set while the service stops: it is not ready, and says so. */
  readonly isDraining: () => boolean;
}

/** The numbers that the HTTP room reports. */
export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
  requestDone(labels: { method: string; route: string; status: number }, seconds: number): void;
  legacyRequest(labels: { project: string; route: string }): void;
}
