import type { Caption, TalkProblem } from '../../../audio/talk.ts';
import type { SessionEvent } from './sessionEvents.ts';

export interface Line {
  readonly id: number;
  readonly speaker: Caption['speaker'];
  readonly text: string;
  readonly isFinal: boolean;
  /** Written, rather than spoken. */
  readonly isChat: boolean;
  readonly isInterrupted: boolean;
}

export interface VisitedNode {
  readonly id: string;
  readonly title: string;
}

export interface ToolCall {
  readonly id: number;
  readonly name: string;
  readonly arguments: string;
  /** Absent while it runs. */
  readonly outcome?: { readonly ok: boolean; readonly result: string; readonly durationMs?: number };
}

export interface TurnLatency {
  readonly turn: number;
  readonly latencyMs: number;
  readonly parts: Readonly<Record<string, number>>;
  readonly isInterrupted: boolean;
}

/** What is known of the conversation on the page. */
export interface TalkState {
  readonly sessionId: string;
  readonly call: 'none' | 'connecting' | 'connected';
  readonly isOver: boolean;
  readonly lines: readonly Line[];
  /** The last one is current. */
  readonly path: readonly VisitedNode[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly tools: readonly ToolCall[];
  readonly latencies: readonly TurnLatency[];
  readonly digits: string;
  readonly transferTo: string | undefined;
  readonly problem: TalkProblem | Error | undefined;
}

export type TalkAction =
  | { readonly type: 'reset'; readonly sessionId: string }
  | { readonly type: 'call'; readonly call: TalkState['call'] }
  | { readonly type: 'caption'; readonly caption: Caption }
  | { readonly type: 'written'; readonly speaker: Caption['speaker']; readonly text: string }
  | { readonly type: 'written_more'; readonly text: string }
  | { readonly type: 'answered' }
  | { readonly type: 'digit'; readonly digit: string }
  | { readonly type: 'transfer'; readonly to: string }
  | { readonly type: 'event'; readonly event: SessionEvent }
  | { readonly type: 'problem'; readonly problem: TalkState['problem'] };

export const newTalk = (sessionId: string): TalkState => ({
  sessionId,
  call: 'none',
  isOver: false,
  lines: [],
  path: [],
  variables: {},
  tools: [],
  latencies: [],
  digits: '',
  transferTo: undefined,
  problem: undefined,
});

export function talkReducer(state: TalkState, action: TalkAction): TalkState {
  switch (action.type) {
    case 'reset':
      return newTalk(action.sessionId);
    case 'call':
      return {
        ...state,
        call: action.call,
        lines: action.call === 'none' ? finished(state.lines) : state.lines,
      };
    case 'caption':
      return { ...state, lines: withCaption(state.lines, action.caption) };
    case 'written':
      return { ...state, problem: undefined, lines: [...state.lines, chatLine(state, action)] };
    case 'written_more':
      return {
        ...state,
        lines: replaceLast(state.lines, (line) => ({ ...line, text: line.text + action.text })),
      };
    case 'answered':
      return { ...state, lines: finished(state.lines).filter(({ text }) => text !== '') };
    case 'digit':
      return { ...state, digits: state.digits + action.digit };
    case 'transfer':
      return { ...state, transferTo: action.to };
    case 'event':
      return withEvent(state, action.event);
    case 'problem':
      return { ...state, problem: action.problem };
  }
}

function withEvent(state: TalkState, event: SessionEvent): TalkState {
  switch (event.type) {
    case 'node.entered': {
      const { nodeId: id, title } = event.data;
      return { ...state, path: [...state.path, { id, title }] };
    }
    case 'variable.set':
      return { ...state, variables: { ...state.variables, [event.data.name]: event.data.value } };
    case 'tool.called': {
      const { name, arguments: given } = event.data;
      return { ...state, tools: [...state.tools, { id: state.tools.length, name, arguments: given }] };
    }
    case 'tool.finished': {
      const { name, ...outcome } = event.data;
      const running = state.tools.find((tool) => tool.name === name && !tool.outcome);
      return { ...state, tools: state.tools.map((tool) => (tool === running ? { ...tool, outcome } : tool)) };
    }
    case 'turn.interrupted':
      return { ...state, lines: interrupted(state.lines) };
    case 'turn.agent':
      return { ...state, latencies: withLatency(state.latencies, event.data) };
    case 'session.ended':
      return { ...state, isOver: true };
  }
}

function withLatency(
  known: readonly TurnLatency[],
  {
    turn,
    latencyMs,
    latencyParts = {},
    latencyDetails: { toolMs = 0 } = {},
    interrupted: isInterrupted,
  }: Extract<SessionEvent, { type: 'turn.agent' }>['data'],
): readonly TurnLatency[] {
  if (latencyMs === undefined) return known;
  const { answerMs } = latencyParts;
  const withTools =
    typeof answerMs === 'number' ? { ...latencyParts, answerMs: answerMs - toolMs, toolMs } : latencyParts;
  const parts = Object.fromEntries(
    Object.entries(withTools).filter(
      (part): part is [string, number] => typeof part[1] === 'number' && part[1] > 0,
    ),
  );
  return [...known.filter((one) => one.turn !== turn), { turn, latencyMs, parts, isInterrupted }];
}

/** What a side is saying replaces what it was saying; nothing is shown of what turned out to be no words. */
function withCaption(lines: readonly Line[], { speaker, text, isFinal }: Caption): readonly Line[] {
  const open = lines.findLast((line) => line.speaker === speaker && !line.isFinal && !line.isChat);
  if (text === '') return lines.filter((line) => line !== open);
  const said = { speaker, text, isFinal, isChat: false, isInterrupted: open?.isInterrupted ?? false };
  if (!open) return [...lines, { id: nextId(lines), ...said }];
  return lines.map((line) => (line === open ? { id: open.id, ...said } : line));
}

function chatLine({ lines }: TalkState, { speaker, text }: Extract<TalkAction, { type: 'written' }>): Line {
  return {
    id: nextId(lines),
    speaker,
    text,
    isFinal: speaker === 'caller',
    isChat: true,
    isInterrupted: false,
  };
}

function interrupted(lines: readonly Line[]): readonly Line[] {
  const last = lines.findLast((line) => line.speaker === 'agent' && !line.isChat);
  return lines.map((line) => (line === last ? { ...line, isInterrupted: true } : line));
}

function replaceLast(lines: readonly Line[], change: (line: Line) => Line): readonly Line[] {
  const last = lines.findLast((line) => line.isChat && !line.isFinal);
  return lines.map((line) => (line === last ? change(line) : line));
}

const finished = (lines: readonly Line[]) => lines.map((line) => ({ ...line, isFinal: true }));
const nextId = (lines: readonly Line[]) => (lines.at(-1)?.id ?? 0) + 1;
