/** What a vendor is waited for, that speaks a text; a held one was told to pause, since it is far ahead. */
export type StreamedTextState = 'opening' | 'due' | 'sounding' | 'ending' | 'held' | 'held_ending';

export type StreamedTextEvent =
  /** Enough was written for a vendor to begin. */
  | 'enough_written'
  /** Sound, or after the first one, also samples of silence. */
  | 'sound'
  /** The whole text was written. */
  | 'text_ended'
  | 'far_ahead'
  | 'needed_again';

const NEXT: Readonly<
  Record<StreamedTextState, Readonly<Partial<Record<StreamedTextEvent, StreamedTextState>>>>
> = {
  opening: { enough_written: 'due', sound: 'sounding', text_ended: 'ending', far_ahead: 'held' },
  due: { sound: 'sounding', text_ended: 'ending', far_ahead: 'held' },
  sounding: { text_ended: 'ending', far_ahead: 'held' },
  ending: { sound: 'ending', far_ahead: 'held_ending' },
  held: { text_ended: 'held_ending', needed_again: 'sounding' },
  held_ending: { needed_again: 'ending' },
};

/** Decides whether a vendor is waited for; an event that its state does not know changes neither. */
export function streamedTextTransition(
  state: StreamedTextState,
  event: StreamedTextEvent,
): { readonly state: StreamedTextState; readonly wait: 'begin' | 'end' | undefined } {
  const next = NEXT[state][event];
  if (next === undefined) return { state, wait: undefined };
  return { state: next, wait: next === 'due' || next === 'ending' ? 'begin' : 'end' };
}
