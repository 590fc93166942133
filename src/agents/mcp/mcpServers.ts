import { type CoalescedRead, coalesceReads } from '../../base/async/coalesce.ts';
import { createPendingTasks } from '../../base/async/pendingTasks.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { McpServerStore, ToolStore } from '../agentStores.ts';
import type { SchemaChecker } from '../schemaChecker.ts';
import { isMcpTool, type McpTool } from '../tool.ts';
import { type ListedTool, MAX_LISTED_TOOLS, mergeListedTools, readListedTools } from './listedTools.ts';
import { type McpListing, type McpServer, serverGone } from './mcpServer.ts';
import type { McpToolCall, McpToolResult, McpTools } from './mcpTools.ts';

/** Tools that were listed longer ago are listed again when they are used. */
const STALE_AFTER_MS = 600_000;

interface Stores {
  readonly mcpServers: McpServerStore;
  readonly tools: ToolStore;
}

export interface McpServersDeps {
  readonly storage: {
    readonly stores: Stores;
    transaction<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
  };
  readonly tools: McpTools;
  readonly schemas: SchemaChecker;
  readonly clock: Clock;
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * The MCP servers of all projects: keeps what they list, so that a review or a release waits for none of them, and calls
 * their tools.
 */
export class McpServers {
  readonly #deps: McpServersDeps;
  readonly #background = createPendingTasks();
  readonly #closing = new AbortController();
  readonly #refreshing: CoalescedRead<void>;

  constructor(deps: McpServersDeps) {
    this.#deps = deps;
    this.#refreshing = coalesceReads((key) => {
      const [projectId = '', serverId = ''] = key.split(' ');
      return this.#listAgain(projectId, serverId);
    });
  }

  /** Asks the server for its tools and stores them. A server that fails keeps its tools and shows the error. */
  async refresh(projectId: string, serverId: string): Promise<McpServer | undefined> {
    await this.#refreshing(`${projectId} ${serverId}`);
    return await this.#deps.storage.stores.mcpServers.find(projectId, serverId);
  }

  /** Refreshes in the background what the project's servers listed too long ago. */
  refreshStale(projectId: string): void {
    this.#inBackground(async () => {
      for (const server of await this.#deps.storage.stores.mcpServers.all(projectId)) {
        if (this.#isStale(server)) await this.#refreshing(`${projectId} ${server.id}`);
      }
    });
  }

  /** @throws {CallwayError} When the server cannot be used. */
  async call(projectId: string, { mcp }: McpTool, call: Omit<McpToolCall, 'name'>): Promise<McpToolResult> {
    const server = await this.#deps.storage.stores.mcpServers.find(projectId, mcp.serverId);
    if (!server) throw serverGone();
    if (this.#isStale(server)) this.#inBackground(() => this.#refreshing(`${projectId} ${server.id}`));
    return await this.#deps.tools.call(server, { ...call, name: mcp.name });
  }

  /** Ends what runs in the background. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#background.settled();
  }

  #inBackground(work: () => Promise<void>): void {
    if (this.#closing.signal.aborted) return;
    void this.#background.add(
      work().catch((error: unknown) => this.#deps.onError(error, 'MCP server not refreshed')),
    );
  }

  #isStale({ listing: { at, error } }: McpServer): boolean {
    const lastAt = [at, error?.at].map((time) => (time ? Date.parse(time) : 0));
    return this.#deps.clock.now() - Math.max(...lastAt) > STALE_AFTER_MS;
  }

  async #listAgain(projectId: string, serverId: string): Promise<void> {
    const { storage, tools, clock } = this.#deps;
    const server = await storage.stores.mcpServers.find(projectId, serverId);
    if (!server) return;
    try {
      const listed = await tools.list(server, MAX_LISTED_TOOLS + 1, this.#closing.signal);
      const { tools: read, skipped } = readListedTools(listed);
      const checked = await this.#checkSchemas(projectId, serverId, read);
      await this.#store(projectId, server, checked.tools, [...skipped, ...checked.skipped]);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      if (!(error instanceof CallwayError)) throw error;
      const { code, message } = error;
      const at = new Date(clock.now()).toISOString();
      const failed: McpListing = { ...server.listing, error: { at, code, message } };
      await storage.stores.mcpServers.saveListing(projectId, server, failed);
    }
  }

  /** Schemas that were checked before are not checked again. */
  async #checkSchemas(projectId: string, serverId: string, listed: readonly ListedTool[]) {
    const stored = await this.#deps.storage.stores.tools.all(projectId);
    const known = new Set(
      stored.flatMap((tool) =>
        isMcpTool(tool) && tool.mcp.serverId === serverId ? [JSON.stringify(tool.parameters)] : [],
      ),
    );
    const tools: ListedTool[] = [];
    const skipped: McpListing['skipped'] = [];
    for (const tool of listed) {
      const isKnown = known.has(JSON.stringify(tool.inputSchema));
      const problem = isKnown ? undefined : await this.#deps.schemas.checkSchema(projectId, tool.inputSchema);
      if (problem === undefined) tools.push(tool);
      else skipped.push({ name: tool.name, reason: `inputSchema is no JSON Schema: ${problem}` });
    }
    return { tools, skipped };
  }

  async #store(
    projectId: string,
    asked: McpServer,
    listed: readonly ListedTool[],
    skipped: McpListing['skipped'],
  ): Promise<void> {
    const now = new Date(this.#deps.clock.now()).toISOString();
    await this.#deps.storage.transaction(async (stores) => {
      const server = await stores.mcpServers.find(projectId, asked.id, 'for update');
      // What another address has listed is not this server's.
      if (server?.updatedAt !== asked.updatedAt) return;
      const all = await stores.tools.all(projectId);
      const own = all.filter(isMcpTool).filter(({ mcp }) => mcp.serverId === server.id);
      const others = all.filter(({ id }) => !own.some((tool) => tool.id === id)).map(({ name }) => name);
      const { changed, removed } = mergeListedTools(server, listed, own, others, now);
      for (const { id } of removed) await stores.tools.remove(projectId, id);
      for (const tool of changed) {
        const isKnown = own.some(({ id }) => id === tool.id);
        await (isKnown ? stores.tools.update(projectId, tool) : stores.tools.insert(projectId, tool));
      }
      await stores.mcpServers.saveListing(projectId, server, { at: now, error: null, skipped });
    });
  }
}
