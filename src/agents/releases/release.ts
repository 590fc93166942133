import type { AgentConfig } from '../agentConfig.ts';
import type { Pathway } from '../pathway/schema/pathwaySchema.ts';
import type { Tool } from '../tool.ts';

/** The key that changed something. */
export interface Author {
  readonly kind: string;
  readonly keyId?: string;
  readonly hint?: string;
}

/** Everything a session runs on, as of one moment. */
export interface AgentRelease {
  /** The number of the release; undefined for the working copy. */
  readonly number?: number | undefined;
  readonly agent: AgentConfig;
  readonly pathwayId: string;
  readonly pathwayVersion: number;
  readonly pathway: Pathway;
  readonly tools: readonly Tool[];
}

export interface AgentRecord {
  /** The working copy, which editors change. */
  readonly config: AgentConfig;
  /**
   * The number of the release that callers get; null while nothing was published, when they get the working copy. While
   * the status is `published`, the release and the working copy are the same.
   *
   * ```
   *   draft, never published ──publish──▶ published ──draft──▶ draft
   *   (callers: working copy)             (working copy)       (callers: the release)
   *                                            ▲──────publish─────┘
   * ```
   */
  readonly live: number | null;
}

/** Whether callers get the working copy. */
export function isWorkingCopyLive({ config, live }: AgentRecord): boolean {
  return config.status === 'published' || live === null;
}

/** What a list of releases shows. */
export interface ReleaseInfo {
  /** Starts at 1; each release adds 1. */
  readonly release: number;
  readonly createdAt: string;
  readonly createdBy: Author;
  /** The publisher's words; null for a release that an edit made. */
  readonly note: string | null;
}

/** A release with its content. */
export interface NumberedRelease extends ReleaseInfo {
  readonly content: AgentRelease;
}
