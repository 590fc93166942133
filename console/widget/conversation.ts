import type { Caption } from '../audio/talk.ts';
import type { Texts } from './texts.ts';
import { createLine, createNote } from './view.ts';

/** How far from the end a reader may be to be taken along. */
const NEAR_END_PX = 60;

/** The lines of the conversation, as text. */
export class Conversation {
  readonly #log: HTMLElement;
  readonly #texts: Texts;
  /** What each side is saying now. */
  readonly #open = new Map<Caption['speaker'], ReturnType<typeof createLine>>();

  constructor(log: HTMLElement, texts: Texts) {
    this.#log = log;
    this.#texts = texts;
  }

  /** @returns Writes on. */
  add(speaker: Caption['speaker'], text: string): { write(more: string): void; remove(): void } {
    const { line, text: node } = this.#line(speaker);
    node.data = text;
    line.classList.toggle('waiting', text === '');
    return {
      write: (more) => {
        this.#keepEnd(() => {
          node.data += more;
          line.classList.remove('waiting');
        });
      },
      remove: () => line.remove(),
    };
  }

  note(text: string): void {
    this.#keepEnd(() => this.#log.append(createNote(text)));
  }

  caption({ speaker, text, isFinal }: Caption): void {
    if (text === '') {
      this.#open.get(speaker)?.line.remove();
      this.#open.delete(speaker);
      return;
    }
    const said = this.#open.get(speaker) ?? this.#line(speaker);
    this.#open.set(speaker, said);
    this.#keepEnd(() => {
      said.text.data = text;
      said.line.classList.toggle('interim', !isFinal);
    });
    if (isFinal) this.#open.delete(speaker);
  }

  /** What was not finished stays as it is. */
  endCaptions(): void {
    for (const { line } of this.#open.values()) line.classList.remove('interim');
    this.#open.clear();
  }

  #line(speaker: Caption['speaker']): ReturnType<typeof createLine> {
    const made = createLine(speaker, speaker === 'agent' ? this.#texts.agent : this.#texts.you);
    this.#keepEnd(() => this.#log.append(made.line));
    return made;
  }

  #keepEnd(change: () => void): void {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    const isNearEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    change();
    if (isNearEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}
