import type { AgentConfig, ExecutionMode } from '../../agents/agentConfig.ts';
import { type ChatConfig, chatOf } from '../../agents/chat/chatConfig.ts';
import { type Amounts, chatAmounts, sumOf, UsageTally } from '../../agents/cost/usage.ts';
import { createGraph, type PathwayGraph } from '../../agents/pathway/graph.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import {
  type RenderTemplateOptions,
  renderTemplate,
  type TemplateCache,
} from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/releases/release.ts';
import { engineOf } from '../../agents/speech/engineConfig.ts';
import { languageAt } from '../../agents/speech/language.ts';
import type { ComputeShare, ComputeShares } from '../../base/async/computeShares.ts';
import type { Clock } from '../../base/values/clock.ts';
import { localDate, localMoment } from '../../base/values/localDate.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { ChatModel, ChatRequest, EndEvent } from '../../models/ports/chatModel.ts';
import { contextMessages } from '../history/contextWindow.ts';
import type { PromptPrefixes, Render } from '../prompt/prompts.ts';
import type { TemplateProblem, TemplateReports } from '../prompt/templateReports.ts';
import type { Session } from '../session/session.ts';
import type { AddOptOut, ScheduleCallback } from '../tools/callbacks.ts';
import type { KnowledgeRetriever } from '../tools/knowledge.ts';
import type { ToolRunner } from '../tools/toolRunner.ts';
import type { Journal } from './journal.ts';
import type { TurnOutput, TurnRequest, TurnSink, TurnUsage } from './turn.ts';
import type { TurnEvents } from './turnEvents.ts';
import type { ModelSpan, TurnTrace } from './turnTrace.ts';

/** The chat model, and the model name that each execution mode uses. */
export interface ModelChoice extends Readonly<Record<ExecutionMode, string>> {
  readonly chat: ChatModel;
  /**
   * Chooses what agents and nodes name, by the credentials of their project. Undefined when one model serves all.
   *
   * @param mode - The mode whose model answers where the configuration names none.
   */
  readonly choose?: (
    projectId: string,
    config: ChatConfig,
    mode: ExecutionMode,
    onFallback: (fallback: ChatFallback) => void,
  ) => ChosenChat;
  /** The same as `chat`, with its tokens counted for a project. Undefined when nothing is counted. */
  readonly ofInstallation?: (projectId: string) => ChatModel;
}

export interface ChosenChat {
  readonly chat: ChatModel;
  readonly modelName: string;
}

/** A model was left for the next one before its first word. */
export interface ChatFallback {
  /** The abandoned model, as `endpoint/model`. */
  readonly from: string;
  readonly to: string;
  readonly reason: string;
  /** The model that is asked now. */
  readonly model: string;
}

/** The model of an agent, or of its node. */
export function chosenChat(
  models: ModelChoice,
  projectId: string,
  agent: AgentConfig,
  node: PathwayNode | undefined,
  onFallback: (fallback: ChatFallback) => void = () => undefined,
): ChosenChat {
  const mode = executionMode(agent);
  const config = chatOf(agent.chat, node?.data.chat);
  return (
    models.choose?.(projectId, config, mode, onFallback) ?? { chat: models.chat, modelName: models[mode] }
  );
}

export function executionMode(agent: AgentConfig): ExecutionMode {
  return agent.executionMode ?? 'balance';
}

/** What every model request of a turn or a post-session task shares. */
export interface ModelAccess {
  readonly chat: ChatModel;
  readonly modelName: string;
  readonly usage: UsageMeter;
  readonly signal: AbortSignal;
  /** Starts a model span; undefined outside of a traced turn. */
  readonly startSpan?: ((request: ChatRequest, provider: string) => ModelSpan) | undefined;
}

/** Adds up the token usage of several requests. */
export class UsageMeter {
  /** The model that answered last, where it is not the chosen one. */
  model: string | undefined;
  /** What the session has used and not stored yet, this usage included. */
  readonly tally: UsageTally;
  #total: TurnUsage = { modelCalls: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  #amounts: Amounts = {};

  constructor(tally = new UsageTally()) {
    this.tally = tally;
  }

  add({ model, usage, isCounted }: EndEvent): void {
    const { promptTokens = 0, completionTokens = 0 } = usage ?? {};
    const amounts = chatAmounts(model, usage ?? {});
    this.#amounts = sumOf(this.#amounts, amounts);
    if (!isCounted) this.tally.add(amounts);
    const total = this.#total;
    this.#total = {
      modelCalls: total.modelCalls + 1,
      promptTokens: total.promptTokens + promptTokens,
      completionTokens: total.completionTokens + completionTokens,
      totalTokens: total.totalTokens + promptTokens + completionTokens,
    };
  }

  get total(): TurnUsage {
    return this.#total;
  }

  /** The tokens by model. */
  get amounts(): Amounts {
    return this.#amounts;
  }
}

export interface TurnDeps {
  readonly models: ModelChoice;
  readonly tools: ToolRunner;
  readonly templates: TemplateCache;
  readonly knowledge?: KnowledgeRetriever;
  /** Schedules a callback; undefined where no calls can be placed. */
  readonly scheduleCallback?: ScheduleCallback;
  /** Lists numbers that are not called; undefined where no calls can be placed. */
  readonly addOptOut?: AddOptOut | undefined;
  readonly clock: Clock;
  readonly shares: ComputeShares;
  readonly prefixes: PromptPrefixes;
  readonly templateReports: TemplateReports;
  /** Reports a failed tool to the operator. */
  readonly onToolFailed: (session: Session, failure: ToolFailure) => void;
}

/** A tool's failure, without what it answered. */
export interface ToolFailure {
  readonly tool: string;
  readonly status?: number | undefined;
  readonly durationMs?: number | undefined;
}

