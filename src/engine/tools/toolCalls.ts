import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { renderDeep } from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Tool } from '../../agents/tool.ts';
import type { ToolCallEvent } from '../../providers/ports/chatModel.ts';
import type { ToolDefinition } from '../../providers/ports/toolDefinition.ts';
import { toChoice } from '../prompt/questions.ts';
import { moveTool } from '../prompt/structuredOutput.ts';
import { withFiller } from '../turn/filler.ts';
import type { TurnAction } from '../turn/turn.ts';
import { emit, type TurnContext } from '../turn/turnContext.ts';
import { BUILT_IN_DEFINITIONS, readBuiltInCall } from './builtInTools.ts';
import { shownPassage } from './knowledge.ts';
import { retrieve } from './retrieval.ts';
import type { ToolOutcome } from './toolRunner.ts';

type Halt = 'ended' | 'transferred' | null;

interface CallResult {
  readonly call: ToolCallEvent;
  readonly outcome: ToolOutcome;
  readonly halt?: Halt;
  readonly action?: TurnAction;
}

/** The tools that a model is offered at a node. */
export interface OfferedTools {
  readonly own: readonly ToolDefinition[];
  /** The client's tools, which the client runs; an own tool of the same name takes precedence. */
  readonly callers: readonly ToolDefinition[];
}

export function offeredTools(
  turn: TurnContext,
  node: PathwayNode,
  moves: readonly PathwayEdge[],
): OfferedTools {
  const { project, builtIn } = toolsOfNode(turn.release, node);
  const own = [
    ...(moves.length > 0 ? [moveTool(moves.map(toChoice))] : []),
    // A tool node has run its tool already.
    ...(node.type === 'tool' ? [] : project.map(toDefinition)),
    ...builtIn.flatMap((name) => BUILT_IN_DEFINITIONS[name] ?? []),
  ];
  const callers = turn.request.callerTools ?? [];
  return { own, callers: callers.filter(({ name }) => !own.some((tool) => tool.name === name)) };
}

/** The tools that a node offers; ids of no project tool name built-in ones. */
function toolsOfNode(release: AgentRelease, node: PathwayNode): { project: Tool[]; builtIn: string[] } {
  const byId = new Map(release.tools.map((tool) => [tool.id, tool]));
  const project: Tool[] = [];
  const builtIn: string[] = [];
  for (const id of node.data.tools) {
    const tool = byId.get(id);
    if (tool) project.push(tool);
    else builtIn.push(id);
  }
  return { project, builtIn };
}

function toDefinition(tool: Tool): ToolDefinition {
  return { name: tool.name, description: tool.description, parameters: tool.parameters };
}

/** Runs the model's tool calls concurrently, and adds their results to the conversation and the history. */
export async function runToolCalls(
  turn: TurnContext,
  node: PathwayNode,
  calls: readonly ToolCallEvent[],
): Promise<Halt> {
  const { journal } = turn;
  for (const { name, arguments: text } of calls)
    journal.event('tool_called', { name, arguments: text, by: 'model' });
  const results = await withFiller(turn, Promise.all(calls.map((call) => runCall(turn, node, call))));
  journal.add({
    role: 'assistant',
    content: null,
    internal: true,
    tool_calls: calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    })),
  });
  let halt: Halt = null;
  for (const { call, outcome, action, halt: own } of results) {
    recordToolResult(turn, call.name, outcome);
    journal.add({ role: 'tool', content: outcome.text, tool_call_id: call.id, internal: true });
    halt = own ?? halt;
    if (action) await emit(turn, { type: 'action', action });
  }
  return halt;
}

/** Runs the tool of a tool node; its JSON response becomes the variable of the tool's name. */
export async function runToolOfNode(
  turn: TurnContext,
  node: PathwayNode,
): Promise<{ readonly ok: boolean; readonly tool: string }> {
  const { journal, deps } = turn;
  const [tool] = toolsOfNode(turn.release, node).project;
  if (node.type !== 'tool' || !tool) {
    const message = 'The node’s tool does not exist';
    journal.event('error', { code: 'unknown_tool', nodeId: node.id, message });
    return { ok: false, tool: node.data.tools[0] ?? '' };
  }
  const rendered = renderDeep(node.data.arguments ?? {}, journal.variables, { cache: deps.templates });
  const args = JSON.stringify(withSchemaTypes(rendered, tool.parameters));
  journal.event('tool_called', { name: tool.name, arguments: args, by: 'pathway' });
  const { variables } = journal;
  const running = deps.tools.run(tool, args, variables, turn.signal, turn.trace.traceparent);
  const outcome = await withFiller(turn, running);
  recordToolResult(turn, tool.name, outcome);
  if (outcome.ok && outcome.value !== undefined) journal.setVariable(tool.name, outcome.value, 'tool');
  return { ok: outcome.ok, tool: tool.id };
}

function recordToolResult({ journal }: TurnContext, name: string, outcome: ToolOutcome): void {
  const { ok, text, status, durationMs } = outcome;
  journal.event('tool_result', {
    name,
    ok,
    result: text,
    ...(status === undefined ? {} : { status }),
    ...(durationMs === undefined ? {} : { durationMs }),
  });
}

async function runCall(turn: TurnContext, node: PathwayNode, call: ToolCallEvent): Promise<CallResult> {
  const { project, builtIn } = toolsOfNode(turn.release, node);
  const tool = project.find(({ name }) => name === call.name);
  if (tool) {
    const { variables } = turn.journal;
    const { traceparent } = turn.trace;
    return {
      call,
      outcome: await turn.deps.tools.run(tool, call.arguments, variables, turn.signal, traceparent),
    };
  }
  if (builtIn.includes(call.name)) return await runBuiltIn(turn, call);
  return { call, outcome: { ok: false, text: `There is no tool named ${call.name} here` } };
}

async function runBuiltIn(turn: TurnContext, call: ToolCallEvent): Promise<CallResult> {
  const read = readBuiltInCall(call.name, call.arguments);
  const done = (text: string) => ({ call, outcome: { ok: true, text } });
  switch (read.kind) {
    case 'end_call':
      return { ...done('The conversation ends now.'), halt: 'ended' };
    case 'transfer':
      turn.journal.event('transfer', { to: read.to });
      return { ...done('Connecting.'), halt: 'transferred', action: read };
    case 'send_dtmf':
      return { ...done('Pressed.'), action: read };
    case 'set_variable':
      turn.journal.setVariable(read.name, read.value, 'model');
      return done('Noted.');
    case 'query_knowledgebase': {
      const passages = await retrieve(turn, { query: read.query, options: {} });
      const shown = passages.map(shownPassage).join('\n\n');
      return done(shown === '' ? 'The documents say nothing about this.' : shown);
    }
    case 'refused':
      return { call, outcome: { ok: false, text: read.reason } };
  }
}

/** Templates render to text; converts it where the tool's schema asks for a number or a boolean. */
function withSchemaTypes(value: unknown, parameters: Readonly<Record<string, unknown>>): unknown {
  const { properties } = parameters;
  if (typeof value !== 'object' || value === null || typeof properties !== 'object' || properties === null)
    return value;
  const types = properties as Record<string, { type?: unknown } | undefined>;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const type = Object.hasOwn(types, key) ? types[key]?.type : undefined;
      if (typeof item !== 'string') return [key, item];
      if ((type === 'number' || type === 'integer') && item.trim() !== '' && Number.isFinite(Number(item)))
        return [key, Number(item)];
      if (type === 'boolean' && (item === 'true' || item === 'false')) return [key, item === 'true'];
      return [key, item];
    }),
  );
}
