import type { ChatEvent, SpokenAnswer } from '../../models/ports/chatModel.ts';
import { ModelError } from '../../models/ports/modelError.ts';
import type { SpeechToSpeech, SpeechToSpeechEvent } from '../../models/ports/speechToSpeech.ts';

/** The longest speech of one answer: a server that sends more has failed, or tries to fill the memory. */
const MAX_SPEECH_MS = 180_000;
const MAX_CHARACTERS = 20_000;
const MAX_CALLS = 32;

type AnswerEvent = Exclude<
  SpeechToSpeechEvent,
  { readonly type: 'connected' | 'transcript' | 'transcript_lost' | 'usage' | 'failed' }
>;

export interface EngineAnswerDeps {
  readonly engine: SpeechToSpeech;
  readonly truncate: (speechId: string, heardMs: number) => void;
}

/** One answer of a speech-to-speech model, as a chat model tells it: its samples go to the playout. */
export class EngineAnswer {
  readonly #deps: EngineAnswerDeps;
  readonly #events: ChatEvent[] = [];
  #speech: ModelSpeech | undefined;
  #calls = 0;
  #speechMs = 0;
  #characters = 0;
  #outcome: 'done' | { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: EngineAnswerDeps) {
    this.#deps = deps;
  }

  get isOver(): boolean {
    return this.#outcome !== undefined;
  }

  /** @throws {ModelError} When the answer is too long. */
  take(event: AnswerEvent): void {
    if (this.isOver) return;
    this.#count(event);
    switch (event.type) {
      case 'speech':
        this.#speechOf(event.speechId).push(event.samples);
        break;
      case 'text':
        if (event.speechId !== undefined) this.#speechOf(event.speechId);
        this.#events.push({
          type: 'text',
          text: event.text,
          isSpoken: event.speechId === undefined ? undefined : true,
        });
        break;
      case 'tool_call':
        this.#events.push({ type: 'tool_call', index: this.#calls - 1, ...event.call });
        break;
      case 'done': {
        const finishReason = this.#calls > 0 ? 'tool_calls' : 'stop';
        const { engine } = this.#deps;
        this.#events.push({
          type: 'end',
          finishReason,
          model: engine.model,
          usage: event.usage,
          isCounted: true,
        });
        this.#end('done');
      }
    }
    this.#wake();
  }

  /** Fails the answer; what was said is still played. */
  fail(error: ModelError | Error): void {
    if (!this.isOver) this.#end({ error });
  }

  async *events(): AsyncGenerator<ChatEvent, void> {
    for (;;) {
      const event = this.#events.shift();
      if (event) yield event;
      else if (this.#outcome === 'done') return;
      else if (this.#outcome) throw this.#outcome.error;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #end(outcome: 'done' | { readonly error: unknown }): void {
    this.#outcome = outcome;
    this.#speech?.end();
    this.#wake();
  }

  #count(event: AnswerEvent): void {
    const { name, sampleRateHz } = this.#deps.engine;
    if (event.type === 'speech') this.#speechMs += (event.samples.length * 1000) / sampleRateHz;
    if (event.type === 'text') this.#characters += event.text.length;
    if (event.type === 'tool_call') this.#calls += 1;
    if (this.#speechMs <= MAX_SPEECH_MS && this.#characters <= MAX_CHARACTERS && this.#calls <= MAX_CALLS)
      return;
    throw new ModelError('model_malformed', `${name} answers without an end`);
  }

  #speechOf(id: string): ModelSpeech {
    if (this.#speech?.id === id) return this.#speech;
    this.#speech?.end();
    const { engine, truncate } = this.#deps;
    const speech = new ModelSpeech(id, engine, (heardMs) => truncate(id, heardMs));
    this.#speech = speech;
    this.#events.push({ type: 'speech', speech });
    return speech;
  }
}

/** One speech of the model, which comes faster than it is played. */
class ModelSpeech implements SpokenAnswer {
  readonly id: string;
  readonly provider: string;
  readonly sampleRateHz: SpokenAnswer['sampleRateHz'];
  readonly truncate: (heardMs: number) => void;
  readonly #pieces: Int16Array[] = [];
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(
    id: string,
    { name, sampleRateHz }: EngineAnswerDeps['engine'],
    truncate: (heardMs: number) => void,
  ) {
    this.id = id;
    this.provider = name;
    this.sampleRateHz = sampleRateHz;
    this.truncate = truncate;
  }

  push(samples: Int16Array): void {
    this.#pieces.push(samples);
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *samples(signal: AbortSignal): AsyncGenerator<Int16Array, void> {
    const abort = () => this.#wake();
    signal.addEventListener('abort', abort);
    try {
      while (!signal.aborted) {
        const piece = this.#pieces.shift();
        if (piece) yield piece;
        else if (this.#isEnded) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}
