import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  closeUtterance,
  detectSpeech,
  NO_SPEECH,
  type SpeechActivity,
} from '../../../src/conversation/turnDetection/speechActivity.ts';
import type { TurnEvent, TurnPhase, TurnState } from '../../../src/conversation/turnDetection/turnState.ts';
import { turnTransition } from '../../../src/conversation/turnDetection/turnTransition.ts';
import type { TurnInput } from '../../../src/engine/turn/turn.ts';
import { at, context, frame } from './support/turnStates.ts';

const FRAME_MS = 20;
/** Speech that must not be lost. */
const SPEECH_MS = 400;
/** Longer than all that turn detection waits for. */
const WAIT_MS = 12_000;
/** After a request. */
const TRANSCRIPT_FRAMES = 5;
/** Phases in which a turn of the agent is heard, or will be; or in which the agent has no say. */
const ANSWERED: ReadonlySet<TurnPhase> = new Set(['thinking', 'speaking', 'suspended', 'ended']);

interface Step {
  readonly isVoiced: boolean;
  /** What the recognizer answers to a request meanwhile; undefined for nothing. */
  readonly answer: TurnEvent | undefined;
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
const NO_WORDS: TurnEvent = { type: 'transcript', text: '', isBackchannel: false };
const answer = fc.constantFrom<TurnEvent | undefined>(
  NO_WORDS,
  NO_WORDS,
  { type: 'transcript', text: 'yes', isBackchannel: true },
  { type: 'transcription_failed', message: 'lost' },
  undefined,
);
const steps = fc.array(
  fc.record({
    isVoiced: fc.boolean(),
    frames: fc.nat(60),
    answer,
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
  state: TurnState;
  #answer: TurnEvent | undefined;
  #answerInFrames = 0;
  #activity: SpeechActivity = NO_SPEECH;
  #atMs = 1000;

  /** @param reprompts - How often the caller was not understood before. */
  constructor(reprompts: number) {
    this.state = at('idle', { reprompts });
  }

  frames({ frames, isVoiced, answer: toRequest, answering }: Omit<Step, 'event'>): void {
    this.#answer = toRequest;
    for (let n = 0; n < frames; n++) {
      this.#atMs += FRAME_MS;
      this.#activity = detectSpeech(this.#activity, isVoiced, this.#atMs);
      this.dispatch(frame, answering);
      this.#answerInFrames -= 1;
      if (this.#answerInFrames === 0 && this.#answer) this.dispatch(this.#answer, answering);
    }
  }

  dispatch(happened: TurnEvent, answering: Step['answering']): void {
    const { utterance } = this.#activity;
    const step = turnTransition(this.state, happened, context(this.#atMs, { utterance, answering }));
    if (step.effects.some(({ type }) => type === 'request_transcript'))
      this.#answerInFrames = TRANSCRIPT_FRAMES;
    this.state = step.state;
    if (!step.effects.some(({ type }) => type === 'discard_utterance')) return;
    this.#activity = closeUtterance(this.#activity);
    const isLost = (utterance?.voicedMs ?? 0) >= SPEECH_MS && !ANSWERED.has(this.state.phase);
    expect(isLost && { utterance, happened, phase: this.state.phase }).toBe(false);
  }
}

test('In any order of events, speech of 0.4 s is never closed without a turn, nor left open', () => {
  fc.assert(
    fc.property(steps, fc.nat(5), (all, reprompts) => {
      const line = new Line(reprompts);
      for (const step of all) {
        line.frames(step);
        if (step.event) line.dispatch(step.event, step.answering);
      }
      // Nothing comes of the recognizer any more.
      const rest = { frames: WAIT_MS / FRAME_MS, isVoiced: false, answer: undefined, answering: undefined };
      line.frames(rest);
      expect(['listening', 'paused']).not.toContain(line.state.phase);
    }),
    { numRuns: 300 },
  );
});
