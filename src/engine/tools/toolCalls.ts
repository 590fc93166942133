import { readPath } from '../../agents/pathway/evaluateExpression.ts';
import { renderDeep } from '../../agents/pathway/renderDeep.ts';
import type { PathwayEdge } from '../../agents/pathway/schema/edgeSchema.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { Variables } from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import { isMcpTool, type Tool } from '../../agents/tool.ts';
import { type TransferOutcome, transferOrder } from '../../agents/transferOptions.ts';
import { allowedTarget, type TransferTargetInput, toTransferTarget } from '../../agents/transferTarget.ts';
import type { ToolCallEvent } from '../../models/ports/chatModel.ts';
import type { ToolDefinition } from '../../models/ports/toolDefinition.ts';
import { missingVariables, stillToAsk } from '../pathway/requiredVariables.ts';
import { edgeOfEvent } from '../pathway/selectEdge.ts';
import { questionsFor } from '../prompt/prompts.ts';
import { toChoice } from '../prompt/questions.ts';
import { moveTool } from '../prompt/structuredOutput.ts';
import { sessionPolicy } from '../session/sessionPolicy.ts';
import { withFiller } from '../turn/filler.ts';
import { TRANSFER_TOOL, type TurnAction } from '../turn/turn.ts';
import { beginWait, emit, type TurnContext } from '../turn/turnContext.ts';
import { BUILT_IN_DEFINITIONS, readBuiltInCall } from './builtInTools.ts';
import { shownPassage } from './knowledge.ts';
import { optOut } from './optOut/optOut.ts';
import { retrieve } from './retrieval.ts';
import { scheduleCallback } from './scheduleCallback.ts';
import { type ToolCaller, type ToolOutcome, withSchemaTypes } from './toolRunner.ts';

type Halt = 'ended' | 'transferred' | 'opted_out' | null;

/** What a tool returned, as an edge's condition names it. */
export interface ToolResultOf {
  readonly ok: boolean;
  /** Id of the project's tool, or name of a built-in one. */
  readonly tool: string;
  /** The outcome of a transfer that was refused at once. */
  readonly transfer?: TransferOutcome;
}

export interface ToolCallsOutcome {
  readonly halt: Halt;
  /** The first result that an edge out of the node waits for. */
  readonly toolResult: ToolResultOf | undefined;
}

