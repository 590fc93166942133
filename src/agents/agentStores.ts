import type { Page, PageOf } from '../base/values/page.ts';
import type { AgentConfig } from './agentConfig.ts';
import type { McpListing, McpServer } from './mcp/mcpServer.ts';
import type { Pathway } from './pathway/schema/pathwaySchema.ts';
import type { AgentRecord, AgentRelease, Author, NumberedRelease, ReleaseInfo } from './releases/release.ts';
import type { Tool } from './tool.ts';

export interface AgentStore {
  /** @param lock - Blocks other writers until the transaction ends. */
  find(projectId: string, lock?: 'for update'): Promise<AgentRecord | undefined>;
  insert(projectId: string, record: AgentRecord): Promise<void>;
  /** @param callersGet - The live release's configuration, where it changes without the working copy. */
  save(projectId: string, record: AgentRecord, updatedAt: string, callersGet?: AgentConfig): Promise<void>;
}

/** A release that is made. */
export interface NewRelease {
  readonly content: AgentRelease;
  readonly createdAt: string;
  readonly createdBy: Author;
  readonly note: string | null;
  /** Whether an edit made it, while the agent was published. */
  readonly isAutomatic: boolean;
}

/** The numbered releases of agents, kept as long as their projects. */
export interface NumberedReleaseStore {
  list(projectId: string, page: Page): Promise<PageOf<ReleaseInfo>>;
  find(projectId: string, number: number): Promise<NumberedRelease | undefined>;
  /** Finds the newest one that is older. */
  findBefore(projectId: string, number: number): Promise<NumberedRelease | undefined>;
  /** Removes the oldest automatic ones beyond the quota of versions. @returns Its number. The caller has locked the agent. */
  insert(projectId: string, release: NewRelease): Promise<number>;
  /** Whether a release has this content. */
  isSame(projectId: string, number: number, content: AgentRelease): Promise<boolean>;
  /**
   * Replaces the content of the newest release where it is automatic, by the same author, younger than `since`, and no
   * session has run on it.
   *
   * @returns Whether it was replaced.
   */
  amend(projectId: string, release: NewRelease, since: string): Promise<boolean>;
}

/** The current version of a pathway. */
export interface StoredPathway {
  readonly id: string;
  /** Starts at 1; each change adds 1. */
  readonly version: number;
  readonly graph: Pathway;
  readonly updatedAt: string;
}

export interface PathwayVersionInfo {
  readonly version: number;
  readonly createdAt: string;
  readonly author: Author;
  readonly restoredFrom: number | null;
  readonly nodeCount: number;
  readonly edgeCount: number;
}

export interface NewPathwayVersion {
  readonly graph: Pathway;
  readonly version: number;
  readonly createdAt: string;
  readonly author: PathwayVersionInfo['author'];
  readonly restoredFrom?: number;
}

/** One pathway per project, with all its versions. */
export interface PathwayStore {
  find(projectId: string, lock?: 'for update'): Promise<StoredPathway | undefined>;
  insert(projectId: string, pathwayId: string, first: NewPathwayVersion): Promise<void>;
  append(projectId: string, next: NewPathwayVersion): Promise<void>;
  versions(projectId: string, page: Page): Promise<PageOf<PathwayVersionInfo>>;
  findVersion(
    projectId: string,
    version: number,
  ): Promise<(PathwayVersionInfo & { graph: Pathway }) | undefined>;
}

export interface ToolStore {
  /** @throws {CallwayError} `tool_name_taken` when the project has a tool of that name. */
  insert(projectId: string, tool: Tool): Promise<void>;
  find(projectId: string, toolId: string, lock?: 'for update'): Promise<Tool | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<Tool>>;
  all(projectId: string): Promise<Tool[]>;
  /** @throws {CallwayError} `tool_name_taken` when the project has a tool of that name. */
  update(projectId: string, tool: Tool): Promise<void>;
  remove(projectId: string, toolId: string): Promise<boolean>;
}

export interface McpServerStore {
  /** @throws {CallwayError} `mcp_server_name_taken` when the project has a server of that name. */
  insert(projectId: string, server: McpServer): Promise<void>;
  find(projectId: string, serverId: string, lock?: 'for update'): Promise<McpServer | undefined>;
  list(projectId: string, page: Page): Promise<PageOf<McpServer>>;
  all(projectId: string): Promise<McpServer[]>;
  /** @throws {CallwayError} `mcp_server_name_taken` when the project has a server of that name. */
  update(projectId: string, server: McpServer): Promise<void>;
  /** Does nothing when the server was changed after it was read. */
  saveListing(projectId: string, server: McpServer, listing: McpListing): Promise<void>;
  /** Removes its tools, too. */
  remove(projectId: string, serverId: string): Promise<boolean>;
}
