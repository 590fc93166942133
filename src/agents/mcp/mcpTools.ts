import type { McpServerInput } from './mcpServer.ts';

/** A tool as an MCP server lists it. Nothing of it has been checked. */
export type ForeignTool = unknown;

/** The fields that a server is called with. */
export type McpTarget = Pick<McpServerInput, 'url' | 'headers' | 'timeoutMs'>;

export interface McpToolCall {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly traceparent?: string | undefined;
}

export interface McpToolResult {
  /** False when the tool itself reports a failure. */
  readonly ok: boolean;
  readonly text: string;
  /** The result as JSON; undefined when it is no JSON. */
  readonly value?: unknown;
}

/**
 * Speaks with MCP servers: connects for each request, and closes the session after it.
 *
 * @throws {CallwayError} When the server cannot be reached, answers in time, or speaks MCP.
 * @see https://modelcontextprotocol.io/specification
 */
export interface McpTools {
  /** @param limit - The most tools that are read. */
  list(target: McpTarget, limit: number, signal: AbortSignal): Promise<readonly ForeignTool[]>;
  call(target: McpTarget, call: McpToolCall): Promise<McpToolResult>;
}
