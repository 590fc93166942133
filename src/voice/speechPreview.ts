import { LRUCache } from 'lru-cache';
import type { UsageCounter } from '../agents/accounts/usage.ts';
import type { SpeechConfig } from '../agents/speech/speechConfig.ts';
import { limitConcurrency } from '../base/async/limitConcurrency.ts';
import { linkAbort } from '../base/async/linkedAbort.ts';
import { createWatchdog } from '../base/async/watchdog.ts';
import { CallwayError, invalid } from '../base/errors.ts';
import type { Clock } from '../base/values/clock.ts';
import { isSpoken } from '../conversation/speech/editedText.ts';
import { estimatedMs, spokenRequest } from '../conversation/speech/spokenText.ts';
import { concatenated } from '../media/pcm16.ts';
import { ModelError } from '../models/ports/modelError.ts';
import type { SynthesisRequest, TextToSpeech } from '../models/ports/textToSpeech.ts';
import type { SpeechProviders } from '../models/selection/callProviders.ts';
import { forWholeTexts } from '../models/synthesis/wholeTexts.ts';

/** A minute of speech. */
export const MAX_PREVIEW_CHARACTERS = 1000;
/** The longest text after its pronunciations are applied. */
const MAX_SAID_CHARACTERS = 2 * MAX_PREVIEW_CHARACTERS;
/** A whole preview is kept in memory until it is sent. */
const PREVIEWS_AT_ONCE = 4;
const PREVIEWS_OF_A_PROJECT_AT_ONCE = 2;
const MAX_WAITING_OF_A_PROJECT = 8;
const MAX_WAITING = 1000;
const MAX_PROJECTS = 10_000;
/** The timeout of the first sound, and between two. */
const SILENCE_TIMEOUT_MS = 10_000;
/** The timeout of the whole preview: a server that sends little at a time holds a place that others wait for. */
const TOTAL_TIMEOUT_MS = 60_000;
/** Speech that is longer than this many times its estimate, and some seconds, is noise. */
const MAX_STRETCH = 2;
const MAX_EXTRA_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

export interface SpeechPreviewDeps {
  readonly providers: SpeechProviders;
  readonly usage: UsageCounter;
  /** @throws {CallwayError} 429 `quota_exceeded` */
  readonly requireCharacters: (projectId: string) => Promise<void>;
  readonly clock: Clock;
}

/** How it is said. */
export interface PreviewVoice extends Pick<SpeechConfig, 'synthesis' | 'pronunciations'> {
  readonly language?: string | undefined;
}

export interface SpokenPreview {
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

type Limit = ReturnType<typeof limitConcurrency>;

/** Says a text as a call would, apart from any call. */
export class SpeechPreview {
  readonly #deps: SpeechPreviewDeps;
  readonly #limit = limitConcurrency({ running: PREVIEWS_AT_ONCE, waiting: MAX_WAITING, full: tooMany });
  readonly #limits = new LRUCache<string, Limit>({ max: MAX_PROJECTS });

  constructor(deps: SpeechPreviewDeps) {
    this.#deps = deps;
  }

  /**
   * Speaks with the first provider that the configuration names: a preview in another voice would be none.
   *
   * @throws {CallwayError} 400 `nothing_to_say`, `text_too_long`, 422 `speech_rejected`, 503 `speech_unavailable`, 429 `project_busy`,
   *   `quota_exceeded`; or the signal's reason.
   */
  async say(
    projectId: string,
    text: string,
    { synthesis, pronunciations, language }: PreviewVoice,
    signal: AbortSignal,
  ): Promise<SpokenPreview> {
    const voice = { language, speed: synthesis?.speed, pronunciations };
    const request = spokenRequest(text, voice);
    if (!isSpoken(request.text)) throw refused('nothing_to_say', 'text has nothing that can be said');
    if (request.text.length > MAX_SAID_CHARACTERS)
      throw refused('text_too_long', `text is longer than ${MAX_SAID_CHARACTERS} characters as it is said`);
    await this.#deps.requireCharacters(projectId);
    const preview = await this.#limitOf(projectId)(() =>
      this.#limit(() => {
        signal.throwIfAborted();
        return this.#say(projectId, request, synthesis, signal);
      }),
    );
    this.#deps.usage.add(projectId, { characters: text.length });
    return preview;
  }

  async #say(
    projectId: string,
    request: SynthesisRequest,
    synthesis: SpeechConfig['synthesis'],
    signal: AbortSignal,
  ): Promise<SpokenPreview> {
    const call = this.#deps.providers.open(
      projectId,
      () => undefined,
      () => undefined,
    );
    try {
      const [vendor] = await call.synthesizers({ synthesis });
      if (!vendor) throw new ModelError('model_rejected', 'no speech provider');
      const voice = forWholeTexts(vendor.model);
      const { sampleRateHz } = voice;
      return { samples: await this.#synthesize(voice, request, signal), sampleRateHz };
    } catch (error) {
      throw error instanceof ModelError ? failure(error) : error;
    } finally {
      call.close();
    }
  }

  async #synthesize(
    voice: TextToSpeech,
    request: SynthesisRequest,
    signal: AbortSignal,
  ): Promise<Int16Array> {
    const abort = linkAbort(signal);
    const giveUp = (problem: string) =>
      abort.abort(new ModelError('model_unavailable', `${voice.name} ${problem}`));
    const silence = createWatchdog(this.#deps.clock, SILENCE_TIMEOUT_MS, () => giveUp('does not speak'));
    const total = this.#deps.clock.setTimer(() => giveUp('takes too long'), TOTAL_TIMEOUT_MS);
    const maxMs = MAX_STRETCH * estimatedMs(request.text, request.speed) + MAX_EXTRA_MS;
    const pieces: Int16Array[] = [];
    let samplesLeft = (maxMs * voice.sampleRateHz) / 1000;
    try {
      silence.start();
      for await (const samples of voice.synthesize(request, abort.signal)) {
        silence.start();
        samplesLeft -= samples.length;
        if (samplesLeft < 0) throw new ModelError('model_malformed', `${voice.name} does not end`);
        pieces.push(samples);
      }
    } finally {
      silence.close();
      total.cancel();
      abort.unlink();
    }
    if (pieces.length === 0) throw new ModelError('model_malformed', `${voice.name} returned silence`);
    return concatenated(pieces);
  }

  #limitOf(projectId: string): Limit {
    const known = this.#limits.get(projectId);
    if (known) return known;
    const limit = limitConcurrency({
      running: PREVIEWS_OF_A_PROJECT_AT_ONCE,
      waiting: MAX_WAITING_OF_A_PROJECT,
      full: tooMany,
    });
    this.#limits.set(projectId, limit);
    return limit;
  }
}

/**
 * Turns a provider's refusal into an error that the user can fix; for other failures another attempt is the only
 * remedy.
 */
function failure(error: ModelError): CallwayError {
  const options = { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS };
  return error.code === 'model_rejected'
    ? new CallwayError('unprocessable', 'speech_rejected', error.message, { cause: error })
    : new CallwayError('unavailable', 'speech_unavailable', error.message, options);
}

function refused(code: string, message: string): CallwayError {
  return invalid(code, message, [{ path: '/text', message }]);
}

function tooMany(): CallwayError {
  const message = 'Too many previews of this project at once; wait for the others';
  return new CallwayError('rate_limited', 'project_busy', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
