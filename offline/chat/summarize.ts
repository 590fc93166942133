import type { Message } from './request.ts';

const MAX_SENTENCE_CHARACTERS = 200;

/** The start and end of a conversation, verbatim. */
export function summarizeByRules(messages: readonly Message[]): string {
  const said = (role: 'user' | 'assistant') =>
    messages.flatMap((message) => (message.role === role && message.content ? [message.content] : []));
  const asked = said('user');
  const answered = said('assistant');
  const parts = [
    line('The person began', sentencesOf(asked.at(0)).at(0)),
    asked.length > 1 ? line('and said last', sentencesOf(asked.at(-1)).at(-1)) : '',
    line('The agent said last', sentencesOf(answered.at(-1)).at(-1)),
  ];
  return parts.filter((part) => part !== '').join(' ') || 'Nothing was said.';
}

function line(lead: string, sentence: string | undefined): string {
  if (!sentence) return '';
  const isLong = sentence.length > MAX_SENTENCE_CHARACTERS;
  return `${lead}: “${isLong ? `${sentence.slice(0, MAX_SENTENCE_CHARACTERS)}…` : sentence}”`;
}

function sentencesOf(text = ''): string[] {
  return text
    .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
