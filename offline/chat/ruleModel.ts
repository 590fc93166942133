import { extractVariables } from './extract.ts';
import { judgeByRules } from './judge.ts';
import { personaWords } from './persona.ts';
import type { RuleRequest, Situation } from './request.ts';
import { chooseEdge } from './route.ts';
import { nodeText, passageText } from './speak.ts';
import { summarizeByRules } from './summarize.ts';
import { chooseToolCall, questionFor } from './toolCalls.ts';
import { toolResultText } from './toolResult.ts';

/** A word with the space after it; of Chinese and Japanese, one or two characters. */
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}\p{P}*\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*|\s+/gu;

/** The most characters that are read, about two minutes of speech. */
const MAX_READ_CHARACTERS = 2_000;
/** The gateway truncates tool results to 16 KB. */
const MAX_RESULT_CHARACTERS = 20_000;
const MAX_MESSAGES = 200;

export type RuleAnswer =
  /** Prose in pieces of a word each, or one piece of JSON. */
  | { readonly kind: 'text'; readonly tokens: readonly string[] }
  | { readonly kind: 'tool_call'; readonly name: string; readonly arguments: string };

/**
 * Follows a pathway by rules: the same request always has the same answer. It reads the request's situation, and of the
 * messages only the last, except to judge, to summarize and to play a caller.
 *
 * An answer that takes an edge has no text, since the next node's text follows it.
 */
export function answerByRules(given: RuleRequest): RuleAnswer {
  const request = withinLimits(given);
  const { purpose = 'answer', situation, messages } = request;
  if (!situation) return toolAnswer(request) ?? answerWithoutPathway(request);
  switch (purpose) {
    case 'route':
      return json({ edge: chooseEdge(situation) });
    case 'extract': {
      const text = lastUserText(request);
      return json(extractVariables(situation.variableConfigs ?? [], { ...situation, text }));
    }
    case 'judge':
      return json(judgeByRules(situation.criteria ?? [], messages));
    case 'summarise':
      return prose(summarizeByRules(messages));
    case 'persona':
      return situation.persona
        ? prose(personaWords(situation.persona, messages))
        : answerWithoutPathway(request);
    case 'answer_and_route':
      return moveOrAnswer(situation, request);
    case 'answer':
      if (situation.ask) return prose(questionFor(situation.ask));
      return toolAnswer(request) ?? answerAt(situation, request);
  }
}

/** Limits the input, since the rules run synchronously: the newest messages, and the beginning of long ones. */
function withinLimits({ messages, situation, ...request }: RuleRequest): RuleRequest {
  const { lastUserText } = situation ?? {};
  return {
    ...request,
    messages: messages.slice(-MAX_MESSAGES).map((message) => {
      const limit = message.role === 'tool' ? MAX_RESULT_CHARACTERS : MAX_READ_CHARACTERS;
      return { ...message, content: message.content?.slice(0, limit) ?? null };
    }),
    ...(situation && {
      situation: {
        ...situation,
        ...(lastUserText !== undefined && { lastUserText: lastUserText.slice(0, MAX_READ_CHARACTERS) }),
      },
    }),
  };
}

/** An unconditional edge is taken only where no tool is to be called first. */
function moveOrAnswer(situation: Situation, request: RuleRequest): RuleAnswer {
  const { choices = [], moveTool } = situation;
  const edge = chooseEdge(situation);
  const isUnconditional = choices.some(({ id, sentence }) => id === edge && sentence === '');
  const answer = edge === null || isUnconditional ? toolAnswer(request) : undefined;
  if (answer) return answer;
  if (edge === null || moveTool === undefined) return answerAt(situation, request);
  return { kind: 'tool_call', name: moveTool, arguments: JSON.stringify({ edge }) };
}

/** A tool call, a question for an argument that it lacks, or the text of a tool's result. */
function toolAnswer(request: RuleRequest): RuleAnswer | undefined {
  const last = request.messages.findLast(({ role }) => role !== 'system');
  if (last?.role === 'tool') return prose(toolResultText(last.content ?? ''));
  const decision = chooseToolCall(request, lastUserText(request));
  return decision?.kind === 'ask' ? prose(decision.question) : decision;
}

function answerAt({ node, knowledge }: Situation, request: RuleRequest): RuleAnswer {
  const [passage] = knowledge ?? [];
  if (passage !== undefined) return prose(passageText(passage));
  return node ? prose(nodeText(node)) : answerWithoutPathway(request);
}

function answerWithoutPathway(request: RuleRequest): RuleAnswer {
  const text = lastUserText(request);
  const disclaimer = 'This is the rehearsal model, which follows pathways by rules and has none here.';
  return prose(text === '' ? disclaimer : `${disclaimer} You said: “${text}”`);
}

function lastUserText({ situation, messages }: RuleRequest): string {
  return situation?.lastUserText ?? messages.findLast(({ role }) => role === 'user')?.content ?? '';
}

function prose(text: string): RuleAnswer {
  return { kind: 'text', tokens: text.match(TOKEN) ?? [] };
}

function json(value: unknown): RuleAnswer {
  return { kind: 'text', tokens: [JSON.stringify(value)] };
}
