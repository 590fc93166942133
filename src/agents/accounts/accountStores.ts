import type { Page, PageOf } from '../../base/values/page.ts';
import type { ApiKey, Scope } from './apiKey.ts';
import type { AuditEntry } from './audit.ts';
import type { KeyPrincipal } from './principal.ts';
import type { Project, ProjectPatch } from './project.ts';
import type { RetentionDaysPatch } from './retention.ts';

type OptionalOfNew = 'callLimits' | 'quotas' | 'callingHours' | 'reviewRules' | 'sessionIdleMinutes';
type NewProject = Omit<Project, OptionalOfNew | 'chatIdleMinutes' | 'retentionDays'> & {
  readonly [Field in OptionalOfNew]?: Project[Field] | undefined;
} & { readonly retentionDays?: RetentionDaysPatch };

export interface ProjectStore {
  /** A project without limits or calling hours has none; one without quotas, idle time or `retentionDays` has the defaults. */
  insert(project: NewProject): Promise<void>;
  /** @param lock - Blocks all writes to the project until the transaction ends. */
  find(projectId: string, lock?: 'for removal'): Promise<Project | undefined>;
  list(page: Page): Promise<PageOf<Project>>;
  update(projectId: string, patch: ProjectPatch, updatedAt: string): Promise<Project | undefined>;
  /** Removes what a project has many of, in short statements, before {@link remove}. */
  removeContents(projectId: string): Promise<void>;
  /** Removes the project and everything that belongs to it. */
  remove(projectId: string): Promise<boolean>;
}

export interface NewApiKey extends ApiKey {
  readonly projectId: string;
  /** @see digestCredential */
  readonly digest: string;
  readonly scopes: Scope[];
}

/** Stores the digests of keys, never the keys. */
export interface ApiKeyStore {
  insert(key: NewApiKey): Promise<void>;
  list(projectId: string, page: Page): Promise<PageOf<ApiKey>>;
  findByDigest(digest: string): Promise<KeyPrincipal | undefined>;
  /** @returns The digest of the removed key; `undefined` when there was none. */
  remove(projectId: string, keyId: string): Promise<string | undefined>;
  /** The digests of all keys of a project. */
  digestsOf(projectId: string): Promise<string[]>;
  markUsed(uses: ReadonlyMap<string, Date>): Promise<void>;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<void>;
  list(projectId: string, page: Page): Promise<PageOf<AuditEntry>>;
  /** Removes the entries of all projects, deleted ones included. */
  removeOlderThan(time: Date): Promise<void>;
}

/** The response to a POST, stored for repetitions of the request. */
export interface StoredResponse {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: unknown;
}

/** Stores responses by `Idempotency-Key`, in the transaction that did the work. */
export interface IdempotencyStore {
  /** Waits for a concurrent claim of the same key. @returns The stored response, if any. */
  claim(scope: string, key: string, fingerprint: string, now: Date): Promise<StoredResponse | undefined>;
  /** @param session - The session that the response tells about: the response is removed with it. */
  keep(
    scope: string,
    key: string,
    response: Omit<StoredResponse, 'fingerprint'>,
    session?: { readonly projectId: string; readonly sessionId: string },
  ): Promise<void>;
}

export interface LegacyUse {
  readonly projectId: string;
  readonly route: string;
  /** The UTC day, as `2026-11-21`. */
  readonly day: string;
  readonly requests: number;
}

export interface LegacyUsageStore {
  add(uses: readonly LegacyUse[]): Promise<void>;
  since(projectId: string, day: string): Promise<Omit<LegacyUse, 'projectId'>[]>;
}
