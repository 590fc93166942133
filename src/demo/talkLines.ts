import { type HistoryMessage, oneLine } from './history.ts';
import type { Screen } from './screen.ts';

/** The lines of a talk in their order: what the callee says at once, what was heard and answered once it is kept. */
export interface TalkLines {
  /** The callee begins to say this. */
  said(text: string): void;
  /** The talk as the service has kept it so far. */
  kept(messages: readonly HistoryMessage[]): void;
}

/** The history has a turn once its answer was spoken; longer than that nothing is held back for it. */
const HOLD_MS = 8000;

export function createTalkLines(screen: Pick<Screen, 'line'>, elapsedMs: () => number): TalkLines {
  /** What was said before the words before it were kept, as by who cuts in. */
  const held: { readonly text: string; readonly atMs: number }[] = [];
  let shown = 0;
  let said = 0;
  let heard = 0;
  const release = () => {
    for (let next = held[0]; next; next = held[0]) {
      if (heard < said && elapsedMs() - next.atMs < HOLD_MS) return;
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
    kept(messages) {
      for (const { role, content, latencyMs, interrupted } of messages.slice(shown)) {
        shown += 1;
        if (role === 'tool' || content === null) continue;
        if (role === 'user') {
          // Whoever is heard has spoken.
          release();
          heard += 1;
          screen.line(elapsedMs(), 'heard', `“${oneLine(content)}”`);
          continue;
        }
        const notes = [
          ...(latencyMs === undefined ? [] : [`after ${Math.round(latencyMs)} ms`]),
          ...(interrupted ? ['cut short by the callee'] : []),
        ];
        const note = notes.length > 0 ? `  (${notes.join(', ')})` : '';
        screen.line(elapsedMs(), 'agent', `${oneLine(content)}${note}`);
      }
      release();
    },
  };
}
