import type { Persona } from '../../agents/testSuites/testCase.ts';
import type { ChatMessage } from '../../models/ports/chatMessage.ts';
import type { ChatModel } from '../../models/ports/chatModel.ts';
import type { Exchange } from './observation.ts';

const HANG_UP = '[hang up]';
const MAX_WORDS_CHARACTERS = 2_000;
export const DEFAULT_PERSONA_TURNS = 20;
export const DEFAULT_PERSONA_SECONDS = 300;

export interface PersonaModel {
  readonly chat: ChatModel;
  readonly modelName: string;
  /** The same seed asks a model that supports it for the same words. */
  readonly seed: number;
}

/** The persona's next action. */
export interface PersonaWords {
  /** Empty where it only hangs up. */
  readonly text: string;
  readonly hangsUp: boolean;
}

/**
 * Asks a chat model what the caller says next.
 *
 * @param exchanges - The conversation so far.
 * @throws {ModelError}
 */
export async function nextWords(
  { chat, modelName, seed }: PersonaModel,
  persona: Persona,
  exchanges: readonly Exchange[],
  signal: AbortSignal,
): Promise<PersonaWords> {
  const messages: ChatMessage[] = [{ role: 'system', content: promptOf(persona) }];
  for (const { caller, agent } of exchanges) {
    if (caller !== undefined) messages.push({ role: 'assistant', content: caller });
    messages.push({ role: 'user', content: agent === '' ? '(silence)' : agent });
  }
  if (messages.length === 1) messages.push({ role: 'user', content: '(The other party has answered.)' });
  let text = '';
  const request = {
    model: modelName,
    messages,
    passthrough: { seed },
    purpose: 'persona' as const,
  };
  for await (const event of chat.stream(request, signal)) {
    if (event.type === 'text') text += event.text;
    if (event.type === 'thought') text = '';
  }
  const hangsUp = text.toLowerCase().includes(HANG_UP);
  const words = text.replaceAll(/\[hang up\]/gi, '').trim();
  return { text: words.slice(0, MAX_WORDS_CHARACTERS), hangsUp: hangsUp || words === '' };
}

function promptOf({ prompt, goal, traits = [], facts, hangUpWhen }: Persona): string {
  return [
    'You play a person who calls a service. The user is the service’s agent. Answer with the person’s next words and nothing else: short, as people speak, never as the agent.',
    prompt,
    ...(goal === undefined ? [] : [`Your goal: ${goal}`]),
    ...(traits.length === 0 ? [] : [`You are: ${traits.join(', ')}.`]),
    ...(facts === undefined ? [] : [`What you know, and nothing else: ${JSON.stringify(facts)}`]),
    `Write ${HANG_UP} after your last words ${hangUpWhen === undefined ? 'once your goal is reached, or cannot be' : `when this holds: ${hangUpWhen}`}.`,
  ].join('\n\n');
}
