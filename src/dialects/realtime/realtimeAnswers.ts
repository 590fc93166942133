import type { PlayoutPosition } from '../../media/agentStream/streamClient.ts';
import { encodeBase64 } from '../wire/audio.ts';
import { streamResampler } from '../wire/streamResampler.ts';
import type { ConversationItems, SendEvent } from './conversationItems.ts';
import { RealtimePlayout } from './realtimePlayout.ts';
import { RealtimeResponse, type ResponseEnd } from './realtimeResponse.ts';
import type { RealtimeFormat, RealtimeSession } from './realtimeSession.ts';

/** Longer events are cut into several. */
const MAX_DELTA_MS = 400;

export interface RealtimeAnswersDeps {
  readonly items: ConversationItems;
  readonly send: SendEvent;
  readonly session: () => RealtimeSession;
  /** All audio before the mark was played. */
  readonly onPlayed: (mark: string) => void;
}

/** The agent's answers: each is a response, and one more when it goes on after it was stopped. */
export class RealtimeAnswers {
  readonly playout: RealtimePlayout;
  readonly #deps: RealtimeAnswersDeps;
  #sampleRateHz: RealtimeFormat['sampleRateHz'] = 24_000;
  #outputRateHz: number | undefined;
  #toOutputRate: (samples: Int16Array) => Int16Array = (samples) => samples;
  #response: RealtimeResponse | undefined;
  /** Whether an answer has come to its end. */
  hasAnswered = false;

  constructor(deps: RealtimeAnswersDeps) {
    this.#deps = deps;
    this.playout = new RealtimePlayout(deps.onPlayed);
  }

  set sampleRateHz(rateHz: RealtimeFormat['sampleRateHz']) {
    this.#sampleRateHz = rateHz;
  }

  /** The id of the response in progress, which it is until it was heard. */
  get activeId(): string | undefined {
    return this.#response?.id;
  }

  play(samples: Int16Array): void {
    const { output, modality } = this.#deps.session();
    // Where no audio is sent, marks are answered at once.
    if (modality === 'text') return;
    const response = this.#open();
    if (output.sampleRateHz !== this.#outputRateHz) {
      this.#outputRateHz = output.sampleRateHz;
      this.#toOutputRate = streamResampler(this.#sampleRateHz, output.sampleRateHz);
    }
    const chunk = (this.#sampleRateHz * MAX_DELTA_MS) / 1000;
    for (let start = 0; start < samples.length; start += chunk) {
      const part = this.#toOutputRate(samples.subarray(start, start + chunk));
      if (part.length > 0) response.audio(encodeBase64(output.encoding, part));
    }
    this.playout.queue(response.itemId, samples.length);
  }

  /** @param text - What was heard of the answer; its last one once it is final. */
  show(text: string, isFinal: boolean): void {
    const isText = this.#deps.session().modality === 'text';
    // Of an answer that was stopped, no more is shown.
    const response = isText ? this.#open() : this.#response;
    response?.showText(text);
    if (isFinal) this.end('completed');
  }

  end(how: ResponseEnd): void {
    if (!this.#response) return;
    this.#response.end(how);
    this.#response = undefined;
    this.hasAnswered = true;
  }

  /** @returns The position at which so much of an item was played; undefined when it has less audio, or none. */
  positionIn(itemId: string, ms: number): PlayoutPosition | undefined {
    return this.playout.positionIn(itemId, Math.round((ms * this.#sampleRateHz) / 1000));
  }

  #open(): RealtimeResponse {
    const { session, items, send } = this.#deps;
    this.#response ??= new RealtimeResponse(session(), items, send);
    return this.#response;
  }
}
