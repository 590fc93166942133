import { extractVariables } from './extract.ts';
import { judgeByRules } from './judge.ts';
import { personaWords } from './persona.ts';
import { MAX_READ_CHARACTERS, MOVE_TOOL, situationOf } from './readRequest.ts';
import type { RuleRequest, Situation } from './request.ts';
import { chooseEdge } from './route.ts';
import { nodeText, passageText } from './speak.ts';
import { summarizeByRules } from './summarize.ts';
import { chooseToolCall, questionFor } from './toolCalls.ts';
import { toolResultText } from './toolResult.ts';

/** A word with the space after it; of Chinese and Japanese, one or two characters. */
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}\p{P}*\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*|\s+/gu;

/** The gateway truncates tool results to 16 KB. */
const MAX_RESULT_CHARACTERS = 20_000;
const MAX_MESSAGES = 200;

export type RuleAnswer =
  /** Prose in pieces of a word each, or one piece of JSON. */
  | { readonly kind: 'text'; readonly tokens: readonly string[] }
  | { readonly kind: 'tool_call'; readonly name: string; readonly arguments: string };

/**
 * Follows a pathway by rules: the same request always has the same answer. It reads of the prompts what the gateway tells
 * every model, and of the conversation the last words of both sides, except to judge, to summarize and to play a caller.
 *
 * An answer that takes an edge has no text, since the next node's text follows it.
 */
export function answerByRules(given: RuleRequest): RuleAnswer {
  const situation = situationOf(given);
  const request = withinLimits(given);
  const { purpose = 'answer', messages } = request;
  switch (purpose) {
    case 'route':
      return json({ edge: chooseEdge(situation) });
    case 'extract': {
      const { variableConfigs = [], lastUserText: text = '', asked = '', today } = situation;
      return json(extractVariables(variableConfigs, { text, asked, today }));
    }
    case 'judge':
      return json(judgeByRules(situation, messages));
    case 'summarise':
      return prose(summarizeByRules(messages));
    case 'persona':
      return situation.persona
        ? prose(personaWords(situation.persona, messages))
        : answerWithoutPathway(situation);
    case 'answer_and_route': {
      const edge = chooseEdge(situation);
      if (edge === null) return toolAnswer(request, situation) ?? answerAt(situation);
      return { kind: 'tool_call', name: MOVE_TOOL, arguments: JSON.stringify({ edge }) };
    }
    case 'answer':
      if (situation.ask) return prose(questionFor(situation.ask));
      return toolAnswer(request, situation) ?? answerAt(situation);
  }
}

/** Limits the input, since the rules run synchronously: the newest messages, and the beginning of long ones. */
function withinLimits({ messages, tools, ...request }: RuleRequest): RuleRequest {
  return {
    ...request,
    tools: tools?.filter(({ name }) => name !== MOVE_TOOL),
    messages: messages.slice(-MAX_MESSAGES).map((message) => {
      const limit = message.role === 'tool' ? MAX_RESULT_CHARACTERS : MAX_READ_CHARACTERS;
      return { ...message, content: message.content?.slice(0, limit) ?? null };
    }),
  };
}

/** A tool call, a question for an argument that it lacks, or the text of a tool's result. */
function toolAnswer(request: RuleRequest, situation: Situation): RuleAnswer | undefined {
  const last = request.messages.findLast(({ role }) => role !== 'system');
  if (last?.role === 'tool') return prose(toolResultText(last.content ?? ''));
  const decision = chooseToolCall(request, situation);
  return decision?.kind === 'ask' ? prose(decision.question) : decision;
}

function answerAt(situation: Situation): RuleAnswer {
  const { node, passage } = situation;
  if (passage !== undefined) return prose(passageText(passage));
  return node ? prose(nodeText(node)) : answerWithoutPathway(situation);
}

function answerWithoutPathway({ lastUserText: text = '' }: Situation): RuleAnswer {
  const disclaimer = 'This is the rehearsal model, which follows pathways by rules and has none here.';
  return prose(text === '' ? disclaimer : `${disclaimer} You said: “${text}”`);
}

function prose(text: string): RuleAnswer {
  return { kind: 'text', tokens: text.match(TOKEN) ?? [] };
}

function json(value: unknown): RuleAnswer {
  return { kind: 'text', tokens: [JSON.stringify(value)] };
}
