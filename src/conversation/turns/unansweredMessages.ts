import type { MessageSpeech } from '../../engine/session/session.ts';
import type { ExternalMessage, TurnInput } from '../../engine/turn/turn.ts';

/** What the caller said and no turn has stored yet, in order. The next turn takes it into the session's history. */
export class UnansweredMessages {
  readonly #speech: () => MessageSpeech;
  #messages: ExternalMessage[] = [];
  #transcribing: Promise<void> = Promise.resolve();

  /** @param speech - Names the recognizer of transcribed messages. */
  constructor(speech: () => MessageSpeech) {
    this.#speech = speech;
  }

  /** Resolves when all text that is being transcribed has been added. */
  get settled(): Promise<void> {
    return this.#transcribing;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  add(text: string): void {
    if (text !== '') this.#messages.push({ role: 'user', content: text, speech: this.#speech() });
  }

  /** Adds what a supervisor tells the agent. @param instruction - Its number, if it may be told again. */
  addInstruction(text: string, instruction?: number): void {
    this.#messages.push({ role: 'system', content: text, instruction });
  }

  /** Adds what the caller said in an input that gets no turn. */
  addInput(input: TurnInput): void {
    this.#messages.push(...callerMessages(input));
  }

  /** Adds a text that is still being transcribed, after those before it. @param text - Never rejects. */
  addWhenTranscribed(text: Promise<string>): void {
    const before = this.#transcribing;
    this.#transcribing = (async () => {
      await before;
      this.add(await text);
    })();
  }

  takeAll(): ExternalMessage[] {
    return this.#messages.splice(0);
  }

  /** Puts back what a turn took and did not store. */
  putBack(messages: readonly ExternalMessage[]): void {
    this.#messages.unshift(...messages);
  }
}

/** The caller's message in an input; empty where the caller said nothing. */
export function callerMessages(input: TurnInput): readonly ExternalMessage[] {
  if (input.kind === 'user_message') {
    const { text, speech } = input;
    return [{ role: 'user', content: text, speech }];
  }
  return input.kind === 'dtmf' ? [{ role: 'user', content: input.digits }] : [];
}
