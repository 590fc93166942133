import { describe, expect, test } from 'vitest';
import { createGraph } from '../../../src/agents/pathway/graph.ts';
import { type PathwayInput, pathwaySchema } from '../../../src/agents/pathway/schema/pathwaySchema.ts';
import type { TurnTrigger } from '../../../src/engine/pathway/selectEdge.ts';
import { advanceTurn, initialTurn } from '../../../src/engine/pathway/turnMachine.ts';
import type {
  MoveStyle,
  TurnMachineEffect,
  TurnMachineEvent,
} from '../../../src/engine/pathway/turnMachineState.ts';

type Edge = readonly [source: string, target: string, condition?: unknown, more?: object];

const NODES = [
  ['start', 'start', 'Hi.'],
  ['ask', 'conversation', 'Ask.'],
  ['more', 'conversation', 'More.'],
  ['empty', 'conversation', ''],
  ['line', 'say', 'Line.'],
  ['run', 'tool', '', { tools: ['t'] }],
  ['rule', 'condition', ''],
  ['know', 'knowledge', 'Know.'],
  ['hours', 'conversation', 'Hours.', { returns: true }],
  ['bye', 'end', 'Bye.'],
  ['quiet', 'end', ''],
  ['desk', 'transfer', '', { to: '+886223456789' }],
] as const;

interface Turn {
  readonly at?: string | null;
  readonly hasSpoken?: boolean;
  readonly style?: MoveStyle;
  readonly trigger?: TurnTrigger | 'begin';
  /** The edges that models select, in order; then none. */
  readonly selects?: readonly (string | undefined)[];
  /** The models say nothing. */
  readonly isSilent?: boolean;
  /** The required variables that an edge waits for. */
  readonly due?: Readonly<Record<string, string>>;
  readonly returnTo?: string;
  readonly held?: string;
  readonly ok?: boolean;
  /** A model calls this tool at a node instead of speaking. */
  readonly halts?: boolean;
}

/** What a turn does on a pathway with these edges, `source_target` by name, and where it ends. */
function turn(edges: readonly Edge[], given: Turn) {
  const { at = 'ask', hasSpoken = true, style = 'first', trigger = { kind: 'user_message' } } = given;
  const graph = createGraph(
    pathwaySchema.parse({
      nodes: NODES.map(([id, type, prompt, more]) => ({ id, type, data: { title: id, prompt, ...more } })),
      edges: edges.map(([source, target, condition = null, more]) => ({
        id: `${source}_${target}`,
        source,
        target,
        data: { condition, ...more },
      })),
    } as unknown as PathwayInput),
  );
  const selects = [...(given.selects ?? [])];
  const says = !given.isSilent;
  const next = (effect: TurnMachineEffect): TurnMachineEvent | undefined => {
    switch (effect.type) {
      case 'judge':
        return { type: 'judged', edgeId: selects.length > 0 ? selects.shift() : null };
      case 'speak': {
        if (given.halts) return { type: 'halted' };
        const mayMove = effect.moves.length + effect.beside.length > 0;
        return { type: 'spoke', edgeId: mayMove ? (selects.shift() ?? null) : null, saidAnything: says };
      }
      case 'ask':
      case 'say':
        return { type: 'spoke', edgeId: null, saidAnything: true };
      case 'run_tool':
        return { type: 'tool_ran', ok: given.ok ?? true, tool: 't' };
      default:
        return undefined;
    }
  };
  const pending = {
    returnTo:
      given.returnTo === undefined ? null : { nodeId: given.returnTo, hasSpoken: true, heldEdgeId: null },
    heldEdgeId: given.held ?? null,
    asked: {},
  };
  let state = initialTurn({ nodeId: at, hasSpoken }, pending, graph);
  let event: TurnMachineEvent | undefined = { type: 'start', trigger };
  const done: string[] = [];
  while (event) {
    const step = advanceTurn(state, event, {
      graph,
      style,
      variables: () => ({}),
      dueBefore: ({ id }) => (given.due?.[id] ? [{ name: given.due[id] } as never] : []),
    });
    state = step.state;
    event = undefined;
    for (const effect of step.effects) {
      done.push(shown(effect));
      event = next(effect) ?? event;
    }
  }
  expect(state.phase).toBe('done');
  const { returnTo, held } = state;
  return {
    done: done.join(', '),
    at: `${state.nodeId} ${state.hasSpoken ? 'spoken' : 'not spoken'}`,
    ...(returnTo ? { returnTo: returnTo.nodeId } : {}),
    ...(held ? { held: held.id } : {}),
  };
}

