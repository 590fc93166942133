import type { ChatEvent, ChatModel, ChatRequest } from '../chatModel.ts';
import { MOVE_TOOL } from '../protocol.ts';
import { answerOf } from './answer.ts';
import { extractValues } from './extract.ts';
import { chooseWay } from './route.ts';
import { overlap } from './words.ts';

/** What it is called wherever a model's name is shown, so that nobody takes it for more than it is. */
export const REHEARSAL_MODEL = 'callway-rehearsal';
const LONGEST_SUMMARY_CHARACTERS = 600;
/** Under this share of a criterion's words in the talk it counts as not met. */
const LEAST_JUDGED_OVERLAP = 0.5;

/**
 * Stands in where no chat model is set: it follows the pathway by rules, says quoted lines and fixed texts, draws
 * values by patterns, and understands nothing else. The same request always gets the same answer.
 */
export function createRehearsalModel(): ChatModel {
  return {
    name: 'rehearsal',
    async *stream(request, signal): AsyncGenerator<ChatEvent> {
      signal.throwIfAborted();
      const { situation } = request;
      const edge = situation?.kind === 'answer_and_route' ? chooseWay(situation) : null;
      if (edge !== null && request.tools?.some(({ name }) => name === MOVE_TOOL)) {
        // The node that it moves to speaks for itself.
        yield {
          type: 'tool_call',
          index: 0,
          id: 'call_move',
          name: MOVE_TOOL,
          arguments: JSON.stringify({ edge }),
        };
        yield { type: 'end', finishReason: 'tool_calls', model: REHEARSAL_MODEL };
        return;
      }
      for (const piece of wordByWord(textOf(request))) {
        signal.throwIfAborted();
        yield { type: 'text', text: piece };
      }
      yield { type: 'end', finishReason: 'stop', model: REHEARSAL_MODEL };
    },
  };
}

function textOf({ situation, messages }: ChatRequest): string {
  switch (situation?.kind) {
    case 'route':
      return JSON.stringify({ edge: chooseWay(situation) });
    case 'extract':
      return JSON.stringify(extractValues(situation));
    case 'judge':
      return JSON.stringify({ results: judge(situation.criteria ?? [], transcript(messages)) });
    case 'summarise':
      return transcript(messages).slice(-LONGEST_SUMMARY_CHARACTERS);
    case 'answer':
    case 'answer_and_route':
      return answerOf(situation);
    default:
      return 'This is the rehearsal model; no chat model is set.';
  }
}

function judge(criteria: readonly { name: string; description: string }[], talk: string) {
  return criteria.map(({ name, description }) => {
    const share = overlap(description, talk);
    const reason = `Judged by rule: ${Math.round(share * 100)} % of the criterion’s words occur in the talk.`;
    return { name, passed: share >= LEAST_JUDGED_OVERLAP, reason };
  });
}

function transcript(messages: ChatRequest['messages']): string {
  return messages
    .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content)
    .map(({ role, content }) => `${role}: ${content}`)
    .join('\n');
}

function wordByWord(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}
