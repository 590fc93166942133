import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../src/models/ports/chatMessage.ts';
import { KnownConversation } from '../../../src/voice/speechToSpeech/knownConversation.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const assistant = (content: string | null, ...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content,
  ...(ids.length > 0 ? { toolCalls: ids.map((id) => ({ id, name: 'tool', arguments: '{}' })) } : {}),
});

/** What a model is told of these messages that has heard "Yes." and "At six.", said "Good. See you." and called "c1". */
function newsOf(...messages: ChatMessage[]): ChatMessage[] {
  const known = new KnownConversation();
  for (const utterance of ['Yes.', 'At six.', 'Bye.']) known.heard(utterance);
  known.said('Good. ');
  known.said('See you.');
  known.called('c1');
  return known.takeNews(messages);
}

describe('A speech-to-speech model', () => {
  test.each([
    ['what it has heard', user('At six.')],
    ['utterances that one turn answered', user('Yes. At six.')],
    ['what it has said', assistant('Good. See you.')],
    ['what it has said in lines', assistant('Good.\n See you. ')],
    ['a call that it made', assistant(null, 'c1')],
  ])('is not told %s', (_, message) => expect(newsOf(message)).toEqual([]));

  test.each([
    ['what was typed', user('At seven.'), user('At seven.')],
    ['what it heard with a gap', user('Yes. Bye.'), user('Yes. Bye.')],
    ['a line in another voice', assistant('Good.\nOne moment.'), assistant('One moment.')],
    ['a call of another model', assistant('Good.', 'c1', 'c2'), assistant(null, 'c2')],
    ['an instruction', { role: 'system', content: 'Be brief.' }, { role: 'system', content: 'Be brief.' }],
  ] as [string, ChatMessage, ChatMessage][])('is told %s', (_, message, news) =>
    expect(newsOf(message)).toEqual([news]),
  );

  test('is told the same once, and again where it was said again', () => {
    const known = new KnownConversation();
    const [twice, thrice] = [
      [user('Hello?'), user('Hello?')],
      Array.from({ length: 3 }, () => user('Hello?')),
    ];
    expect(known.takeNews([user('Hello?')])).toHaveLength(1);
    expect(known.takeNews(twice)).toHaveLength(1);
    expect(known.takeNews(twice)).toEqual([]);
    expect(known.takeNews(thrice)).toHaveLength(1);
  });
});
