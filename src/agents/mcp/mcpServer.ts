import { z } from 'zod';
import { CallwayError, invalid } from '../../base/errors.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { checkHeaders } from '../../http/headers.ts';
import { checkTarget, type TargetPolicy } from '../../http/target.ts';
import { headerList, originOf, secretNeededAgain, targetUrl, withoutHeaderValues } from '../fields.ts';
import { text } from '../pathway/schema/fields.ts';
import type { Pathway } from '../pathway/schema/pathwaySchema.ts';
import { DEFAULT_TOOL_TIMEOUT_MS, MAX_TOOL_TIMEOUT_MS, type McpTool } from '../tool.ts';
import { requireUnusedTool } from '../toolRules.ts';

const fields = {
  name: text(1, 64).describe(
    'Unique in the project; stands before the name of a tool that the project has already.',
  ),
  url: targetUrl.describe('Of the MCP endpoint, which speaks streamable HTTP.'),
  headers: headerList,
  timeoutMs: z
    .int()
    .min(100)
    .max(MAX_TOOL_TIMEOUT_MS)
    .describe('For a call of a tool, or for listing the tools, with everything that belongs to it.'),
};

export const mcpServerInput = z.strictObject({
  ...fields,
  headers: fields.headers.default([]),
  timeoutMs: fields.timeoutMs.default(DEFAULT_TOOL_TIMEOUT_MS),
});

const keptHeaders = z
  .array(z.strictObject({ key: z.string().min(1).max(128), value: z.string().nullable() }))
  .max(50)
  .describe('Replaces all headers. A null keeps the stored value of the header.');

/** Only the supplied fields change. Null resets timeoutMs. */
export const mcpServerPatch = z
  .strictObject({ ...fields, headers: keptHeaders, timeoutMs: fields.timeoutMs.nullable() })
  .partial();

const listing = z.object({
  at: z.iso.datetime().nullable().describe('When the server last listed its tools.'),
  error: z
    .object({ at: z.iso.datetime(), code: z.string(), message: z.string() })
    .nullable()
    .describe('Why it could not since; the tools are those of the last time.'),
  skipped: z
    .array(z.object({ name: z.string(), reason: z.string() }))
    .describe('Tools of the server that cannot be used.'),
});

export const mcpServer = z
  .object({
    id: z.uuid(),
    ...fields,
    headers: z
      .array(z.object({ key: z.string(), value: z.null() }))
      .describe('Values are stored encrypted and never shown.'),
    listing,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'McpServer' });

export type McpServerInput = z.output<typeof mcpServerInput>;
export type McpServerPatch = z.output<typeof mcpServerPatch>;
export type ShownMcpServer = z.infer<typeof mcpServer>;
export type McpListing = z.infer<typeof listing>;

/** A stored MCP server, with the values of its headers. */
export interface McpServer extends McpServerInput {
  readonly id: string;
  readonly listing: McpListing;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const NOT_LISTED: McpListing = { at: null, error: null, skipped: [] };

export function shownMcpServer(server: McpServer): ShownMcpServer {
  return { ...server, headers: withoutHeaderValues(server.headers) };
}

/** @throws {CallwayError} 400 `invalid_mcp_server` */
export function requireValidMcpServer({ url, headers }: McpServerInput, policy: TargetPolicy): void {
  const target = checkTarget(url, policy);
  if (target) throw refused('/url', target.message);
  const header = checkHeaders(headers);
  if (header) throw refused('/headers', header.message);
}

/**
 * Applies a patch. Stored values go to no other origin than the one that they were given for: who may not read them
 * could have them sent.
 *
 * @throws {CallwayError} 400 `invalid_mcp_server`, `secret_needed_again`
 */
export function patchMcpServer(current: McpServer, patch: McpServerPatch): McpServerInput {
  const { url = current.url } = patch;
  const stored = new Map(current.headers.map(({ key, value }) => [key.toLowerCase(), value]));
  const wanted = patch.headers ?? current.headers.map(({ key }) => ({ key, value: null }));
  const isMoved = originOf(url) !== originOf(current.url);
  const headers = wanted.map(({ key, value }, index) => {
    const kept = value ?? stored.get(key.toLowerCase());
    if (kept === undefined) throw refused(`/headers/${index}/value`, `header ${key} has no stored value`);
    if (value === null && isMoved) {
      throw secretNeededAgain(`/headers/${index}/value`, `header ${key}`);
    }
    return { key, value: kept };
  });
  const { name, timeoutMs } = patch;
  return {
    name: current.name,
    timeoutMs: timeoutMs === null ? DEFAULT_TOOL_TIMEOUT_MS : current.timeoutMs,
    ...omitUndefined({ name, timeoutMs: timeoutMs ?? undefined }),
    url,
    headers,
  };
}

/** @throws {CallwayError} 409 `tool_in_use` when a node of one of the pathways uses a tool of the server. */
export function requireUnusedServer(tools: readonly McpTool[], pathways: readonly Pathway[]): void {
  for (const pathway of pathways) for (const { id } of tools) requireUnusedTool(id, pathway);
}

/** An endpoint that is called for a project. @throws {CallwayError} */
export function serverGone(): CallwayError {
  return new CallwayError('unavailable', 'mcp_server_removed', 'The MCP server of this tool was removed');
}

function refused(path: string, message: string): CallwayError {
  return invalid('invalid_mcp_server', message, [{ path, message }]);
}
