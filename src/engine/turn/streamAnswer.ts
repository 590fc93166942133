import type { ChatEvent, ChatModel, ChatRequest, ToolCallEvent } from '../../providers/ports/chatModel.ts';
import { isSpoken, lineBreakAfter, type TurnContext, type UsageMeter } from './turnContext.ts';

/** Spaces, punctuation and symbols alone cannot be spoken. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

export interface ModelAnswer {
  readonly calls: readonly ToolCallEvent[];
  readonly hasWords: boolean;
}

const NOTHING: ModelAnswer = { calls: [], hasWords: false };

/**
 * Streams one answer of the model to the sink. A spoken one starts with its first speakable text, or with the speech of a
 * model that speaks itself.
 *
 * @param mayBegin - Awaited before the first word; false drops the answer.
 * @throws {ModelError}
 */
export async function streamAnswer(
  turn: TurnContext,
  chat: ChatModel,
  request: ChatRequest,
  mayBegin: () => Promise<boolean>,
): Promise<ModelAnswer> {
  const { signal, usage, startSpan } = turn;
  const calls: ToolCallEvent[] = [];
  const span = startSpan?.(request, chat.name);
  turn.request.delivery?.onModelRequest?.();
  let hasWords = false;
  let text = '';
  try {
    for await (const event of chat.stream(request, signal)) {
      span?.onEvent();
      const piece = textOf(event, calls, usage);
      if (piece === undefined) continue;
      text = hasWords ? piece : text + piece;
      if (!hasWords) {
        if (!canBegin(turn, event, text)) continue;
        if (!(await mayBegin())) return NOTHING;
        text = lineBreakAfter(turn.journal.said()) + text;
        hasWords = true;
      }
      signal.throwIfAborted();
      await sayPiece(turn, event, text);
    }
    return { calls, hasWords };
  } catch (error) {
    if (!signal.aborted) span?.recordError(error);
    throw error;
  } finally {
    span?.end();
  }
}

async function sayPiece({ journal, sink }: TurnContext, event: ChatEvent, text: string): Promise<void> {
  if (event.type === 'speech') await sink(event);
  if (text === '') return;
  journal.say(text);
  const isSpoken = event.type === 'speech' || (event.type === 'text' && event.isSpoken);
  const written = sink({ type: 'text', text, ...(isSpoken ? { isSpoken } : {}) });
  if (written) await written;
}

/** Notes what is no text of the answer. */
function textOf(event: ChatEvent, calls: ToolCallEvent[], usage: UsageMeter): string | undefined {
  if (event.type === 'text') return event.text;
  if (event.type === 'speech') return '';
  if (event.type === 'tool_call') calls.push(event);
  if (event.type === 'end') usage.add(event.usage);
  return undefined;
}

function canBegin(turn: TurnContext, event: ChatEvent, text: string): boolean {
  return event.type === 'speech' || !isSpoken(turn) || SPEAKABLE.test(text);
}