interface CallResult {
  /** The project's tool; undefined for a built-in one. */
  readonly tool?: Tool;
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
    ...(node.type === 'tool' ? [] : project.filter(isOffered).map(toDefinition)),
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

/** Whether a model may call the tool: not when its MCP server no longer lists it. */
function isOffered(tool: Tool): boolean {
  return !isMcpTool(tool) || tool.mcp.available;
}

function toDefinition(tool: Tool): ToolDefinition {
  return { name: tool.name, description: tool.description, parameters: tool.parameters };
}

/** Runs the model's tool calls concurrently, and adds their results to the conversation and the history. */
export async function runToolCalls(
  turn: TurnContext,
  node: PathwayNode,
  calls: readonly ToolCallEvent[],
): Promise<ToolCallsOutcome> {
  const { journal } = turn;
  // Templates of tools may read what the customer just said.
  await turn.extraction;
  for (const { name, arguments: text } of calls)
    journal.event('tool_called', { name, arguments: text, by: 'model' });
  const run = async (call: ToolCallEvent) => ({ call, ...(await runCall(turn, node, call)) });
  const { project } = toolsOfNode(turn.release, node);
  // The effects of built-in tools are part of the turn.
  if (calls.some((call) => project.some(({ name }) => name === call.name)))
    await turn.request.delivery?.commitment?.promise;
  const line = project.find(({ name, speakWhile }) => speakWhile && calls.some((call) => call.name === name));
  const results = await waitForTools(turn, () => Promise.all(calls.map(run)), line?.speakWhile);
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
  for (const { call, tool, outcome, action, halt: own } of results) {
    recordToolResult(turn, call.name, outcome, tool);
    journal.add({ role: 'tool', content: outcome.text, tool_call_id: call.id, internal: true });
    halt = own ?? halt;
    if (action) await emit(turn, { type: 'action', action });
  }
  const outcomes = results.map(({ call, outcome }) => ({ ok: outcome.ok, tool: toolId(turn, node, call) }));
  const toolResult = outcomes.find((one) => edgeOfEvent(turn.graph, node, { kind: 'tool_result', ...one }));
  // An edge for the tool's result leads on.
  return { halt: toolResult && halt === 'opted_out' ? null : halt, toolResult };
}

function toolId({ release }: TurnContext, node: PathwayNode, { name }: ToolCallEvent): string {
  return toolsOfNode(release, node).project.find((tool) => tool.name === name)?.id ?? name;
}

/** Runs the tool of a tool node; its JSON response becomes the variable of the tool's name. */
export async function runToolOfNode(
  turn: TurnContext,
  node: PathwayNode,
): Promise<ToolResultOf & { readonly halt: Halt }> {
  const { journal } = turn;
  await turn.extraction;
  const [id = ''] = node.data.tools;
  const tool = turn.release.tools.find((one) => one.id === id);
  if (tool) await turn.request.delivery?.commitment?.promise;
  const name = tool?.name ?? id;
  const given = node.type === 'tool' ? (node.data.arguments ?? {}) : {};
  const rendered = renderArguments(turn, id, given);
  const args = JSON.stringify(tool ? withSchemaTypes(rendered as Variables, tool.parameters) : rendered);
  journal.event('tool_called', { name, arguments: args, by: 'pathway' });
  const run = () =>
    tool ? runProjectTool(turn, tool, args, 'pathway') : runBuiltIn(turn, name, args, 'pathway');
  const { outcome, halt = null, action } = await waitForTools(turn, run, tool?.speakWhile);
  recordToolResult(turn, name, outcome, tool);
  if (outcome.ok && outcome.value !== undefined) journal.setVariable(name, outcome.value, 'tool');
  if (action) await emit(turn, { type: 'action', action });
  const isFailedTransfer = id === TRANSFER_TOOL && !outcome.ok;
  return { ok: outcome.ok, tool: id, halt, transfer: isFailedTransfer ? 'failed' : undefined };
}

/** Runs tools, whose time is a part of the latency. */
async function waitForTools<Result>(
  turn: TurnContext,
  run: () => Promise<Result>,
  lines: Tool['speakWhile'],
): Promise<Result> {
  beginWait(turn, 'tool');
  try {
    return await withFiller(turn, run(), lines);
  } finally {
    beginWait(turn, undefined);
  }
}

/** The announcement of a transfer is rendered when it is said. */
function renderArguments(
  { journal, renderOptions }: TurnContext,
  tool: string,
  { announce, ...given }: Readonly<Record<string, unknown>>,
): unknown {
  if (announce === undefined) return renderDeep(given, journal.variables, renderOptions);
  if (tool === TRANSFER_TOOL)
    return { ...(renderDeep(given, journal.variables, renderOptions) as object), announce };
  return renderDeep({ ...given, announce }, journal.variables, renderOptions);
}

/** Notes the result, and sets the variables that the tool maps it to; what the answer does not have stays as it is. */
function recordToolResult(
  { journal, session, deps }: TurnContext,
  name: string,
  outcome: ToolOutcome,
  tool: Tool | undefined,
): void {
  const { ok, text, status, durationMs } = outcome;
  journal.event('tool_result', {
    name,
    ok,
    result: text,
    status,
    durationMs,
  });
  if (!ok) {
    deps.onToolFailed(session, { tool: name, status, durationMs });
    return;
  }
  for (const { path, variable } of tool?.resultMapping ?? []) {
    const value = readPath(outcome.value, path);
    if (value !== undefined) journal.setVariable(variable, value, 'tool');
  }
}

async function runCall(turn: TurnContext, node: PathwayNode, call: ToolCallEvent): Promise<CallResult> {
  const { project, builtIn } = toolsOfNode(turn.release, node);
  const tool = project.find(({ name }) => name === call.name);
  if (tool) return await runProjectTool(turn, tool, call.arguments, 'model');
  if (builtIn.includes(call.name)) return await runBuiltIn(turn, call.name, call.arguments, 'model');
  return { outcome: { ok: false, text: `There is no tool named ${call.name} here` } };
}

async function runProjectTool(
  { deps, journal, session, signal, trace }: TurnContext,
  tool: Tool,
  argumentsText: string,
  by: ToolCaller['by'],
): Promise<CallResult> {
  const { projectId, state } = session;
  const caller = { projectId, by, traceparent: trace.traceparent, standIns: sessionPolicy(state).standIns };
  return { tool, outcome: await deps.tools.run(tool, argumentsText, journal.variables, signal, caller) };
}

async function runBuiltIn(
  turn: TurnContext,
  name: string,
  argumentsText: string,
  by: ToolCaller['by'],
): Promise<CallResult> {
  const read = readBuiltInCall(name, argumentsText);
  const done = (text: string, value?: unknown) => ({
    outcome: { ok: true, text, value },
  });
  switch (read.kind) {
    case 'end_call': {
      const missing = by === 'model' ? askBeforeEnd(turn) : undefined;
      if (missing === undefined) return { ...done('The conversation ends now.'), halt: 'ended' };
      return { outcome: { ok: false, text: `Not yet. First ask the person for: ${missing}` } };
    }
    case 'transfer': {
      const { transferTargets } = turn.release.agent;
      const targets = read.targets.flatMap((target) => allowedTarget(transferTargets, target) ?? []);
      if (targets.length < read.targets.length) {
        return { outcome: { ok: false, text: refusedTarget(transferTargets) } };
      }
      const order = transferOrder(targets, read.options);
      turn.journal.event('transfer', { status: 'requested', to: order.to, ...order.options });
      return { ...done('Connecting.'), halt: 'transferred', action: { kind: 'transfer', ...order } };
    }
    case 'send_dtmf':
      return { ...done('Pressed.'), action: read };
    case 'set_variable':
      turn.journal.setVariable(read.name, read.value, by);
      return done('Noted.');
    case 'query_knowledgebase': {
      const passages = await retrieve(turn, { query: read.query, options: {} });
      const shown = passages.map(shownPassage).join('\n\n');
      return shown === '' ? done('The documents say nothing about this.', '') : done(shown, shown);
    }
    case 'schedule_callback':
      return { outcome: await scheduleCallback(turn, read) };
    case 'opt_out':
      if (!turn.session.state.call) return { outcome: { ok: false, text: 'This is no phone call' } };
      await optOut(
        turn,
        turn.request.input.kind === 'dtmf' && by === 'pathway' ? 'dtmf' : 'tool',
        read.reason,
      );
      return { ...done('The number is on the do-not-call list.'), halt: 'opted_out' };
    case 'refused':
      return { outcome: { ok: false, text: read.reason } };
  }
}

function refusedTarget(targets: readonly TransferTargetInput[] | null): string {
  return `Transfers go only to: ${targets?.map((one) => toTransferTarget(one).to).join(', ') || 'nobody'}`;
}

/** The required variables to ask for before the conversation ends, which counts as a question; undefined for none. */
function askBeforeEnd({ release, journal, request }: TurnContext): string | undefined {
  if (request.input.kind !== 'user_message') return undefined;
  const due = stillToAsk(missingVariables(release.agent, journal.variables), journal.route.asked);
  if (due.length === 0) return undefined;
  journal.addQuestion(due.map(({ name }) => name));
  return questionsFor(due).join('; ');
}
