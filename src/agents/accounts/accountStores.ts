import type { Page, PageOf } from '../../base/page.ts';
import type { ApiKey, Scope } from './apiKey.ts';
import type { AuditEntry } from './audit.ts';
import type { KeyPrincipal } from './principal.ts';
import type { Project, ProjectPatch } from './project.ts';

export type NewProject = Omit<Project, 'callLimits'> & Partial<Pick<Project, 'callLimits'>>;

/** Keeps projects. */
export interface ProjectStore {
  /** One whose limits are not named has none. */
  insert(project: NewProject): Promise<void>;
  /** @param lock - Keeps everything out that would write to the project, until the transaction ends. */
  find(projectId: string, lock?: 'for removal'): Promise<Project | undefined>;
  list(page: Page): Promise<PageOf<Project>>;
  update(projectId: string, patch: ProjectPatch, updatedAt: string): Promise<Project | undefined>;
  /** Removes the project with all that belongs to it. */
  remove(projectId: string): Promise<boolean>;
}

export interface NewApiKey extends ApiKey {
  readonly projectId: string;
  /** @see digestCredential */
  readonly digest: string;
  readonly scopes: Scope[];
}

/** Keeps the digests of keys; the keys themselves are nowhere. */
export interface ApiKeyStore {
  insert(key: NewApiKey): Promise<void>;
  list(projectId: string, page: Page): Promise<PageOf<ApiKey>>;
  findByDigest(digest: string): Promise<KeyPrincipal | undefined>;
  /** @returns The digest of the key that is gone now, or `undefined` where there was none. */
  remove(projectId: string, keyId: string): Promise<string | undefined>;
  /** The digests of all keys of a project, to revoke them when the project goes. */
  digestsOf(projectId: string): Promise<string[]>;
  markUsed(uses: ReadonlyMap<string, Date>): Promise<void>;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<void>;
  list(projectId: string, page: Page): Promise<PageOf<AuditEntry>>;
}
