import { lastWordEnd } from './spokenText.ts';

/** A text that may still be written while it is being spoken. */
export class WrittenText {
  #text: string;
  #isComplete: boolean;
  #onChange: () => void = () => undefined;

  constructor(text = '', isComplete = false) {
    this.#text = text;
    this.#isComplete = isComplete;
  }

  get text(): string {
    return this.#text;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  write(text: string): void {
    this.#text += text;
    this.#onChange();
  }

  /** Takes the word back that is being written. */
  takeOpenWord(): string {
    const end = lastWordEnd(this.#text);
    const word = this.#text.slice(end);
    this.#text = this.#text.slice(0, end);
    return word;
  }

  complete(): void {
    this.#isComplete = true;
    this.#onChange();
  }

  /** Calls the listener now and at each change; it replaces the one before. */
  follow(listener: () => void): void {
    this.#onChange = listener;
    listener();
  }
}
