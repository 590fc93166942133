import type { ChatEvent } from '../../providers/ports/chatModel.ts';

/** What can be spoken: spaces, punctuation and signs alone cannot. */
const WORDS = /[\p{L}\p{N}]/u;

export function hasWords(text: string): boolean {
  return WORDS.test(text);
}

/**
 * An answer as somebody hears it: what comes before its first word comes with that, and not at all where there is none.
 */
export async function* fromFirstWord(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent, void> {
  let held = '';
  let hasBegun = false;
  for await (const event of events) {
    if (hasBegun || event.type !== 'text') {
      yield event;
      continue;
    }
    held += event.text;
    if (!hasWords(held)) continue;
    hasBegun = true;
    yield { type: 'text', text: held };
  }
}
