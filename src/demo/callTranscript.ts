import { type HistoryMessage, oneLine } from './history.ts';
import type { Screen } from './screen.ts';

/** Prints the messages of a call in order: the callee's at once, the agent's when they are in the history. */
export interface CallTranscript {
  /** The callee starts to say this. */
  calleeSaid(text: string): void;
  /** The callee starts to hear the agent; the text follows from the history. */
  agentStarted(): void;
  /** The messages in the history so far. */
  update(messages: readonly HistoryMessage[]): void;
}

/** A turn is in the history when its answer was spoken; lines are held back no longer than this. */
const HOLD_MS = 8000;

export function createCallTranscript(screen: Screen, elapsedMs: () => number): CallTranscript {
  /** Lines that the callee said before earlier messages were in the history, such as interruptions. */
  const held: { readonly text: string; readonly atMs: number }[] = [];
  let agentStartedMs: number | undefined;
  let shown = 0;
  let said = 0;
  let heard = 0;
  const release = () => {
    for (let next = held[0]; next; next = held[0]) {
      const awaitsOthers = heard < said || (agentStartedMs !== undefined && agentStartedMs <= next.atMs);
      if (awaitsOthers && elapsedMs() - next.atMs < HOLD_MS) return;
      held.shift();
      said += 1;
      screen.line(next.atMs, 'callee', next.text);
    }
  };
  return {
    calleeSaid(text) {
      held.push({ text, atMs: elapsedMs() });
      release();
    },
    agentStarted() {
      agentStartedMs ??= elapsedMs();
    },
    update(messages) {
      const news = messages.slice(shown);
      shown = messages.length;
      for (const message of news) {
        if (message.role === 'tool' || message.content === null) continue;
        if (message.role === 'user') {
          screen.line(undefined, 'heard', `“${oneLine(message.content)}”`);
          heard += 1;
        } else {
          screen.line(
            agentStartedMs ?? elapsedMs(),
            'agent',
            `${oneLine(message.content)}${noteOf(message)}`,
          );
          agentStartedMs = undefined;
        }
      }
      // Only now: messages arrive together with their answer, and an interruption is printed below it.
      release();
    },
  };
}

function noteOf({ latencyMs, interrupted }: HistoryMessage): string {
  const notes = [
    ...(latencyMs === undefined ? [] : [`after ${Math.round(latencyMs)} ms`]),
    ...(interrupted ? ['interrupted by the callee'] : []),
  ];
  return notes.length > 0 ? `  (${notes.join(', ')})` : '';
}
