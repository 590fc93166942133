import { createGraph, type PathwayGraph } from '../../agents/pathway/graph.ts';
import type { PathwayNode } from '../../agents/pathway/schema/nodeSchema.ts';
import { renderTemplate, type TemplateCache } from '../../agents/pathway/templates.ts';
import type { AgentRelease } from '../../agents/release.ts';
import type { Clock } from '../../base/clock.ts';
import { localDate } from '../../base/localDate.ts';
import type { ChatMessage } from '../../providers/ports/chatMessage.ts';
import { talkMessages } from '../history/contextWindow.ts';
import { createUsageMeter, type UsageMeter } from '../prompt/modelCalls.ts';
import { executionMode, type ModelChoice } from '../prompt/models.ts';
import { type Render, stablePrompt } from '../prompt/prompts.ts';
import type { Asking } from '../prompt/questions.ts';
import type { Situation } from '../prompt/rehearsal.ts';
import type { Session } from '../session/session.ts';
import type { KnowledgeRetriever, ToolRunner } from '../tools/toolRunner.ts';
import type { Journal } from './journal.ts';
import type { TurnRequest } from './turn.ts';

export interface TurnDeps {
  readonly models: ModelChoice;
  readonly tools: ToolRunner;
  readonly templates: TemplateCache;
  readonly knowledge?: KnowledgeRetriever;
  readonly clock: Clock;
  readonly onMissingVariable: (session: Session, name: string) => void;
}

/** One turn under way: what all of its parts share. */
export interface TurnContext {
  readonly deps: TurnDeps;
  readonly session: Session;
  readonly release: AgentRelease;
  readonly graph: PathwayGraph;
  readonly request: TurnRequest;
  readonly journal: Journal;
  readonly meter: UsageMeter;
  readonly signal: AbortSignal;
  /** Of the turn's span; undefined where nobody traces. */
  readonly traceparent: string | undefined;
  readonly modelName: string;
  readonly render: Render;
  /** As `YYYY-MM-DD`, where the agent is. */
  readonly today: string;
}

export function createTurnContext(
  deps: TurnDeps,
  session: Session,
  release: AgentRelease,
  request: TurnRequest,
  journal: Journal,
  signal: AbortSignal,
): TurnContext {
  const timeZone = release.agent.timezone ?? 'UTC';
  return {
    deps,
    session,
    release,
    graph: createGraph(release.pathway),
    request,
    journal,
    meter: createUsageMeter(),
    signal,
    traceparent: undefined,
    modelName: deps.models[executionMode(release.agent)],
    today: localDate(timeZone, deps.clock.now()),
    render: (template) =>
      renderTemplate(template, journal.variables, {
        cache: deps.templates,
        timeZone,
        onMissing: (name) => deps.onMissingVariable(session, name),
      }),
  };
}

/** Whether somebody listens to the answer as it is spoken, who would hear silence where there is none. */
export function isListenedTo({ request }: Pick<TurnContext, 'request'>): boolean {
  return request.delivery !== undefined;
}

/** The stable prompt and the talk so far. */
export function talkOf(run: TurnContext): ChatMessage[] {
  const { release, session, journal, render } = run;
  const prefix = stablePrompt({ release, channel: session.channel, memory: session.state.memory, render });
  return [
    { role: 'system', content: prefix },
    ...talkMessages({ messages: journal.messages(), summary: journal.summary() }),
  ];
}

export function situationOf(run: TurnContext, node: PathwayNode | undefined): Situation {
  const { input } = run.request;
  return {
    variables: run.journal.variables,
    today: run.today,
    ...(input.kind === 'words' ? { lastUserText: input.text } : {}),
    ...(node
      ? {
          node: {
            id: node.id,
            title: node.data.title,
            type: node.type,
            prompt: run.render(node.data.prompt),
          },
          ...(node.data.expectedAnswers ? { expectedAnswers: node.data.expectedAnswers } : {}),
        }
      : {}),
  };
}

export function askingOf(run: TurnContext, node: PathwayNode | undefined): Asking {
  return {
    model: run.deps.models.chat,
    modelName: run.modelName,
    meter: run.meter,
    signal: run.signal,
    talk: talkOf(run),
    situation: situationOf(run, node),
  };
}
