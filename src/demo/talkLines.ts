import { type HistoryMessage, oneLine } from './history.ts';
import type { Screen } from './screen.ts';

/** The lines of a talk in their order: what the callee says at once, what was heard and answered once it is kept. */
export interface TalkLines {
  /** The callee begins to say this. */
  said(text: string): void;
  /** The callee begins to hear the agent; its words follow when they are kept. */
  hears(): void;
  /** The talk as the service has kept it so far. */
  kept(messages: readonly HistoryMessage[]): void;
}

/** The history has a turn once its answer was spoken; longer than that nothing is held back for it. */
const HOLD_MS = 8000;

export function createTalkLines(screen: Pick<Screen, 'line'>, elapsedMs: () => number): TalkLines {
  /** What was said before the words before it were kept, as by who cuts in. */
  const held: { readonly text: string; readonly atMs: number }[] = [];
  let agentBeganMs: number | undefined;
  let shown = 0;
  let said = 0;
  let heard = 0;
  const release = () => {
    for (let next = held[0]; next; next = held[0]) {
      const awaitsOthers = heard < said || (agentBeganMs !== undefined && agentBeganMs <= next.atMs);
      if (awaitsOthers && elapsedMs() - next.atMs < HOLD_MS) return;
      held.shift();
      said += 1;
      screen.line(next.atMs, 'callee', next.text);
    }
  };
  return {
    said(text) {
      held.push({ text, atMs: elapsedMs() });
      release();
    },
    hears() {
      agentBeganMs ??= elapsedMs();
    },
    kept(messages) {
      const news = messages.slice(shown);
      shown = messages.length;
      for (const message of news) {
        if (message.role === 'tool' || message.content === null) continue;
        if (message.role === 'user') {
          screen.line(undefined, 'heard', `“${oneLine(message.content)}”`);
          heard += 1;
        } else {
          screen.line(agentBeganMs ?? elapsedMs(), 'agent', `${oneLine(message.content)}${noteOf(message)}`);
          agentBeganMs = undefined;
        }
      }
      // Only now: words are kept together with their answer, and whoever cut into that stands below it.
      release();
    },
  };
}

function noteOf({ latencyMs, interrupted }: HistoryMessage): string {
  const notes = [
    ...(latencyMs === undefined ? [] : [`after ${Math.round(latencyMs)} ms`]),
    ...(interrupted ? ['cut short by the callee'] : []),
  ];
  return notes.length > 0 ? `  (${notes.join(', ')})` : '';
}
