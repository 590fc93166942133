/**
 * Joins surrogate pairs that an endpoint splits between two chunks. A lone surrogate and NUL become U+FFFD: neither can
 * be stored, and an endpoint refuses them when they are sent back.
 */
export class WellFormedText {
  #highSurrogate = '';

  /** @returns The text up to the last whole character. */
  add(chunk: string): string {
    const text = this.#highSurrogate + chunk;
    this.#highSurrogate = endsWithHighSurrogate(text) ? text.slice(-1) : '';
    return clean(this.#highSurrogate === '' ? text : text.slice(0, -1));
  }

  /** @returns The remaining text. */
  finish(): string {
    const text = clean(this.#highSurrogate);
    this.#highSurrogate = '';
    return text;
  }
}

function endsWithHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
