import type { AgentConfig } from '../../agents/agentConfig.ts';
import type { AnalysisConfig } from '../../agents/analysisConfig.ts';
import type { SchemaChecker } from '../../agents/schemaChecker.ts';
import { linkAbort } from '../../base/async/linkedAbort.ts';
import { sleep } from '../../base/async/sleep.ts';
import { CallwayError } from '../../base/errors.ts';
import type { Clock } from '../../base/values/clock.ts';
import { localMoment } from '../../base/values/localDate.ts';
import { wholeConversation } from '../../engine/history/contextWindow.ts';
import type { Analysis, SessionResults } from '../../engine/history/sessionResults.ts';
import { type AfterwardsDeps, reportAfterwards } from '../../engine/memory/usageAfterwards.ts';
import { todayIs } from '../../engine/prompt/prompts.ts';
import { askForText, parseJson } from '../../engine/prompt/questions.ts';
import type { SessionMessage } from '../../engine/session/session.ts';
import { analysisChat } from '../../engine/session/sessionEnding.ts';
import {
  type ChosenChat,
  chosenChat,
  type ModelAccess,
  type ModelChoice,
  UsageMeter,
} from '../../engine/turn/turnContext.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { ChatRequest, FinishReason } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import { evaluationOf, NO_OBJECT, questionOf, type ReadAnswer, type Wanted } from './question.ts';

/** How long the models have for one session, whatever they do. */
const JUDGE_TIMEOUT_MS = 60_000;
/** What a model reads of one session: the conversation, and what it is asked. */
const MAX_INPUT_BYTES = 60_000;
/** The conversation gets at least this much, however long the question is. */
const MIN_CONVERSATION_BYTES = 20_000;
/** An answer that does not fit is asked for again once. */
const MAX_ASKED = 2;
/** To one model, with those that failed. */
const MAX_REQUESTS = 3;
/** The delay after a failure that may pass, unless the endpoint asks for a longer one. */
const RETRY_DELAY_MS = 1000;
/** What a person is shown of an answer that is no JSON, such as a refusal. */
const MAX_SHOWN_CHARACTERS = 200;
/** What the model is shown of an answer that does not fit. */
const MAX_QUOTED_CHARACTERS = 4_000;

export interface JudgeDeps extends AfterwardsDeps {
  readonly models: ModelChoice;
  readonly schemas: SchemaChecker;
  readonly clock: Clock;
}

/** An ended session, and the agent that wants to know of it. */
export interface JudgedSession {
  readonly projectId: string;
  readonly instanceId: string;
  readonly agent: AgentConfig;
  readonly startedAt: string;
  readonly messages: readonly SessionMessage[];
}

interface Answered extends ReadAnswer {
  readonly model: string;
}

/**
 * Asks for what the agent wants to know of an ended session: its evaluation by criteria, and its analysis. Both are one
 * request where both have the same model.
 *
 * @returns Without an evaluation where the agent has no criteria, said nothing, or no answer could be read.
 * @throws The signal's reason; a model's failure becomes the reason of the analysis.
 */
export async function judgeSession(
  deps: JudgeDeps,
  session: JudgedSession,
  signal: AbortSignal,
): Promise<SessionResults> {
  const { projectId, agent, messages } = session;
  const { analysis, postEvaluationConfig, chat } = agent;
  const criteria = postEvaluationConfig?.criteria ?? [];
  const analyzing = analysisChat(deps.models, projectId, agent);
  const evaluating = chosenChat(deps.models, projectId, agent, undefined);
  if (!messages.some(({ role }) => role === 'assistant')) {
    const skipped = {
      status: 'skipped',
      reason: 'The agent said nothing.',
      model: analyzing.modelName,
    } as const;
    return { analysis: analysis ? skipped : undefined };
  }
  const { endpoint = chat?.endpoint } = analysis ?? {};
  const isOneModel = endpoint === chat?.endpoint && analyzing.modelName === evaluating.modelName;
  const both = ask(deps, session, analyzing, { criteria: isOneModel ? criteria : [], analysis }, signal);
  const verdicts = isOneModel ? both : ask(deps, session, evaluating, { criteria, analysis: null }, signal);
  const [analyzed, evaluated] = await Promise.all([both, verdicts]);
  return {
    evaluation: evaluated.results || evaluated.scores ? evaluationOf(criteria, evaluated) : undefined,
    analysis: analysis ? analysisOf(analysis, analyzed) : undefined,
  };
}

