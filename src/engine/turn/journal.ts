import { type Amounts, isNone, modelUsages, sumOf } from '../../agents/cost/usage.ts';
import { RESERVED_VARIABLES } from '../../agents/fields.ts';
import type { Clock } from '../../base/values/clock.ts';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import { digestWith } from '../history/clientConversation.ts';
import {
  type FunctionCall,
  type HistoryEvent,
  type HistoryEventType,
  type MessageSpeech,
  type PendingRoute,
  type Session,
  type SessionMessage,
  type SessionState,
  type SpokenTimes,
  withMessages,
} from '../session/session.ts';
import { withFacts } from '../session/sessionFacts.ts';
import type { TurnHistory } from '../session/sessionStore.ts';
import type { OptOut } from '../tools/callbacks.ts';
import { cutResult } from '../tools/toolRunner.ts';
import { AnswerWaits } from './answerWaits.ts';
import type { Delivered } from './delivery.ts';
import { type ExternalMessage, TRANSFER_TOOL, type TurnRequest } from './turn.ts';

/** Limit of the variables of a session, in characters of JSON. A new session may have half of it. */
const MAX_VARIABLE_CHARACTERS = 2_097_152;

export interface TurnOutcome {
  readonly hasSpoken: boolean;
  readonly interrupted: boolean;
  /** What the customer heard, where that may differ from what was said. */
  readonly delivered?: Delivered | undefined;
  /** {@link TurnRequest.digest} */
  readonly digest?: string | undefined;
  /** What the turn's model requests used. */
  readonly amounts: Amounts;
  /** {@link TurnHistory.used} */
  readonly used: Amounts;
}

/** Records a turn while it runs, so that it can be stored whole or in part. */
export class Journal {
  readonly #session: Session;
  readonly #clock: Clock;
  readonly #onEvent: Journal['event'] | undefined;
  readonly #beganMs: number;
  readonly #variables: Record<string, unknown>;
  /** Size of the variables at the start of the turn and of those that it has set; undefined until it sets one. */
  #variableCharacters: number | undefined;
  #withFacts: Readonly<Record<string, unknown>> | undefined;
  readonly #added: { readonly message: SessionMessage; readonly saidBefore: number }[] = [];
  readonly #events: HistoryEvent[] = [];
  #nodeId: string | null;
  #greeting: string | undefined;
  /** The node that spoke last; undefined before the first word. */
  #spokenNodeId: string | null | undefined;
  #route: PendingRoute;
  #latestInstruction: number;
  #said = '';
  #firstWordMs: number | undefined;
  readonly #waits = new AnswerWaits();
  #callerCalls: readonly FunctionCall[] = [];
  readonly #optOuts: OptOut[] = [];

  /** @param onEvent - Called for each event, at once. */
  constructor(session: Session, clock: Clock, onEvent?: Journal['event']) {
    this.#session = session;
    this.#clock = clock;
    this.#onEvent = onEvent;
    this.#beganMs = clock.monotonicMs();
    this.#variables = { ...session.state.variables };
    this.#nodeId = session.state.currentNodeId;
    this.#greeting = session.state.greeting;
    this.#route = session.state.route;
    this.#latestInstruction = session.state.latestInstruction ?? 0;
  }

  /** The session's variables with its facts. */
  get variables(): Readonly<Record<string, unknown>> {
    this.#withFacts ??= withFacts(this.#variables, this.#session);
    return this.#withFacts;
  }

