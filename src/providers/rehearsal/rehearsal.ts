import type { MakeId } from '../../base/ids.ts';
import { MOVE_TOOL } from '../../engine/prompt/structuredOutput.ts';
import type { ChatEvent, ChatModel, ChatRequest } from '../ports/chatModel.ts';
import type { Situation } from '../ports/situation.ts';
import { wishForTool } from './callTools.ts';
import { extractVariables } from './extract.ts';
import { judgeByWords } from './judge.ts';
import { chooseEdge, type Similarity } from './route.ts';
import { sayAt, tellPassage } from './speak.ts';
import { summariseByRule } from './summarise.ts';
import { tellResult } from './tellResult.ts';

/** What it is called wherever a model's name is shown, so that nobody takes it for more than it is. */
export const REHEARSAL_MODEL = 'callway-rehearsal';

/** A word with the space after it; of Chinese and Japanese, one or two characters. */
const PIECE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,2}\p{P}*\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*|\s+/gu;

export interface RehearsalDeps {
  /** For the tool calls that it makes. */
  readonly makeId: MakeId;
  /** Decides where the words alone do not tell which way to go. */
  readonly similarity?: Similarity;
}

/** What an answer comes to, before it is streamed. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: string };

/**
 * The model for when none is configured: it follows the pathway by rules and no further, the same way each time, and
 * never passes for another. It reads the request's situation and not its prompts.
 *
 * Where it moves it says nothing, since the words are those of the node that it moves to.
 */
export function createRehearsalModel(deps: RehearsalDeps): ChatModel {
  return {
    name: 'rehearsal',
    async *stream(request, signal) {
      signal.throwIfAborted();
      const part = await answerTo(request, deps);
      for (const event of eventsOf(part, deps.makeId)) {
        signal.throwIfAborted();
        yield event;
      }
    },
  };
}

async function answerTo(request: ChatRequest, { similarity }: RehearsalDeps): Promise<Part> {
  const { situation, messages } = request;
  if (!situation) return toolPart(request) ?? withoutPathway(request);
  switch (situation.kind) {
    case 'route':
      return { kind: 'json', value: { edge: await chooseEdge(situation, similarity) } };
    case 'extract':
      return {
        kind: 'json',
        value: extractVariables(situation.variableConfigs ?? [], {
          ...situation,
          text: spokenIn(request),
        }),
      };
    case 'judge':
      return { kind: 'json', value: judgeByWords(situation.criteria ?? [], messages) };
    case 'summarise':
      return { kind: 'text', text: summariseByRule(messages) };
    case 'answer_and_route':
      return moveOrAnswer(situation, request, await chooseEdge(situation, similarity));
    case 'answer':
      return toolPart(request) ?? answerAt(situation, request);
  }
}

/** The way for everything else is taken only when there is nothing to do here. */
function moveOrAnswer(situation: Situation, request: ChatRequest, edge: string | null): Part {
  const isOtherwise = situation.choices?.some(({ id, sentence }) => id === edge && sentence === '');
  const part = edge === null || isOtherwise ? toolPart(request) : undefined;
  if (part) return part;
  if (edge === null) return answerAt(situation, request);
  return { kind: 'call', name: MOVE_TOOL, arguments: JSON.stringify({ edge }) };
}

/** What tools come to: a call, a question for what a call lacks, or the telling of what one gave back. */
function toolPart(request: ChatRequest): Part | undefined {
  const last = request.messages.findLast(({ role }) => role !== 'system');
  if (last?.role === 'tool') return { kind: 'text', text: tellResult(last.content) };
  const wish = wishForTool(request, spokenIn(request));
  return wish?.kind === 'ask' ? { kind: 'text', text: wish.question } : wish;
}

function answerAt({ node, knowledge }: Situation, request: ChatRequest): Part {
  const [passage] = knowledge ?? [];
  if (passage !== undefined) return { kind: 'text', text: tellPassage(passage) };
  return node ? { kind: 'text', text: sayAt(node) } : withoutPathway(request);
}

function withoutPathway(request: ChatRequest): Part {
  const text = spokenIn(request);
  const honest = 'This is the rehearsal model, which follows pathways by rules and has none here.';
  return { kind: 'text', text: text === '' ? honest : `${honest} You said: “${text}”` };
}

function spokenIn({ situation, messages }: ChatRequest): string {
  if (situation?.lastUserText !== undefined) return situation.lastUserText;
  return messages.findLast(({ role }) => role === 'user')?.content ?? '';
}

function* eventsOf(part: Part, makeId: MakeId): Generator<ChatEvent> {
  if (part.kind === 'call') {
    const call = { index: 0, id: `call_${makeId().replaceAll('-', '')}`, name: part.name };
    yield { type: 'tool_call_delta', ...call, argumentsDelta: part.arguments };
    yield { type: 'tool_call', ...call, arguments: part.arguments };
    yield { type: 'end', finishReason: 'tool_calls', model: REHEARSAL_MODEL };
    return;
  }
  const text = part.kind === 'json' ? JSON.stringify(part.value) : part.text;
  const pieces = part.kind === 'json' ? [text] : (text.match(PIECE) ?? []);
  for (const piece of pieces) yield { type: 'text', text: piece };
  yield { type: 'end', finishReason: 'stop', model: REHEARSAL_MODEL };
}
