import { isDeepStrictEqual } from 'node:util';
import { omitUndefined } from '../../base/values/omitUndefined.ts';
import type {
  StreamingTextToSpeech,
  SynthesisConnection,
  SynthesisEvent,
  SynthesisStream,
} from '../ports/streamingTextToSpeech.ts';
import type { SpokenVoice } from '../ports/textToSpeech.ts';
import type { TextToSpeechOptions } from '../providerOptions.ts';
import { createDial } from '../sockets/dial.ts';
import type { SynthesisProtocol } from './protocol.ts';
import { SynthesisLine, type SynthesisLineDeps } from './synthesisLine.ts';

/** Audio of a cancelled text is on its way this long. */
const IN_FLIGHT_MS = 250;
/** A text that was cancelled after this long without an event may have been written to a connection that is dead. */
const SILENT_MS = 1000;
/** An idle connection that held this long is made again when the vendor closes it. */
const MIN_LIFE_MS = 10_000;

const ignore = () => undefined;
/** The stream of a connection that is closed. */
const SILENCE: SynthesisStream = {
  write: ignore,
  end: ignore,
  pause: ignore,
  resume: ignore,
  cancel: ignore,
};

/** The dependencies of vendors' synthesizers. The voice is used for texts that name none. */
export interface VendorSynthesizerDeps extends SynthesisLineDeps {
  /** The vendor's address, `https:` or `http:`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly voice?: string | undefined;
  /** The vendor's own options. */
  readonly options?: unknown;
}

/** @param baseUrl - The vendor's own address. */
export function vendorSynthesizerDeps(
  { credentials, model, voice, options, clock, guard }: TextToSpeechOptions,
  baseUrl: string,
): VendorSynthesizerDeps {
  return { baseUrl, ...omitUndefined(credentials), model, voice, options, clock, dial: createDial(guard) };
}

/** Streaming synthesis over a vendor's WebSocket. A lost connection is made again with the next text. */
export function createSocketSynthesizer(
  protocol: SynthesisProtocol,
  deps: SynthesisLineDeps,
): StreamingTextToSpeech {
  const connections = new Set<Connection>();
  return {
    name: protocol.name,
    sampleRateHz: protocol.sampleRateHz,
    connect(voice = {}) {
      const connection = new Connection(protocol, deps, () => connections.delete(connection));
      connections.add(connection);
      connection.prepare(voice);
      return connection;
    },
    async close() {
      for (const connection of connections) connection.close();
    },
  };
}

/**
 * The texts of one call. They share a WebSocket where they can. Voices of another address, and texts beside one that is
 * paused, have their own WebSocket until everything on it was spoken.
 */
class Connection implements SynthesisConnection {
  readonly #protocol: SynthesisProtocol;
  readonly #deps: SynthesisLineDeps;
  readonly #onClosed: () => void;
  readonly #lines = new Set<SynthesisLine>();
  #texts = 0;
  #isClosed = false;

  constructor(protocol: SynthesisProtocol, deps: SynthesisLineDeps, onClosed: () => void) {
    this.#protocol = protocol;
    this.#deps = deps;
    this.#onClosed = onClosed;
  }

  /** Connects for a voice. */
  prepare(voice: SpokenVoice): SynthesisLine {
    const line = new SynthesisLine(this.#protocol, this.#protocol.target(voice), this.#deps, () =>
      this.#onLost(line, voice),
    );
    this.#lines.add(line);
    return line;
  }

  speak(voice: SpokenVoice, onEvent: (event: SynthesisEvent) => void): SynthesisStream {
    if (this.#isClosed) return SILENCE;
    this.#texts += 1;
    const id = `text-${this.#texts}`;
    const line = this.#lineFor(voice);
    const startedMs = this.#deps.clock.monotonicMs();
    let isSilent = true;
    line.begin(id, voice, (event) => {
      isSilent = false;
      onEvent(event);
    });
    return {
      write: (text) => line.write(id, text),
      end: () => line.end(id),
      pause: () => line.setPaused(id, true),
      resume: () => line.setPaused(id, false),
      cancel: () => {
        const isOpen = line.cancel(id);
        const waitedMs = this.#deps.clock.monotonicMs() - startedMs;
        if (isOpen && isSilent && waitedMs > SILENT_MS) this.#leave(line);
      },
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const line of this.#lines) line.close();
    this.#lines.clear();
    this.#onClosed();
  }

  /** Leaves the lines that have nothing to speak and do not fit. */
  #lineFor(voice: SpokenVoice): SynthesisLine {
    const target = this.#protocol.target(voice);
    const lines = [...this.#lines];
    const line = lines.find((one) => isDeepStrictEqual(one.target, target) && this.#isFree(one));
    for (const one of lines) if (one !== line && one.texts === 0) this.#leave(one);
    return line ?? this.prepare(voice);
  }

  #isFree(line: SynthesisLine): boolean {
    const { maxTexts, namesAudio } = this.#protocol;
    if (line.load >= maxTexts || line.isPaused) return false;
    // Audio without a name that is still on its way would be taken for that of the next text.
    return namesAudio || this.#deps.clock.monotonicMs() - line.cancelledAtMs >= IN_FLIGHT_MS;
  }

  /** The next text connects again; a vendor that only ends idle connections is connected at once. */
  #onLost(line: SynthesisLine, voice: SpokenVoice): void {
    this.#lines.delete(line);
    const isIdleEnd = line.texts === 0 && line.ageMs >= MIN_LIFE_MS;
    if (isIdleEnd && this.#lines.size === 0 && !this.#isClosed) this.prepare(voice);
  }

  #leave(line: SynthesisLine): void {
    this.#lines.delete(line);
    line.close();
  }
}
