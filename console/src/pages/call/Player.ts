import { useSyncExternalStore } from 'react';

/** How exactly listeners are told of the position while it plays. */
const STEP_MS = 100;

/**
 * The place on the time line that is shown and heard. Places are on the axis; where there is no recording, it is only
 * shown.
 */
export class Player {
  readonly audio: HTMLAudioElement | undefined;
  readonly #span: { readonly fromMs: number; readonly lengthMs: number } | undefined;
  readonly #listeners = new Set<() => void>();
  #positionMs: number;
  #frame = 0;

  /** @param url - Of the recording. @param span - Where it lies on the axis. @param positionMs - To begin with. */
  constructor(url: string, span: { fromMs: number; lengthMs: number } | undefined, positionMs: number) {
    this.#span = span;
    this.#positionMs = positionMs;
    if (!span) return;
    const audio = new Audio();
    audio.preload = 'metadata';
    audio.src = url;
    audio.addEventListener('play', this.#follow);
    audio.addEventListener('pause', this.#tell);
    audio.addEventListener('seeked', this.#tell);
    this.audio = audio;
    this.seek(positionMs);
  }

  get positionMs(): number {
    return this.#positionMs;
  }

  get isPlaying(): boolean {
    return this.audio !== undefined && !this.audio.paused;
  }

  seek(positionMs: number): void {
    this.#positionMs = Math.max(0, positionMs);
    if (this.audio && this.#span)
      this.audio.currentTime = clamp(this.#positionMs - this.#span.fromMs, this.#span.lengthMs) / 1000;
    this.#tell();
  }

  /** Shows and plays it from there. */
  playFrom(positionMs: number): void {
    this.seek(positionMs);
    void this.audio?.play().catch(() => undefined);
  }

  toggle(): void {
    if (this.isPlaying) this.audio?.pause();
    else void this.audio?.play().catch(() => undefined);
  }

  /** To be called when the page is left. */
  close(): void {
    cancelAnimationFrame(this.#frame);
    this.audio?.pause();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly #tell = (): void => {
    for (const listener of this.#listeners) listener();
  };

  readonly #follow = (): void => {
    cancelAnimationFrame(this.#frame);
    if (!this.audio || !this.#span) return;
    this.#positionMs = this.#span.fromMs + this.audio.currentTime * 1000;
    this.#tell();
    if (this.isPlaying) this.#frame = requestAnimationFrame(this.#follow);
  };
}

/** The player's position, in steps. */
export function usePosition(player: Player): number {
  return useSyncExternalStore(player.subscribe, () => Math.floor(player.positionMs / STEP_MS) * STEP_MS);
}

export function useIsPlaying(player: Player): boolean {
  return useSyncExternalStore(player.subscribe, () => player.isPlaying);
}

function clamp(value: number, max: number): number {
  return Math.min(max, Math.max(0, value));
}
