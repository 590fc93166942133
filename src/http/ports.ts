import type { Logger } from 'pino';

import type { Authenticator, Revocations } from '../accounts/authenticator.ts';
import type { ApiKeyStore, AuditStore, ProjectStore } from '../accounts/stores.ts';
import type { AgentStore, PathwayStore, ToolStore } from '../agents/stores.ts';
import type { Clock } from '../base/clock.ts';
import type { MakeId } from '../base/ids.ts';
import type { EgressPolicy } from '../egress/target.ts';
import type { TestCaseStore, TestSuiteStore } from '../suites/stores.ts';

/** The answer to a POST, as it is kept for a repetition. */
export interface KeptAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: unknown;
}

/** Keeps answers for `Idempotency-Key`, in the transaction that did what they answer. */
export interface IdempotencyStore {
  /** Waits for a claim of the same key that is under way. @returns What is kept already, if anything. */
  claim(scope: string, key: string, fingerprint: string, now: Date): Promise<KeptAnswer | undefined>;
  keep(scope: string, key: string, status: number, body: unknown): Promise<void>;
  removeOlderThan(time: Date): Promise<void>;
}

export interface LegacyUse {
  readonly projectId: string;
  readonly route: string;
  /** As `2026-11-21`, in UTC. */
  readonly day: string;
  readonly requests: number;
}

export interface LegacyUsageStore {
  add(uses: readonly LegacyUse[]): Promise<void>;
  since(projectId: string, day: string): Promise<Omit<LegacyUse, 'projectId'>[]>;
}

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

/** Whether a request may go on; `retryAfterSeconds` until it is worth trying again. */
export type Allowance =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

export interface RateLimiter {
  take(key: string, limit: number): Allowance | Promise<Allowance>;
  isExhausted(key: string): Allowance;
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
