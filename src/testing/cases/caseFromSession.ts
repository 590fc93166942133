import type { TestCaseInput, TestTurn, ToolMock } from '../../agents/testSuites/testCase.ts';
import { invalid } from '../../base/errors.ts';
import { isUuid } from '../../base/values/ids.ts';
import type { HistoryDetail } from '../../engine/history/historyStore.ts';
import type { HistoryEvent, SessionMessage } from '../../engine/session/session.ts';
import { BUILT_IN_DEFINITIONS } from '../../engine/tools/builtInTools.ts';
import { parseArguments } from '../../engine/tools/toolRunner.ts';
import type { RunCase } from '../runs/testRunStore.ts';
import { maskPersonalData, type PersonalSources } from './maskPersonalData.ts';

/** A test case has the same limit. */
const MAX_TURNS = 200;
const MAX_MOCKS = 100;
const MAX_TEXT_CHARACTERS = 20_000;
const MAX_NAME_CHARACTERS = 128;
/** A shorter pause on the phone is no hesitation. */
const SHORTEST_PAUSE_MS = 1_500;
const LONGEST_PAUSE_MS = 10_000;
/** The speed of a voice. */
const CHARACTERS_PER_SECOND = 15;
/** The longest time that a caller listens before interrupting. */
const LATEST_INTERRUPTION_MS = 60_000;
/** The most characters of all turns, and of all results, so that the API can store the case; the rest is left out. */
const MAX_CASE_CHARACTERS = 28_000;
const MAX_REPLAYED_CHARACTERS = 200_000;
/** A result that is deeper stays text. */
const MAX_RESULT_DEPTH = 50;
const DIGITS = /^[0-9A-D*#]{1,64}$/;

export interface CaseFromSession {
  readonly name?: string | undefined;
  /** Whether to mask personal data. */
  readonly mask: boolean;
  /** The most characters of all turns, and of all results. */
  readonly maxCharacters?: number;
}

/**
 * Makes a test case of a session: what the person said and pressed, and the results of its tools as mocks. It asserts that
 * the same tools are called and the last node is reached.
 *
 * @throws {CallwayError} 400 where the person did nothing.
 */
export function caseFromSession(
  session: HistoryDetail,
  { name, mask, maxCharacters = MAX_CASE_CHARACTERS }: CaseFromSession,
): TestCaseInput {
  const { sessionId, channel } = session;
  const steps = stepsOf(session);
  if (steps.length === 0)
    throw invalid(
      'nothing_to_play',
      `The person said nothing in session ${sessionId}, so that there is nothing to play`,
    );
  const own = {
    name: `Session ${sessionId}`,
    variables: initialVariables(session),
    turns: within(
      steps.flatMap(({ turns }) => turns),
      maxCharacters,
    ).slice(0, MAX_TURNS),
    toolMocks: within(mocksOf(session.events), maxCharacters).slice(0, MAX_MOCKS),
  };
  const content = mask ? masked(own, session) : own;
  return {
    description: null,
    channel: channel === 'phone' ? 'phone' : 'chat',
    persona: null,
    allowRealTools: false,
    phone: null,
    assertions: assertionsOf(session.events),
    ...content,
    // An id that the client chose may name the person.
    name: (name ?? (isUuid(sessionId) ? own : content).name).slice(0, MAX_NAME_CHARACTERS),
  };
}

type Content = Pick<TestCaseInput, 'name' | 'variables' | 'turns' | 'toolMocks'>;

/** Names of tools stay as they are. */
function masked({ toolMocks, ...content }: Content, session: HistoryDetail): Content {
  const answers = toolMocks.map(({ name: _tool, ...answer }) => answer);
  const sources = personalSources(session, { ...content, toolMocks });
  const safe = maskPersonalData({ content, answers }, sources);
  return { ...safe.content, toolMocks: toolMocks.map(({ name }, at) => ({ name, ...safe.answers[at] })) };
}

function personalSources(
  { variables, events }: HistoryDetail,
  { turns, toolMocks }: Content,
): PersonalSources {
  const given = ownTools(events, 'tool_called').map(({ data }) => parseArguments(String(data.arguments)));
  return {
    values: [variables, ...given, ...toolMocks.map(({ result }) => result)],
    words: (turns ?? []).flatMap((turn) =>
      'say' in turn ? [turn.say] : 'interrupt' in turn ? [turn.interrupt.say] : [],
    ),
    entered: (turns ?? []).flatMap((turn) => ('dtmf' in turn ? [turn.dtmf] : [])),
  };
}

/** The first ones that are not too long together. */
function within<Item>(items: readonly Item[], maxCharacters: number): Item[] {
  let characters = 0;
  return items.filter((item) => {
    characters += JSON.stringify(item).length;
    return characters <= maxCharacters;
  });
}

/** A session to be played again as a chat, with the answers that it had. @throws {CallwayError} as {@link caseFromSession} */
export function replayOf(session: HistoryDetail): RunCase {
  const { turns, variables, toolMocks } = caseFromSession(
    { ...session, channel: 'chat' },
    { mask: false, maxCharacters: MAX_REPLAYED_CHARACTERS },
  );
  const answers: { turn: number; said: string; answer: string }[] = [];
  let turn = 0;
  for (const step of stepsOf({ ...session, channel: 'chat' })) {
    answers.push({ turn: turn + step.turns.length - 1, said: step.said, answer: step.answer });
    turn += step.turns.length;
  }
  return {
    testCaseId: null,
    name: `Replay of ${session.sessionId}`.slice(0, MAX_NAME_CHARACTERS),
    definition: {
      channel: 'chat',
      persona: null,
      variables,
      turns,
      toolMocks,
      allowRealTools: false,
      phone: null,
      assertions: [],
      answers: answers.filter(({ turn: at }) => at < (turns ?? []).length),
    },
  };
}

/** The person's action, and the agent's answer. */
interface Step {
  readonly said: string;
  answer: string;
  readonly turns: TestTurn[];
}

function stepsOf({ channel, messages, events }: HistoryDetail): Step[] {
  const pressed = events.filter(({ type }) => type === 'dtmf').map(({ data }) => String(data.digits));
  const spoken = messages.filter(({ role, content, internal }) => role !== 'tool' && !internal && content);
  const steps: Step[] = [];
  for (const [at, message] of spoken.entries()) {
    const { role, content } = message;
    const text = content ?? '';
    const before = spoken[at - 1];
    const last = steps.at(-1);
    if (role === 'assistant' && last) last.answer = last.answer === '' ? text : `${last.answer}\n${text}`;
    if (role !== 'user') continue;
    const isPressed = DIGITS.test(text) && pressed[0] === text;
    if (isPressed) pressed.shift();
    const pause = channel === 'phone' ? pauseBetween(before, message) : [];
    steps.push({ said: text, answer: '', turns: [...pause, turnOf(text, isPressed, before)] });
  }
  return steps;
}

function turnOf(content: string, isPressed: boolean, before: SessionMessage | undefined): TestTurn {
  if (isPressed) return { dtmf: content };
  const say = content.slice(0, MAX_TEXT_CHARACTERS);
  if (before?.role !== 'assistant' || !before.interrupted) return { say };
  const heardMs = Math.round(((before.content?.length ?? 0) / CHARACTERS_PER_SECOND) * 1000);
  return { interrupt: { afterMs: Math.min(heardMs, LATEST_INTERRUPTION_MS), say } };
}

function pauseBetween(before: SessionMessage | undefined, message: SessionMessage): TestTurn[] {
  if (before?.role !== 'assistant') return [];
  const spokenMs = ((before.content?.length ?? 0) / CHARACTERS_PER_SECOND) * 1000;
  const waitMs = Math.round(Date.parse(message.at) - Date.parse(before.at) - spokenMs);
  return waitMs < SHORTEST_PAUSE_MS ? [] : [{ waitMs: Math.min(waitMs, LONGEST_PAUSE_MS) }];
}

/** Returns the variables that the session began with: those that were found out in it are left out. */
function initialVariables({ variables, events }: HistoryDetail): Record<string, unknown> | null {
  const set = new Set(events.filter(({ type }) => type === 'variable_set').map(({ data }) => data.name));
  const initial = Object.entries(asObject(variables)).filter(([name]) => !set.has(name));
  return initial.length === 0 ? null : Object.fromEntries(initial);
}

function mocksOf(events: readonly HistoryEvent[]): ToolMock[] {
  const called = ownTools(events, 'tool_called');
  const mocks: ToolMock[] = [];
  for (const { data } of ownTools(events, 'tool_result')) {
    const at = called.findIndex((call) => call.data.name === data.name);
    const [call] = at < 0 ? [] : called.splice(at, 1);
    const name = String(data.name);
    const result = String(data.result ?? '').slice(0, MAX_TEXT_CHARACTERS);
    const when = call && sameArguments(String(call.data.arguments ?? '{}'));
    const answer =
      data.ok === false ? { error: result.slice(0, 2000) || 'It failed' } : { result: fromJson(result) };
    mocks.push({ name, when, ...answer });
  }
  // The agent of another version may call it with other arguments: the last answer serves for these.
  const last = new Map(mocks.map((mock) => [mock.name, mock]));
  const others = [...last.values()].flatMap(({ when, ...mock }) => (when ? [mock] : []));
  return [...mocks, ...others];
}

function assertionsOf(events: readonly HistoryEvent[]): TestCaseInput['assertions'] {
  const tools = new Set(ownTools(events, 'tool_called').map(({ data }) => String(data.name)));
  const nodeId = events.findLast(({ type }) => type === 'node_entered')?.data.nodeId;
  return [
    ...[...tools].slice(0, 50).map((name) => ({ type: 'tool_called' as const, name })),
    ...(typeof nodeId === 'string' ? [{ type: 'node_visited' as const, nodeId }] : []),
  ];
}

/** Returns the events of the project's own tools: built-in ones work in a test too, and a client's are its own. */
function ownTools(events: readonly HistoryEvent[], type: 'tool_called' | 'tool_result'): HistoryEvent[] {
  return events.filter(
    (event) =>
      event.type === type &&
      event.data.by !== 'caller' &&
      !Object.hasOwn(BUILT_IN_DEFINITIONS, String(event.data.name)),
  );
}

function sameArguments(text: string): Record<string, unknown> | undefined {
  const scalars = Object.entries(parseArguments(text) ?? {}).filter(
    ([, value]) => typeof value !== 'object' || value === null,
  );
  if (scalars.length === 0) return undefined;
  return { and: scalars.map(([name, value]) => ({ '===': [{ var: name }, value] })) };
}

function fromJson(text: string): NonNullable<ToolMock['result']> {
  try {
    return depthOf(text) > MAX_RESULT_DEPTH ? text : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns how deep brackets are nested; it counts those in strings too. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of json.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
