import type { MediaSession } from '../../media/mediaSession.ts';
import type { MusicSource } from '../../media/session/holdMusic.ts';

/** Plays one transfer's music to parties that wait. */
export class HoldMusicPlayer {
  readonly #load: () => Promise<MusicSource | undefined>;
  readonly #onError: (error: unknown, what: string) => void;
  readonly #listeners = new Set<MediaSession>();
  #source: Promise<MusicSource | undefined> | undefined;

  /** @param load - Called once; it returns undefined for no music. */
  constructor(load: () => Promise<MusicSource | undefined>, onError: (error: unknown, what: string) => void) {
    this.#load = load;
    this.#onError = onError;
  }

  /** Idempotent. */
  play(media: MediaSession): void {
    if (this.#listeners.has(media)) return;
    this.#listeners.add(media);
    void this.#start(media);
  }

  /** Idempotent. */
  stop(media: MediaSession): void {
    if (!this.#listeners.delete(media)) return;
    // A session that is closed plays nothing.
    media.stopMusic().catch(() => undefined);
  }

  async #start(media: MediaSession): Promise<void> {
    try {
      this.#source ??= this.#load();
      const source = await this.#source;
      if (source && this.#listeners.has(media)) await media.startMusic(source);
    } catch (error) {
      if (this.#listeners.has(media)) this.#onError(error, 'hold music not played');
    }
  }
}
