import type { Clock } from '../../base/clock.ts';
import type {
  FunctionCall,
  HistoryEvent,
  HistoryEventType,
  Session,
  SessionMessage,
  SessionState,
} from '../session/session.ts';
import type { TurnHistory } from '../session/sessionStore.ts';
import type { Delivered } from './delivery.ts';

/** Takes down a turn as it happens: what is said, called and set, so that it can be kept whole or in part. */
export interface Journal {
  readonly variables: Readonly<Record<string, unknown>>;
  /** All messages of the session so far; what was said in this turn stands where it was said among its tools. */
  messages(): readonly SessionMessage[];
  summary(): SessionState['summary'];
  event(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void;
  setVariable(name: string, value: unknown, source: string): void;
  add(message: Omit<SessionMessage, 'at'>): void;
  /** Words that go to the customer, in pieces. */
  say(text: string): void;
  said(): string;
  callerCalls(calls: readonly FunctionCall[]): void;
  moveTo(nodeId: string): void;
  /** What is kept of the turn. */
  close(outcome: TurnOutcome): { session: Session; record: TurnHistory };
}

export interface TurnOutcome {
  readonly hasSpoken: boolean;
  readonly interrupted: boolean;
  /** What the customer got, where that is not simply all that was said. */
  readonly delivered?: Delivered | undefined;
}

export function createJournal(session: Session, clock: Clock): Journal {
  const beganMs = clock.monotonicMs();
  const { state } = session;
  const variables: Record<string, unknown> = { ...state.variables };
  const added: SessionMessage[] = [];
  /** How much had been said when each of them was added. */
  const saidBefore: number[] = [];
  const events: HistoryEvent[] = [];
  let nodeId = state.currentNodeId;
  let said = '';
  let latencyMs: number | undefined;
  let calls: readonly FunctionCall[] = [];
  const at = () => new Date(clock.now()).toISOString();

  const answer = (interrupted: boolean, delivered?: Delivered): SessionMessage[] => {
    const content = delivered?.text ?? said;
    if (said === '' && content === '' && calls.length === 0) return [];
    return [
      {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        at: at(),
        ...(nodeId === null ? {} : { nodeId }),
        ...latencyOf(delivered, latencyMs),
        ...(interrupted && said.trim() !== content.trim() ? { generatedText: said } : {}),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
        ...(interrupted ? { interrupted } : {}),
      },
    ];
  };

  return {
    variables,
    messages: () => [...state.messages, ...asItWent(added, saidBefore, answer(false), said)],
    summary: () => state.summary,
    event(type, data) {
      events.push({ type, at: at(), data });
    },
    setVariable(name, value, source) {
      if (JSON.stringify(variables[name]) === JSON.stringify(value)) return;
      variables[name] = value;
      events.push({ type: 'variable_set', at: at(), data: { name, value, source } });
    },
    add(message) {
      added.push({ ...message, at: at() });
      saidBefore.push(said.length);
    },
    say(text) {
      latencyMs ??= Math.round(clock.monotonicMs() - beganMs);
      said += text;
    },
    said: () => said,
    callerCalls(list) {
      calls = list;
    },
    moveTo(id) {
      nodeId = id;
    },
    close({ hasSpoken, interrupted, delivered }) {
      for (const { type, data } of delivered?.events ?? []) events.push({ type, at: at(), data });
      const messages = [...added, ...answer(interrupted || delivered?.interrupted === true, delivered)];
      const wasHeard = delivered === undefined || delivered.text !== '' || said === '';
      const next: SessionState = {
        ...state,
        variables,
        messages: [...state.messages, ...messages],
        currentNodeId: nodeId,
        hasSpoken: hasSpoken && wasHeard,
        pendingToolCalls: calls,
      };
      return {
        session: { ...session, turn: session.turn + 1, lastActivityAt: at(), state: next },
        record: { messages, events },
      };
    },
  };
}

/** What a model called tools after is told it before their results: it goes on from these, and not from its own words. */
function asItWent(
  added: readonly SessionMessage[],
  saidBefore: readonly number[],
  [answer]: readonly SessionMessage[],
  said: string,
): SessionMessage[] {
  if (!answer) return [...added];
  let told = 0;
  const wordsUpTo = (end: number) => {
    const content = said.slice(told, end);
    told = end;
    return content;
  };
  const messages = added.flatMap((message, index): SessionMessage[] => {
    const content = wordsUpTo(saidBefore[index] ?? told);
    if (content === '') return [message];
    if (message.role === 'assistant' && message.content === null) return [{ ...message, content }];
    return [{ role: 'assistant', content, at: message.at }, message];
  });
  const rest = wordsUpTo(said.length);
  if (told > 0 && rest === '' && !answer.tool_calls) return messages;
  return [...messages, { ...answer, content: rest === '' ? null : rest }];
}

/** The channel's own figure where it has one, since it knows when the customer heard the first word. */
function latencyOf(delivered: Delivered | undefined, saidAfterMs: number | undefined) {
  const latencyMs = delivered ? delivered.latencyMs : saidAfterMs;
  const latencyParts = delivered?.latencyParts;
  return {
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(latencyParts === undefined ? {} : { latencyParts }),
  };
}