function analysisOf({ dispositions = [] }: AnalysisConfig, answer: Answered): Analysis {
  const { fault, summary, disposition, data, model } = answer;
  if (fault !== undefined) return { status: 'failed', reason: fault, model };
  const { success } = dispositions.find(({ value }) => value === disposition) ?? {};
  return { status: 'done', summary, disposition: disposition ?? undefined, success, data, model };
}

/** Asks a model, within the time for a session. */
async function ask(
  deps: JudgeDeps,
  session: JudgedSession,
  { chat, modelName }: ChosenChat,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Answered> {
  const { signal: limited, abort, unlink } = linkAbort(signal);
  const message = `The model took longer than ${JUDGE_TIMEOUT_MS / 1000} s`;
  const late = new CallwayError('timeout', 'model_timeout', message);
  const timer = deps.clock.setTimer(() => abort(late), JUDGE_TIMEOUT_MS);
  const usage = new UsageMeter();
  try {
    return await askUntilItFits(deps, session, wanted, { chat, modelName, usage, signal: limited });
  } catch (error) {
    signal.throwIfAborted();
    deps.onError(error, 'session not judged');
    return { model: modelName, fault: error instanceof Error ? error.message : String(error) };
  } finally {
    timer.cancel();
    unlink();
    await reportAfterwards(deps, session, usage);
  }
}

async function askUntilItFits(
  { schemas, clock }: JudgeDeps,
  { projectId, agent, startedAt, messages }: JudgedSession,
  wanted: Wanted,
  access: ModelAccess,
): Promise<Answered> {
  const question = questionOf(wanted);
  if (!question) return { model: access.modelName };
  const today = todayIs(localMoment(agent.timezone ?? 'UTC', Date.parse(startedAt)));
  const prompt = `${question.prompt}\n\n${today}`;
  const left = MAX_INPUT_BYTES - Buffer.byteLength(JSON.stringify([prompt, question.format]));
  const told: ChatMessage[] = [
    ...wholeConversation(messages, Math.max(left, MIN_CONVERSATION_BYTES)),
    { role: 'system', content: prompt },
  ];
  let requestsLeft = MAX_REQUESTS;
  for (let asked = 1; ; asked += 1) {
    const request = { ...question.format, model: access.modelName, messages: [...told], temperature: 0 };
    const { written, sent } = await askPatiently(access, request, requestsLeft, clock);
    requestsLeft -= sent;
    const { text, model } = written;
    const answer = question.read(parseJson(text));
    const { data } = wanted.analysis ?? {};
    const misfit = data && answer.data && (await schemas.checkArguments(projectId, data, answer.data));
    const fault = answer.fault ?? (misfit === undefined ? undefined : `data: ${misfit}`);
    if (fault === undefined) return { ...answer, model };
    if (asked === MAX_ASKED || requestsLeft === 0)
      return { ...answer, fault: faultShown(fault, written), model };
    told.push(
      { role: 'assistant', content: text.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed() || '{}' },
      { role: 'system', content: `That answer does not fit: ${fault}. Answer again, with the whole JSON.` },
    );
  }
}

/** Asks again after a failure that may pass, with the delay that the endpoint asks for: no person waits. */
async function askPatiently(access: ModelAccess, request: ChatRequest, maxRequests: number, clock: Clock) {
  for (let sent = 1; ; sent += 1) {
    try {
      return { written: await askForText(access, { ...request, purpose: 'judge', attempts: 1 }), sent };
    } catch (error) {
      const delayMs = sent < maxRequests ? retryDelayMs(error) : undefined;
      if (delayMs === undefined) throw error;
      await sleep(clock, delayMs, access.signal);
    }
  }
}

/** @returns Undefined after a failure that does not pass in time. */
function retryDelayMs(error: unknown): number | undefined {
  if (!(error instanceof ModelError && error.retryable)) return undefined;
  const delayMs = Math.max(RETRY_DELAY_MS, (error.retryAfterSeconds ?? 0) * 1000);
  return delayMs < JUDGE_TIMEOUT_MS ? delayMs : undefined;
}

/** What went wrong, as a person reads it who does not see the answer. */
function faultShown(
  fault: string,
  { text, finishReason }: { readonly text: string; readonly finishReason: FinishReason },
): string {
  if (finishReason === 'length') return 'the answer was cut off at the model’s limit of tokens';
  if (fault !== NO_OBJECT) return fault;
  const written = text.trim().slice(0, MAX_SHOWN_CHARACTERS).toWellFormed();
  return written === '' ? 'the model answered nothing' : `${fault}: ${written}`;
}
