import type { AgentConfig } from './agentConfig.ts';
import type { Pathway } from './pathway/schema/pathwaySchema.ts';
import type { Tool } from './tool.ts';

/** All that a session runs on, as it was at one moment. */
export interface AgentRelease {
  readonly agent: AgentConfig;
  readonly pathwayId: string;
  readonly pathwayVersion: number;
  readonly pathway: Pathway;
  readonly tools: readonly Tool[];
}

/** Where an agent stands between its editors and its callers. */
export interface AgentRecord {
  /** The working copy, which editors change. */
  readonly config: AgentConfig;
  /** What callers get while the status is `draft`; null where the working copy is live. */
  readonly frozen: AgentRelease | null;
}

/**
 * Moves an agent to its next configuration. Leaving `published` freezes what was live; coming back thaws it.
 *
 * ```
 *   draft, never published ──publish──▶ published ──draft──▶ draft, frozen
 *   (callers: working copy)             (working copy)       (callers: the frozen release)
 *                                            ▲──────publish──────┘
 * ```
 *
 * @param live - The release as callers get it now; asked for only when it has to be frozen.
 */
export function nextRecord(record: AgentRecord, config: AgentConfig, live: () => AgentRelease): AgentRecord {
  if (config.status === 'published') return { config, frozen: null };
  if (record.config.status === 'published') return { config, frozen: live() };
  return { config, frozen: record.frozen };
}
