import type { Clock, Timer } from '../../base/values/clock.ts';
import type { AudioStream, StreamParty } from '../../conversation/streams/audioStream.ts';
import { AgentSpeech } from '../speech/agentSpeech.ts';
import type { SessionSynthesis } from '../speech/callSpeech.ts';
import type { Announcement } from './announcement.ts';
import { consentOf, consentPhrases } from './consent.ts';
import { PartyRecognition, type PartyRecognitionDeps } from './partyRecognition.ts';

export interface BriefingDeps
  extends Omit<PartyRecognitionDeps, 'expectedAnswers' | 'agentFrame' | 'onFrame' | 'onWords'> {
  readonly stream: AudioStream;
  /** Resolves when the stream is closed. */
  readonly closed: Promise<void>;
  readonly synthesis: SessionSynthesis;
  readonly clock: Clock;
}

/** Silence after which the question is asked again. */
const ASK_AGAIN_MS = 6000;
const INTERNAL_ERROR = 1011;

/**
 * Tells a transfer target who is calling and why, and hears whether it takes the call. Digits are the gateway's, which
 * also gives up when no answer comes, and closes the stream.
 */
export class Briefing {
  readonly #deps: BriefingDeps;
  readonly #announcement: Announcement;
  readonly #acceptBy: Extract<StreamParty, { kind: 'briefing' }>['acceptBy'];
  readonly #recognition: PartyRecognition | undefined;
  #speech: AgentSpeech | undefined;
  #again: Timer | undefined;
  #marks = 0;
  #hasFailed = false;
  #isClosed = false;

  constructor(
    deps: BriefingDeps,
    { acceptBy }: Extract<StreamParty, { kind: 'briefing' }>,
    announcement: Announcement,
  ) {
    this.#deps = deps;
    this.#announcement = announcement;
    this.#acceptBy = acceptBy;
    if (acceptBy !== 'speech') return;
    this.#recognition = new PartyRecognition({
      ...deps,
      expectedAnswers: consentPhrases(deps.language),
      agentFrame: () => this.#speech?.playout.lastFrame(),
      onFrame: () => undefined,
      onWords: (text) => this.#onWords(text),
    });
  }

  /** Resolves when the stream is closed. */
  async run(): Promise<void> {
    const { stream, closed } = this.#deps;
    const { events } = stream;
    void closed.then(() => {
      this.#isClosed = true;
      this.#again?.cancel();
      this.#speech?.onClosed();
    });
    events.on('audio', (samples) => {
      this.#speech?.onFrame(false);
      this.#recognition?.push(samples);
    });
    events.on('mark', (mark) => this.#speech?.playout.onMark(mark));
    events.on('cleared', (position) => this.#speech?.playout.onCleared(position));
    const { text, question } = this.#announcement;
    await Promise.race([this.#speak(question === undefined ? [text] : [text, question]), closed]);
    await closed;
    await this.#recognition?.close();
  }

  async #speak(texts: readonly string[]): Promise<void> {
    const { stream, clock, synthesis, language = 'en', onError } = this.#deps;
    const speech = new AgentSpeech({
      ...synthesis,
      stream,
      nextMark: () => `briefing-${++this.#marks}`,
      language,
      nowMs: () => clock.monotonicMs(),
      onStarted: () => undefined,
      onFirstSamples: () => undefined,
      onFailure: (error) => {
        this.#hasFailed = true;
        onError(error, 'transfer target not told: speech synthesis failed');
      },
    });
    this.#speech = speech;
    for (const text of texts) speech.say(text);
    speech.finish();
    const ended = await speech.playout.ended;
    if (this.#isClosed || ended !== 'played') return;
    if (this.#hasFailed && speech.heardMs() === 0) return stream.close(INTERNAL_ERROR, 'no speech');
    if (this.#acceptBy === 'answer') return stream.command({ kind: 'briefing', outcome: 'told' });
    this.#again = clock.setTimer(() => {
      const { question = '' } = this.#announcement;
      void this.#speak([question]);
    }, ASK_AGAIN_MS);
  }

  #onWords(text: string): void {
    const accepts = consentOf(text, this.#deps.language);
    if (accepts === undefined || this.#isClosed) return;
    this.#again?.cancel();
    this.#speech?.stop();
    this.#deps.stream.command({ kind: 'briefing', outcome: accepts ? 'accepted' : 'refused' });
  }
}
