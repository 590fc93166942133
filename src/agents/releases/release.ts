import type { AgentConfig } from '../agentConfig.ts';
import type { Pathway } from '../pathway/schema/pathwaySchema.ts';
import type { Tool } from '../tool.ts';

/** Everything a session runs on, as of one moment. */
export interface AgentRelease {
  readonly agent: AgentConfig;
  readonly pathwayId: string;
  readonly pathwayVersion: number;
  readonly pathway: Pathway;
  readonly tools: readonly Tool[];
}

export interface AgentRecord {
  /** The working copy, which editors change. */
  readonly config: AgentConfig;
  /** The release that callers get while the status is `draft`; null when the working copy is live. */
  readonly frozen: AgentRelease | null;
}

/** The configuration that callers get. */
export function liveAgent({ config, frozen }: AgentRecord): AgentConfig {
  return frozen ? frozen.agent : config;
}

/**
 * Applies a configuration change. A change from `published` to `draft` freezes the live release; publishing drops it.
 *
 * ```
 *   draft, never published ──publish──▶ published ──draft──▶ draft, frozen
 *   (callers: working copy)             (working copy)       (callers: the frozen release)
 *                                            ▲──────publish──────┘
 * ```
 *
 * @param live - Loads the release that callers get now; called only when it is frozen.
 */
export async function nextRecord(
  record: AgentRecord,
  config: AgentConfig,
  live: () => Promise<AgentRelease>,
): Promise<AgentRecord> {
  if (config.status === 'published') return { config, frozen: null };
  if (record.config.status === 'published') return { config, frozen: await live() };
  return { config, frozen: record.frozen };
}