function shown(effect: TurnMachineEffect): string {
  const { type, node } = effect;
  const ids = (edges: readonly { readonly id: string }[]) => edges.map(({ id }) => id).join(' ');
  if (type === 'enter') return `enter ${node.id}${effect.hasSpokenFor ? ' (spoken for)' : ''}`;
  if (type === 'judge') return `judge ${ids(effect.choices)}`;
  if (type === 'ask') return `ask ${effect.variables.map(({ name }) => name)}`;
  if (type !== 'speak') return `${type} ${node.id}`;
  const { moves, beside } = effect;
  return `speak ${node.id}${moves.length > 0 ? ` or ${ids(moves)}` : ''}${beside.length > 0 ? ` beside ${ids(beside)}` : ''}`;
}

const YES: Edge = ['ask', 'more', 'Yes.'];
const failed: TurnTrigger = { kind: 'tool_result', ok: false, tool: 't' };
const silence: TurnTrigger = { kind: 'silence', durationMs: 9_000 };
const GLOBAL: Edge = ['*', 'hours', 'When are you open?'];

describe('A turn', () => {
  test.each<[string, readonly Edge[], Turn, ReturnType<typeof turn>]>([
    [
      'begins at the start node',
      [],
      { at: null, trigger: 'begin' },
      { done: 'enter start, speak start', at: 'start spoken' },
    ],
    [
      'begins at the start node with words',
      [['start', 'more', 'Yes.']],
      { at: null, hasSpoken: false },
      { done: 'enter start, judge start_more, speak start', at: 'start spoken' },
    ],
    [
      'speaks at its node when the agent begins',
      [YES],
      { trigger: 'begin' },
      { done: 'speak ask', at: 'ask spoken' },
    ],
    ['answers at a node without edges', [], {}, { done: 'speak ask', at: 'ask spoken' }],
    [
      'selects an edge first, and speaks its target',
      [YES],
      { selects: ['ask_more'] },
      { done: 'judge ask_more, enter more, speak more', at: 'more spoken' },
    ],
    [
      'answers where no edge holds',
      [YES],
      { selects: [] },
      { done: 'judge ask_more, speak ask', at: 'ask spoken' },
    ],
    [
      'answers where the verdict cannot be read',
      [YES, ['ask', 'bye', null, { fallback: true }]],
      { selects: [undefined] },
      { done: 'judge ask_more, speak ask', at: 'ask spoken' },
    ],
    [
      'takes the fallback where no edge holds',
      [YES, ['ask', 'bye', null, { fallback: true }]],
      {},
      { done: 'judge ask_more, enter bye, speak bye, end bye', at: 'bye spoken' },
    ],
    [
      'speaks for the target in the same request',
      [YES],
      { style: 'together', selects: ['ask_more'] },
      { done: 'speak ask or ask_more, enter more (spoken for)', at: 'more spoken' },
    ],
    [
      'speaks the target where nothing was said for it',
      [YES],
      { style: 'together', selects: ['ask_more'], isSilent: true },
      { done: 'speak ask or ask_more, enter more, speak more', at: 'more spoken' },
    ],
    [
      'answers beside the selection, and waits at the target',
      [YES],
      { style: 'beside', selects: ['ask_more'] },
      { done: 'speak ask beside ask_more, enter more', at: 'more not spoken' },
    ],
    [
      'speaks at the target that a speaking model calls for',
      [YES],
      { style: 'called', selects: ['ask_more'] },
      { done: 'speak ask or ask_more, enter more, speak more', at: 'more spoken' },
    ],
    [
      'selects first where a fallback would hold',
      [YES, ['ask', 'bye', null, { fallback: true }]],
      { style: 'together', selects: ['ask_more'] },
      { done: 'judge ask_more, enter more, speak more', at: 'more spoken' },
    ],
    [
      'selects first where a variable may be due',
      [YES],
      { style: 'together', due: { ask_more: 'age' }, selects: ['ask_more'] },
      { done: 'judge ask_more, ask age', at: 'ask spoken', held: 'ask_more' },
    ],
    [
      'asks for what is due, and holds the edge',
      [YES],
      { due: { ask_more: 'age' }, selects: ['ask_more'] },
      { done: 'judge ask_more, ask age', at: 'ask spoken', held: 'ask_more' },
    ],
    [
      'takes the held edge',
      [YES],
      { held: 'ask_more' },
      { done: 'enter more, speak more', at: 'more spoken' },
    ],
    [
      'asks nothing of a caller who is silent',
      [['ask', 'more', { event: 'silence' }]],
      { trigger: silence, due: { ask_more: 'age' } },
      { done: 'enter more, speak more', at: 'more spoken' },
    ],
    [
      'says no second farewell',
      [['ask', 'bye', 'Bye.']],
      { style: 'together', selects: ['ask_bye'] },
      { done: 'speak ask or ask_bye, enter bye (spoken for), end bye', at: 'bye spoken' },
    ],
    [
      'says the farewell on the next turn after an answer',
      [['ask', 'bye', 'Bye.']],
      { style: 'beside', selects: ['ask_bye'] },
      { done: 'speak ask beside ask_bye, enter bye', at: 'bye not spoken' },
    ],
    [
      'ends at once without a farewell',
      [['ask', 'quiet', 'Bye.']],
      { style: 'beside', selects: ['ask_quiet'] },
      { done: 'speak ask beside ask_quiet, enter quiet, end quiet', at: 'quiet spoken' },
    ],
    [
      'says the farewell that is still due',
      [],
      { at: 'bye', hasSpoken: false },
      { done: 'speak bye, end bye', at: 'bye spoken' },
    ],
    [
      'transfers',
      [['ask', 'desk', 'A person!']],
      { selects: ['ask_desk'] },
      { done: 'judge ask_desk, enter desk, transfer desk', at: 'desk spoken' },
    ],
    [
      'performs a line after words for it',
      [
        ['ask', 'line', 'Yes.'],
        ['line', 'more'],
      ],
      { style: 'together', selects: ['ask_line'] },
      { done: 'speak ask or ask_line, enter line, say line, enter more, speak more', at: 'more spoken' },
    ],
    [
      'says a line and goes on',
      [
        ['ask', 'line'],
        ['line', 'more'],
      ],
      {},
      { done: 'enter line, say line, enter more, speak more', at: 'more spoken' },
    ],
    [
      'performs a line that is still due',
      [['line', 'more']],
      { at: 'line', hasSpoken: false },
      { done: 'say line, enter more, speak more', at: 'more spoken' },
    ],
    [
      'does not repeat a line that was said',
      [['line', 'more']],
      { at: 'line' },
      { done: 'enter more, speak more', at: 'more spoken' },
    ],
    [
      'says the line again when the agent begins',
      [],
      { at: 'line', trigger: 'begin' },
      { done: 'say line', at: 'line spoken' },
    ],
    [
      'runs a tool and takes its edge',
      [
        ['ask', 'run'],
        ['run', 'bye', { event: 'tool_result', ok: false }],
        ['run', 'more'],
      ],
      { ok: false },
      { done: 'enter run, run_tool run, enter bye, speak bye, end bye', at: 'bye spoken' },
    ],
    [
      'goes on after a tool',
      [
        ['ask', 'run'],
        ['run', 'bye', { event: 'tool_result', ok: false }],
        ['run', 'more'],
      ],
      {},
      { done: 'enter run, run_tool run, enter more, speak more', at: 'more spoken' },
    ],
    [
      'passes a condition',
      [
        ['ask', 'rule'],
        ['rule', 'bye', { '==': [1, 2] }],
        ['rule', 'more', { '==': [1, 1] }],
      ],
      {},
      { done: 'enter rule, enter more, speak more', at: 'more spoken' },
    ],
    [
      'passes a node without words',
      [
        ['ask', 'empty'],
        ['empty', 'more'],
      ],
      {},
      { done: 'enter empty, enter more, speak more', at: 'more spoken' },
    ],
    [
      'speaks at a node without words that has no other way',
      [['ask', 'empty']],
      {},
      { done: 'enter empty, speak empty', at: 'empty spoken' },
    ],
    [
      'answers at a knowledge node and goes on',
      [
        ['ask', 'know'],
        ['know', 'more', 'Another question.'],
      ],
      {},
      { done: 'enter know, speak know, judge know_more', at: 'know spoken' },
    ],
    [
      'stops in a circle without a word',
      [
        ['ask', 'rule'],
        ['rule', 'rule', { '==': [1, 1] }],
      ],
      {},
      { done: `${'enter rule, '.repeat(26)}too_many_hops rule`, at: 'rule not spoken' },
    ],
    [
      'stops where a tool has ended it',
      [YES],
      { halts: true, style: 'together' },
      { done: 'speak ask or ask_more', at: 'ask spoken' },
    ],
    ['stays without an answer on silence', [YES], { trigger: silence }, { done: '', at: 'ask spoken' }],
    [
      'answers DTMF digits that no edge waits for',
      [YES],
      { trigger: { kind: 'dtmf', digits: '1' } },
      { done: 'speak ask', at: 'ask spoken' },
    ],
    [
      'stays after a failed tool that no edge waits for',
      [],
      { trigger: failed },
      { done: '', at: 'ask spoken' },
    ],
    [
      'takes the edge of the client’s tools',
      [['ask', 'more', { event: 'tool_result', tool: 'c' }]],
      { trigger: { kind: 'client_tools', tools: ['c'] } },
      { done: 'enter more, speak more', at: 'more spoken' },
    ],
    [
      'answers the client’s tools',
      [YES],
      { trigger: { kind: 'client_tools', tools: ['c'] } },
      { done: 'speak ask', at: 'ask spoken' },
    ],
    [
      'follows a global edge, and returns later',
      [GLOBAL],
      { selects: ['*_hours'] },
      { done: 'judge *_hours, enter hours, speak hours', at: 'hours spoken', returnTo: 'ask' },
    ],
    [
      'returns on the customer’s next turn',
      [GLOBAL, YES],
      { at: 'hours', returnTo: 'ask', selects: ['ask_more'] },
      { done: 'enter ask, judge *_hours ask_more, enter more, speak more', at: 'more spoken' },
    ],
    [
      'does not return when the agent begins',
      [GLOBAL],
      { at: 'hours', returnTo: 'ask', trigger: 'begin' },
      { done: 'speak hours', at: 'hours spoken', returnTo: 'ask' },
    ],
    [
      'does not return on silence',
      [GLOBAL],
      { at: 'hours', returnTo: 'ask', trigger: silence },
      { done: '', at: 'hours spoken', returnTo: 'ask' },
    ],
    [
      'stays where the node to return to is gone',
      [],
      { at: 'hours', returnTo: 'gone' },
      { done: 'speak hours', at: 'hours spoken', returnTo: 'gone' },
    ],
    [
      'does not return once an edge of its own is taken',
      [['hours', 'more', { event: 'silence' }]],
      { at: 'hours', returnTo: 'ask', trigger: silence },
      { done: 'enter more, speak more', at: 'more spoken' },
    ],
    [
      'returns from the end of a chain',
      [['hours', 'more', { event: 'tool_result' }]],
      { at: 'hours', returnTo: 'ask', trigger: failed },
      { done: 'enter more, speak more', at: 'more spoken', returnTo: 'ask' },
    ],
  ])('%s', (_what, edges, given, expected) => {
    expect(turn(edges, given)).toEqual(expected);
  });
});
