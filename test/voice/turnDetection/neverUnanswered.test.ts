import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TurnInput } from '../../../src/engine/turn/turn.ts';
import {
  closeUtterance,
  detectSpeech,
  NO_SPEECH,
  type SpeechActivity,
} from '../../../src/voice/recognition/speechActivity.ts';
import type { TurnEvent, TurnPhase, TurnState } from '../../../src/voice/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/voice/turnDetection/turnTransition.ts';
import { at, context, frame } from './support/turnStates.ts';

const FRAME_MS = 20;
/** Speech that must not be lost. */
const SPEECH_MS = 400;
/** Longer than all that turn detection waits for. */
const WAIT_MS = 12_000;
/** Phases in which a turn of the agent is heard, or will be; or in which the agent has no say. */
const ANSWERED: ReadonlySet<TurnPhase> = new Set(['thinking', 'speaking', 'suspended', 'ended']);

interface Step {
  readonly isVoiced: boolean;
  readonly frames: number;
  /** Happens after the frames. */
  readonly event: TurnEvent | undefined;
  readonly answering: TurnInput['kind'] | undefined;
}

const event = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<TurnEvent>(
      { type: 'transcript', text: '', isBackchannel: false },
      { type: 'transcript', text: 'yes', isBackchannel: true },
      { type: 'transcription_failed', message: 'lost' },
      { type: 'turn_signal', signal: 'end_of_turn' },
      { type: 'turn_signal', signal: 'turn_resumed' },
    ),
  },
  fc.constantFrom<TurnEvent>(
    { type: 'dtmf_digit' },
    { type: 'dtmf_entry', digits: '12' },
    { type: 'agent_started_speaking' },
    { type: 'agent_turn_ended' },
    { type: 'transfer_started', isByAgent: false },
    { type: 'session_ending' },
  ),
);
const steps = fc.array(
  fc.record({
    isVoiced: fc.boolean(),
    frames: fc.nat(60),
    event,
    answering: fc.constantFrom<TurnInput['kind'] | undefined>(
      undefined,
      'user_message',
      'not_understood',
      'begin',
    ),
  }),
  { maxLength: 40 },
);

/** A caller on a line, whose speech the transitions follow. */
class Line {
  state: TurnState = at('idle');
  #activity: SpeechActivity = NO_SPEECH;
  #atMs = 1000;

  frames(count: number, isVoiced: boolean, answering: Step['answering']): void {
    for (let n = 0; n < count; n++) {
      this.#atMs += FRAME_MS;
      this.#activity = detectSpeech(this.#activity, isVoiced, this.#atMs);
      this.dispatch(frame, answering);
    }
  }

  dispatch(happened: TurnEvent, answering: Step['answering']): void {
    const { utterance } = this.#activity;
    const step = turnTransition(this.state, happened, context(this.#atMs, { utterance, answering }));
    this.state = step.state;
    if (!step.effects.some(({ type }) => type === 'discard_utterance')) return;
    this.#activity = closeUtterance(this.#activity);
    const isLost = (utterance?.voicedMs ?? 0) >= SPEECH_MS && !ANSWERED.has(this.state.phase);
    expect(isLost && { utterance, happened, phase: this.state.phase }).toBe(false);
  }
}

test('In any order of events, speech of 0.4 s is never closed without a turn, nor left open', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const line = new Line();
      for (const { frames, isVoiced, event: happened, answering } of all) {
        line.frames(frames, isVoiced, answering);
        if (happened) line.dispatch(happened, answering);
      }
      // Nothing comes of the recognizer any more.
      line.frames(WAIT_MS / FRAME_MS, false, undefined);
      expect(['listening', 'paused']).not.toContain(line.state.phase);
    }),
    { numRuns: 300 },
  );
});
