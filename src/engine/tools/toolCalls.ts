import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import type { ToolCallEvent } from '../../providers/ports/chatModel.ts';
import { withPlaceholder } from '../turn/filler.ts';
import type { TurnOutput } from '../turn/turn.ts';
import type { TurnContext } from '../turn/turnContext.ts';
import { readBuiltInCall } from './builtInTools.ts';
import { shownPassage } from './passage.ts';
import { findKnowledge } from './retrieval.ts';
import { type ToolOutcome, toolsOfNode } from './toolRunner.ts';

type Halt = 'ended' | 'transferred' | null;

interface Ran {
  readonly call: ToolCallEvent;
  readonly outcome: ToolOutcome;
  readonly halt: Halt;
  readonly output?: TurnOutput;
}

/** Runs what the model called, all at once; the results go to the model by the journal, and to the history. */
export async function* runCalls(
  run: TurnContext,
  node: PathwayNode,
  calls: readonly ToolCallEvent[],
): AsyncGenerator<TurnOutput, Halt> {
  for (const { name, arguments: text } of calls)
    run.journal.event('tool_called', { name, arguments: text, by: 'model' });
  const ran = yield* withPlaceholder(run, Promise.all(calls.map((call) => runOne(run, node, call))));
  run.journal.add({
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
  for (const one of ran) {
    noteResult(run, one.call.name, one.outcome);
    run.journal.add({ role: 'tool', content: one.outcome.text, tool_call_id: one.call.id, internal: true });
    halt = one.halt ?? halt;
    if (one.output) yield one.output;
  }
  return halt;
}

export function noteResult(run: TurnContext, name: string, outcome: ToolOutcome): void {
  const { ok, text, status, durationMs } = outcome;
  run.journal.event('tool_result', {
    name,
    ok,
    result: text,
    ...(status === undefined ? {} : { status }),
    ...(durationMs === undefined ? {} : { durationMs }),
  });
}

async function runOne(run: TurnContext, node: PathwayNode, call: ToolCallEvent): Promise<Ran> {
  const { project, builtIn } = toolsOfNode(run.release, node);
  const tool = project.find(({ name }) => name === call.name);
  if (tool) {
    const outcome = await run.deps.tools.run(
      tool,
      call.arguments,
      run.journal.variables,
      run.signal,
      run.traceparent,
    );
    return { call, outcome, halt: null };
  }
  if (!builtIn.includes(call.name)) {
    return { call, outcome: { ok: false, text: `There is no tool named ${call.name} here` }, halt: null };
  }
  return await runBuiltIn(run, call);
}

async function runBuiltIn(run: TurnContext, call: ToolCallEvent): Promise<Ran> {
  const read = readBuiltInCall(call.name, call.arguments);
  const done = (text: string, halt: Halt = null) => ({ call, outcome: { ok: true, text }, halt });
  switch (read.kind) {
    case 'end_call':
      return done('The conversation ends now.', 'ended');
    case 'transfer':
      run.journal.event('transfer', { to: read.to });
      return {
        ...done('Connecting.', 'transferred'),
        output: { type: 'action', action: { kind: 'transfer', to: read.to } },
      };
    case 'send_dtmf':
      return {
        ...done('Pressed.'),
        output: { type: 'action', action: { kind: 'send_dtmf', digits: read.digits } },
      };
    case 'set_variable':
      run.journal.setVariable(read.name, read.value, 'model');
      return done('Noted.');
    case 'query_knowledgebase': {
      const passages = await findKnowledge(run, { query: read.query, options: {} });
      const shown = passages.map(shownPassage).join('\n\n');
      return done(shown === '' ? 'The documents say nothing about this.' : shown);
    }
    case 'refused':
      return { call, outcome: { ok: false, text: read.reason }, halt: null };
  }
}
