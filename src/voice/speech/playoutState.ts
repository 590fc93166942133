/** The states of one answer's playout; `resuming` plays on once the position of its pause is known. */
export type PlayoutState = 'playing' | 'pausing' | 'resuming' | 'paused' | 'stopping' | 'stopped' | 'played';

export type PlayoutEvent = 'pause' | 'resume' | 'stop' | 'position_known' | 'all_played';

const NEXT: Readonly<Record<PlayoutState, Readonly<Partial<Record<PlayoutEvent, PlayoutState>>>>> = {
  playing: { pause: 'pausing', stop: 'stopping', all_played: 'played' },
  pausing: { resume: 'resuming', stop: 'stopping', position_known: 'paused' },
  resuming: { pause: 'pausing', stop: 'stopping', position_known: 'playing' },
  paused: { resume: 'playing', stop: 'stopped' },
  stopping: { position_known: 'stopped' },
  stopped: {},
  played: {},
};

export interface PlayoutStep {
  readonly state: PlayoutState;
  /** `clear` stops the peer, which tells its position; `play_on` sends again what was not heard. */
  readonly effect: 'clear' | 'play_on' | 'end' | undefined;
}

/** Decides what an event does to a playout; an event that its state does not know changes nothing. */
export function playoutTransition(state: PlayoutState, event: PlayoutEvent): PlayoutStep {
  const next = NEXT[state][event];
  return { state: next ?? state, effect: next && effectOf(state, next) };
}

function effectOf(from: PlayoutState, to: PlayoutState): PlayoutStep['effect'] {
  if (to === 'playing') return 'play_on';
  if (to === 'played' || to === 'stopped') return 'end';
  return from === 'playing' ? 'clear' : undefined;
}
