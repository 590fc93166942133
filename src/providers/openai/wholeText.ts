/**
 * Makes pieces of text whole by themselves: half of a surrogate pair waits for its other half, which some endpoints send
 * with the next piece. A half that stays alone, and a NUL character, become U+FFFD: neither can be kept, and a client
 * that sent them back would be refused.
 */
export interface WholeText {
  add(piece: string): string;
  /** @returns What has waited. */
  finish(): string;
}

export function createWholeText(): WholeText {
  let half = '';
  return {
    add(piece) {
      const text = half + piece;
      half = endsInHalf(text) ? text.slice(-1) : '';
      return clean(half === '' ? text : text.slice(0, -1));
    },
    finish() {
      const text = clean(half);
      half = '';
      return text;
    },
  };
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

function clean(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed();
}
