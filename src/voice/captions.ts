import type { AudioStream } from '../conversation/streams/audioStream.ts';
import type { Utterance } from '../conversation/turnDetection/speechActivity.ts';
import type { AgentSpeech } from './speech/agentSpeech.ts';

/** Frames of 20 ms between two looks at what was heard: a reader follows words, not samples. */
const FRAMES_PER_LOOK = 10;

/** Tells the peer what both sides say: the agent's words as they are heard. */
export class Captions {
  readonly #stream: AudioStream;
  /** The agent's speech that was followed last. */
  #speech: AgentSpeech | undefined;
  /** The last speech that has ended and whose caption is final. */
  #ended: AgentSpeech | undefined;
  #shown = '';
  #frames = 0;
  /** The last voiced moment of the caller's open utterance, on the stream's clock; undefined between utterances. */
  #lastVoicedMs: number | undefined;

  constructor(stream: AudioStream) {
    this.#stream = stream;
  }

  callerSays(text: string): void {
    this.#stream.caption({ speaker: 'caller', text, isFinal: false });
  }

  callerSaid(text: string): void {
    if (text !== '') this.#stream.caption({ speaker: 'caller', text, isFinal: true });
  }

  /** Call with each frame of the caller. @param speech - The agent's newest answer. */
  onFrame(speech: AgentSpeech | undefined, utterance: Utterance | undefined): void {
    this.#followCaller(utterance);
    if (speech && speech !== this.#speech) this.#follow(speech);
    this.#frames = (this.#frames + 1) % FRAMES_PER_LOOK;
    if (this.#frames !== 0 || !this.#speech || this.#speech === this.#ended) return;
    const text = this.#speech.heardText();
    if (text === '' || text === this.#shown) return;
    this.#shown = text;
    this.#stream.caption({ speaker: 'agent', text, isFinal: false });
  }

  #followCaller(utterance: Utterance | undefined): void {
    const lastVoicedMs = this.#lastVoicedMs;
    this.#lastVoicedMs = utterance?.lastVoicedMs;
    if (utterance && lastVoicedMs === undefined) this.#stream.callerSpeech(true, utterance.startMs);
    if (!utterance && lastVoicedMs !== undefined) this.#stream.callerSpeech(false, lastVoicedMs);
  }

  #follow(speech: AgentSpeech): void {
    this.#speech = speech;
    this.#shown = '';
    void speech.playout.ended.then(() => {
      const text = speech.heardText();
      this.#ended = speech;
      if (text !== '') this.#stream.caption({ speaker: 'agent', text, isFinal: true });
    });
  }
}