  /** The newest messages of the session, those of this turn in the order in which a model has to read them. */
  messages(): readonly SessionMessage[] {
    return [...this.#session.state.messages, ...this.#turnMessages()];
  }

  summary(): SessionState['summary'] {
    return this.#session.state.summary;
  }

  event(type: HistoryEventType, data: Readonly<Record<string, unknown>>): void {
    this.#events.push({ type, at: this.#now(), data });
    this.#onEvent?.(type, data);
  }

  setVariable(name: string, value: unknown, source: string): void {
    const text: string | undefined = JSON.stringify(value);
    if (JSON.stringify(this.#variables[name]) === text) return;
    if (RESERVED_VARIABLES.includes(name)) {
      const message = `The variable ${name} is set by the service`;
      this.event('error', { code: 'reserved_variable', name, message });
      return;
    }
    this.#variableCharacters ??= JSON.stringify(this.#variables).length;
    this.#variableCharacters += name.length + (text?.length ?? 0);
    if (this.#variableCharacters > MAX_VARIABLE_CHARACTERS) {
      const message = `The variable ${name} is not set: the variables and what this turn has set have more than ${MAX_VARIABLE_CHARACTERS} characters`;
      this.event('error', { code: 'variables_too_large', name, message });
      return;
    }
    this.#variables[name] = value;
    this.#withFacts = undefined;
    this.event('variable_set', { name, value, source });
  }

  add(message: Omit<SessionMessage, 'at'>): void {
    this.#added.push({ message: { ...message, at: this.#now() }, saidBefore: this.#said.length });
  }

  /** Records what the turn answers, in the conversation and in the history. */
  recordInput(request: TurnRequest): void {
    const { input } = request;
    for (const message of request.history ?? []) this.#addBefore(message);
    switch (input.kind) {
      case 'user_message':
        this.#addSpoken(input, spokenTimes(request));
        return;
      case 'dtmf':
        this.event('dtmf', { digits: input.digits });
        this.add({ role: 'user', content: input.digits });
        return;
      case 'silence':
        this.event('silence', { durationMs: input.durationMs });
        return;
      case 'not_understood':
        this.event('not_understood', { why: input.why, count: input.count });
        if (input.message !== undefined)
          this.event('error', { code: 'transcription_failed', message: input.message });
        return;
      case 'voicemail': {
        const evidence = input.evidence === undefined ? {} : { evidence: input.evidence };
        this.event('answering_machine', { kind: 'voicemail', ...evidence });
        return;
      }
      case 'channel_error':
        this.event('error', { code: input.code, message: input.message });
        return;
      case 'tool_results':
        for (const { toolCallId, name, content } of input.results) {
          const named = name === undefined ? {} : { name };
          this.add({ role: 'tool', content, tool_call_id: toolCallId, ...named });
          const result = cutResult(content);
          this.event('tool_result', { name: name ?? null, ok: true, result, by: 'caller' });
        }
        return;
      case 'transfer_failed': {
        const { to, outcome = 'failed', reason } = input;
        this.event('tool_result', { name: TRANSFER_TOOL, ok: false, result: reason, to, outcome });
        // Without it the model assumes that the customer is gone.
        const content = `[The transfer to ${to} failed (${outcome}: ${reason}); the customer is back.]`;
        this.add({ role: 'user', content, internal: true });
        return;
      }
      case 'unanswered_message':
        if (input.text !== '') this.#addSpoken(input, spokenTimes(request));
        return;
      case 'begin':
      case 'failure':
      case 'transfer_update':
      case 'disclosure':
      case 'say':
      case 'given_back':
        return;
    }
  }

  /** The words of the turn's input are known. */
  completeInput(from: string, to: string): void {
    const index = this.#added.findIndex(
      ({ message: { role, content } }) => role === 'user' && content === from,
    );
    const added = this.#added[index];
    if (added) this.#added[index] = { ...added, message: { ...added.message, content: to } };
  }

  #addBefore({ instruction, ...message }: ExternalMessage): void {
    if (instruction !== undefined && instruction <= this.#latestInstruction) return;
    this.#latestInstruction = instruction ?? this.#latestInstruction;
    this.add(message.role === 'system' ? { ...message, internal: true } : message);
  }

  #addSpoken(
    { text, speech }: { readonly text: string; readonly speech?: MessageSpeech },
    spoken: SpokenTimes | undefined,
  ): void {
    this.add({ role: 'user', content: text, speech, spoken });
  }

  /** @see AnswerWaits.begin */
  beginWait(waitedFor: 'model' | 'tool' | undefined): void {
    if (this.#firstWordMs === undefined) this.#waits.begin(waitedFor, this.#clock.monotonicMs());
  }

  /** Adds a piece of the answer. */
  say(text: string): void {
    this.#firstWordMs ??= Math.round(this.#clock.monotonicMs() - this.#beganMs);
    this.#said += text;
    this.#spokenNodeId = this.#nodeId;
  }

  said(): string {
    return this.#said;
  }

  /** The greeting that the session starts with, once. */
  takeGreeting(): string | undefined {
    const greeting = this.#greeting;
    this.#greeting = undefined;
    return greeting;
  }

  /** A number that is still to be listed. */
  keepOptOut(optOut: OptOut): void {
    this.#optOuts.push(optOut);
  }

  callerCalls(calls: readonly FunctionCall[]): void {
    this.#callerCalls = calls;
  }

  /** The current node; null before the pathway's begin. */
  get nodeId(): string | null {
    return this.#nodeId;
  }

  /** @param hasSpoken - The words said last were the node's. */
  moveTo(nodeId: string | null, hasSpoken = false): void {
    this.#nodeId = nodeId;
    if (hasSpoken) this.#spokenNodeId = nodeId;
  }

  get route(): PendingRoute {
    return this.#route;
  }

  setRoute(route: Pick<PendingRoute, 'returnTo' | 'heldEdgeId'>): void {
    this.#route = { ...this.#route, ...route };
  }

  /** Counts a question for required variables. */
  addQuestion(names: readonly string[]): void {
    const asked = { ...this.#route.asked };
    for (const name of names) asked[name] = (asked[name] ?? 0) + 1;
    this.#route = { ...this.#route, asked };
  }

  /** Closes the journal; returns what to store of the turn. */
  close({ hasSpoken, interrupted, delivered, digest, amounts, used }: TurnOutcome): {
    readonly session: Session;
    readonly history: TurnHistory;
  } {
    for (const { type, data } of delivered?.events ?? []) this.event(type, data);
    const usage = modelUsages(amounts);
    const answer = this.#answer(interrupted || delivered?.interrupted === true, delivered).map((message) =>
      usage.length === 0 ? message : { ...message, usage },
    );
    const messages = [...this.#added.map(({ message }) => message), ...answer];
    const wasHeard = delivered === undefined || delivered.text !== '' || this.#said === '';
    const { greeting: _said, ...state } = this.#session.state;
    const [given] = answer;
    const session: Session = {
      ...this.#session,
      turn: this.#session.turn + 1,
      lastActivityAt: this.#now(),
      // The client may not have received all of an answer that broke off.
      ...(digest === undefined
        ? {}
        : { digest: given && !given.interrupted ? digestWith(digest, given) : digest }),
      state: {
        ...withMessages(state, messages),
        variables: this.#variables,
        currentNodeId: this.#nodeId,
        hasSpoken: hasSpoken && wasHeard,
        route: this.#route,
        pendingToolCalls: this.#callerCalls,
        usage: isNone(used) ? state.usage : sumOf(state.usage ?? {}, used),
        latestInstruction: this.#latestInstruction || state.latestInstruction,
        greeting: this.#greeting,
      },
    };
    return { session, history: { messages, events: this.#events, optOut: this.#optOuts[0], used } };
  }

  #answer(interrupted: boolean, delivered?: Delivered): SessionMessage[] {
    const said = this.#said;
    const calls = this.#callerCalls;
    const content = delivered?.text ?? said;
    if (said === '' && content === '' && calls.length === 0) return [];
    const nodeId = this.#spokenNodeId ?? this.#nodeId;
    const whole = delivered?.generatedText ?? said;
    const at = this.#now();
    const fromMs = delivered?.spokenFromMs;
    return [
      {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        at,
        nodeId: nodeId ?? undefined,
        ...this.#latency(delivered),
        speech: delivered?.speech,
        spoken: fromMs === undefined ? undefined : { from: new Date(fromMs).toISOString(), to: at },
        heard: delivered?.heard,
        generatedText: interrupted && whole.trim() !== content.trim() ? whole : undefined,
        tool_calls: calls.length > 0 ? calls : undefined,
        interrupted: interrupted || undefined,
      },
    ];
  }

  /** Puts the words that the model wrote before its tool calls in front of these: it continues after their results. */
  #turnMessages(): SessionMessage[] {
    const [answer] = this.#answer(false);
    if (!answer) return this.#added.map(({ message }) => message);
    let told = 0;
    const wordsUpTo = (end: number) => {
      const content = this.#said.slice(told, end);
      told = end;
      return content;
    };
    const messages = this.#added.flatMap(({ message, saidBefore }): SessionMessage[] => {
      const content = wordsUpTo(saidBefore);
      if (content === '') return [message];
      if (message.role === 'assistant' && message.content === null) return [{ ...message, content }];
      return [{ role: 'assistant', content, at: message.at }, message];
    });
    const rest = wordsUpTo(this.#said.length);
    if (told > 0 && rest === '' && !answer.tool_calls) return messages;
    return [...messages, { ...answer, content: rest === '' ? null : rest }];
  }

  /** The channel's own latency where it has one: it knows when the customer heard the first word. */
  #latency(delivered: Delivered | undefined): Partial<SessionMessage> {
    if (delivered) {
      const { latencyMs, latencyParts, latencyDetails } = delivered;
      return { latencyMs, latencyParts, latencyDetails };
    }
    if (this.#firstWordMs === undefined) return {};
    const waits = omitUndefined(this.#waits.within(this.#beganMs, this.#beganMs + this.#firstWordMs));
    const latencyDetails = Object.keys(waits).length > 0 ? waits : undefined;
    return { latencyMs: this.#firstWordMs, latencyDetails };
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

/** Returns when the customer said the turn's words. */
function spokenTimes({ spokenFromMs, beganAtMs }: TurnRequest): SpokenTimes | undefined {
  if (spokenFromMs === undefined || beganAtMs === undefined) return undefined;
  return { from: new Date(spokenFromMs).toISOString(), to: new Date(beganAtMs).toISOString() };
}