export interface TurnStart {
  readonly session: Session;
  readonly release: AgentRelease;
  readonly request: TurnRequest;
  readonly journal: Journal;
  readonly events: TurnEvents;
  readonly trace: TurnTrace;
  readonly sink: TurnSink;
  readonly signal: AbortSignal;
}

/** One running turn: what all of its parts share. */
export interface TurnContext extends TurnStart, ModelAccess {
  readonly deps: TurnDeps;
  readonly graph: PathwayGraph;
  /** Whether the turn was answered outside of the session, so that only the pathway moves. @see walkHistory */
  readonly isWalked?: boolean;
  /** Fills the variables into a template, as they are at the moment of the call. Never throws. */
  readonly render: Render;
  /** How {@link render} renders. */
  readonly renderOptions: RenderTemplateOptions;
  /** Counts the time of templates and expressions. */
  readonly share: ComputeShare;
  /** `YYYY-MM-DD` in the agent's time zone. */
  readonly today: string;
  /** Weekday, date, time and zone at the turn's start, as the model is told them. */
  readonly now: string;
  /** Resolves once the customer's words were searched for variables; undefined before the pathway runs. */
  readonly extraction?: Promise<void>;
}

export function createTurnContext(deps: TurnDeps, start: TurnStart): TurnContext {
  const { session, release, request, journal, trace } = start;
  const { currentNodeId: nodeId, startNodeId } = session.state;
  const graph = createGraph(release.pathway, startNodeId);
  const timeZone = release.agent.timezone ?? 'UTC';
  const atMs = deps.clock.now();
  const report = (problem: TemplateProblem) => deps.templateReports.report(session, problem);
  const share = deps.shares.of(session.projectId);
  const optional: RenderTemplateOptions = {
    cache: deps.templates,
    share,
    timeZone,
    onFailure(reason) {
      if (report({ kind: 'failed', reason }))
        journal.event('error', { code: 'template_error', message: reason });
    },
  };
  const renderOptions = {
    ...optional,
    onMissing: (variable: string) => void report({ kind: 'missing_variable', variable }),
  };
  return {
    ...start,
    deps,
    graph,
    ...chosenChat(deps.models, session.projectId, release.agent, graph.node(nodeId ?? '')),
    usage: new UsageMeter(request.tally),
    startSpan: (request, provider) => trace.startModelSpan(provider, request),
    today: localDate(timeZone, atMs),
    now: localMoment(timeZone, atMs),
    renderOptions,
    share,
    render: (template, { isOptional = false } = {}) =>
      renderTemplate(template, journal.variables, isOptional ? optional : renderOptions),
  };
}

/**
 * Sends a piece of the answer.
 *
 * @throws The signal's reason once the turn is aborted.
 */
export async function emit({ signal, sink }: TurnContext, output: TurnOutput): Promise<void> {
  signal.throwIfAborted();
  await sink(output);
}

/** Says words that no model streams; after other words they start on a new line. */
export async function say(turn: TurnContext, type: 'text' | 'filler', words: string): Promise<void> {
  turn.signal.throwIfAborted();
  const text = lineBreakAfter(turn.journal.said()) + words;
  turn.journal.say(text);
  await turn.sink({ type, text });
}

/** Returns what separates words from those said before in the same turn. */
export function lineBreakAfter(said: string): string {
  return said !== '' && !/\s$/.test(said) ? '\n' : '';
}

/** Whether the answer is spoken, so that an empty one leaves the customer in silence. */
export function isSpoken({ request }: TurnContext): boolean {
  return request.delivery !== undefined;
}

/** Returns the turn's node on the pathway; undefined before the turn begins. */
export function currentNode({ graph, journal }: TurnContext) {
  return journal.nodeId === null ? undefined : graph.node(journal.nodeId);
}

/** The model at a node, where the turn may not have been when it began. */
export function modelAt(turn: TurnContext, node: PathwayNode | undefined): ChosenChat {
  const { deps, session, release, journal, usage } = turn;
  return chosenChat(deps.models, session.projectId, release.agent, node, ({ model, ...fallback }) => {
    usage.model = model;
    journal.event('provider_fallback', { kind: 'chat', ...fallback });
  });
}

/** The model that speaks itself at a node; undefined where the ordinary chain of models does. */
export function speakingModelAt({ request, release }: TurnContext, node: PathwayNode | undefined) {
  const engine = engineOf(release.agent.engine, node?.data.engine);
  return engine && request.delivery?.speakingModel?.(engine);
}

/** The language of the conversation; undefined where nothing says. */
export function languageOf(turn: TurnContext): string | undefined {
  return languageAt(turn.release.agent.speech, currentNode(turn)?.data.speech, turn.journal.variables);
}

/**
 * Renders a text that the law wants the person to understand: `language` in its template is the one that is spoken, also before
 * anyone has switched to it.
 */
export function renderInLanguage(turn: TurnContext, template: string, node = currentNode(turn)): string {
  const { journal, release, renderOptions } = turn;
  const language = languageAt(release.agent.speech, node?.data.speech, journal.variables);
  return renderTemplate(template, { ...journal.variables, language }, renderOptions);
}

/** The stable prompt and the conversation so far. */
export function promptMessages(turn: TurnContext): ChatMessage[] {
  const { journal, deps } = turn;
  return [
    { role: 'system', content: deps.prefixes.of(turn) },
    ...contextMessages({ messages: journal.messages(), summary: journal.summary() }),
  ];
}

/** Notes what the answer's first words wait for, for the latency that the history and the channel tell. */
export function beginWait({ journal, request }: TurnContext, waitedFor: 'model' | 'tool' | undefined): void {
  journal.beginWait(waitedFor);
  request.delivery?.onWait?.(waitedFor);
}
