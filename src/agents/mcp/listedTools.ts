import { z } from 'zod';
import { uuidOfName } from '../../base/values/ids.ts';
import { jsonObjectSchema, text } from '../pathway/schema/fields.ts';
import { BUILT_IN_TOOLS } from '../pathway/structure.ts';
import type { McpTool } from '../tool.ts';
import type { McpListing } from './mcpServer.ts';
import type { ForeignTool } from './mcpTools.ts';

/** Tools of one server. A model chooses badly among more. */
export const MAX_LISTED_TOOLS = 128;
/**
 * The most tools that are kept of one server, including those that it no longer lists; the oldest of these are removed.
 */
const MAX_KEPT_TOOLS = 256;
const MAX_SKIPPED = 20;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_NAME_CHARACTERS = 64;
const MAX_REASON_CHARACTERS = 200;

const foreignTool = z.object({
  name: text(1, 128),
  description: z.string().catch(''),
  inputSchema: jsonObjectSchema.refine((schema) => schema.type === 'object', 'must be of type object'),
});

/** A tool of a server, within our limits. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Reads what a server lists: each tool by itself, so that one that is malformed does not take the others with it. */
export function readListedTools(listed: readonly ForeignTool[]): {
  readonly tools: readonly ListedTool[];
  readonly skipped: McpListing['skipped'];
} {
  const tools = new Map<string, ListedTool>();
  const skipped: McpListing['skipped'] = [];
  for (const one of listed) {
    const { tool, reason } = readTool(one);
    if (tool && tools.size < MAX_LISTED_TOOLS) tools.set(tool.name, tool);
    else skipped.push({ name: nameIn(one), reason: reason ?? `more than ${MAX_LISTED_TOOLS} tools` });
  }
  return { tools: [...tools.values()], skipped: skipped.slice(0, MAX_SKIPPED) };
}

/**
 * The tools of a server after it has listed them: those that it lists, under the ids and names that they had before,
 * and those that have vanished.
 *
 * @param stored - Tools of this server.
 * @param otherNames - Names of the project's other tools.
 */
export function mergeListedTools(
  server: { readonly id: string; readonly name: string },
  listed: readonly ListedTool[],
  stored: readonly McpTool[],
  otherNames: readonly string[],
  now: string,
): { readonly changed: readonly McpTool[]; readonly removed: readonly McpTool[] } {
  const before = new Map(stored.map((tool) => [tool.mcp.name, tool]));
  const taken = new Set([...BUILT_IN_TOOLS, ...otherNames, ...stored.map(({ name }) => name)]);
  const current = listed.map((tool): McpTool => {
    const known = before.get(tool.name);
    const name = known?.name ?? freeName(tool.name, server.name, taken);
    taken.add(name);
    return {
      createdAt: now,
      ...known,
      id: uuidOfName(server.id, tool.name),
      name,
      description: tool.description,
      parameters: { ...tool.inputSchema },
      mcp: { serverId: server.id, name: tool.name, available: true },
      updatedAt: now,
    };
  });
  const names = new Set(listed.map(({ name }) => name));
  const vanished = stored
    .filter(({ mcp }) => !names.has(mcp.name))
    .toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt));
  const kept = vanished.slice(0, MAX_KEPT_TOOLS - current.length);
  const gone = kept.map((tool) => ({ ...tool, mcp: { ...tool.mcp, available: false }, updatedAt: now }));
  const changed = [...current, ...gone].filter((tool) => !isSame(tool, before.get(tool.mcp.name)));
  return { changed, removed: vanished.slice(kept.length) };
}

function readTool(listed: ForeignTool): { readonly tool?: ListedTool; readonly reason?: string } {
  const parsed = foreignTool.safeParse(listed);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const reason = `${issue?.path.join('.') ?? ''} ${issue?.message.replace('{field} ', '') ?? ''}`;
    return { reason: reason.trim().slice(0, MAX_REASON_CHARACTERS) };
  }
  const { name, description, inputSchema } = parsed.data;
  if (Buffer.byteLength(JSON.stringify(inputSchema)) > MAX_SCHEMA_BYTES)
    return { reason: `inputSchema is larger than ${MAX_SCHEMA_BYTES} bytes` };
  const shown = description.slice(0, MAX_DESCRIPTION_CHARACTERS).replaceAll('\0', '').toWellFormed();
  return { tool: { name, description: shown, inputSchema } };
}

function nameIn(listed: ForeignTool): string {
  const parsed = z.object({ name: text(1, 1_000_000) }).safeParse(listed);
  return parsed.success ? parsed.data.name.slice(0, MAX_NAME_CHARACTERS).toWellFormed() : '';
}

/** A name that models accept, and that no other tool of the project has. */
function freeName(toolName: string, serverName: string, taken: ReadonlySet<string>): string {
  const plain = functionName(toolName);
  if (!taken.has(plain)) return plain;
  const prefixed = functionName(`${serverName}_${toolName}`);
  if (!taken.has(prefixed)) return prefixed;
  for (let count = 2; ; count++) {
    const suffix = `_${count}`;
    const name = prefixed.slice(0, MAX_NAME_CHARACTERS - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
}

function functionName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_NAME_CHARACTERS);
}

function isSame(tool: McpTool, before: McpTool | undefined): boolean {
  return before !== undefined && comparable(tool) === comparable(before);
}

/** Postgres stores the keys of JSON in an order of its own. */
function comparable({ name, description, parameters, mcp }: McpTool): string {
  return JSON.stringify([name, description, sorted(parameters), mcp.available]);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}
