import { languageCode } from '../base/values/languageCode.ts';

/**
 * The language that a gateway speaks and understands. It begins with that of its own configuration, which is taken to be
 * the conversation's first one. Its tags are known from what it has heard: agents may say `es` where it says `es-MX`.
 */
export class GatewayLanguage {
  readonly #change: (tag: string) => void;
  readonly #tags = new Map<string, string>();
  #heard: string | undefined;
  #first: string | undefined;
  #current: string | undefined;

  /** @param change - Lets the gateway speak another one. */
  constructor(change: (tag: string) => void) {
    this.#change = change;
  }

  /** The caller was understood in this language. */
  heard(tag: string | undefined): void {
    if (tag === undefined) return;
    this.#heard = tag;
    this.#tags.set(languageCode(tag), tag);
  }

  /** @param language - The conversation's language; undefined when it is not known. */
  speak(language: string | undefined): void {
    if (language === undefined) return;
    const code = languageCode(language);
    this.#first ??= code;
    this.#current ??= code;
    if (code === this.#current) return;
    this.#current = code;
    this.#change(this.#tags.get(code) ?? language);
  }

  /** @returns The tag; undefined for the language that the gateway began with, until its tag is known. */
  tagOf(language: string | undefined): string | undefined {
    if (language === undefined) return this.#heard;
    const code = languageCode(language);
    return this.#tags.get(code) ?? (code === this.#first ? undefined : language);
  }
}
