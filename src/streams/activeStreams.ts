import type { Clock } from '../base/clock.ts';
import type { AudioStream } from '../voice/audioStream.ts';

/** The other side is to connect again, elsewhere. @see RFC 6455 section 7.4.1, and its registry: service restart */
const SERVICE_RESTART = 1012;

export interface ActiveStreamsDeps {
  readonly clock: Clock;
  /** Talks over a stream until it closes, or closes it. */
  readonly talk: (stream: AudioStream) => Promise<unknown>;
  /** The number of streams is another. */
  readonly onChange: () => void;
}

/** The streams that this node talks on. */
export interface ActiveStreams {
  readonly active: number;
  /** Resolves when its talk is over. */
  serve(stream: AudioStream): Promise<void>;
  /** Resolves when no stream is left; those that are after `graceMs` are told to connect elsewhere. Idempotent. */
  drain(graceMs: number): Promise<void>;
}

export function createActiveStreams({ clock, talk, onChange }: ActiveStreamsDeps): ActiveStreams {
  const live = new Map<AudioStream, Promise<unknown>>();
  let draining: Promise<void> | undefined;

  const all = async (): Promise<void> => {
    while (live.size > 0) await Promise.allSettled(live.values());
  };
  const drain = async (graceMs: number): Promise<void> => {
    const timer = clock.setTimer(() => {
      for (const stream of live.keys()) stream.close(SERVICE_RESTART, 'this node stops');
    }, graceMs);
    await all();
    timer.cancel();
  };

  return {
    get active() {
      return live.size;
    },
    async serve(stream) {
      const talking = talk(stream);
      live.set(stream, talking);
      onChange();
      try {
        await talking;
      } finally {
        live.delete(stream);
        onChange();
      }
    },
    drain(graceMs) {
      draining ??= drain(graceMs);
      return draining;
    },
  };
}
