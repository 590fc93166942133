/** Speech that was made before, by what was said how. */
export interface SpeechCache {
  get(key: string): Int16Array | undefined;
  /** Keeps it, and lets go of what was unused for the longest time. What is larger than a tenth of all is not kept. */
  set(key: string, samples: Int16Array): void;
  readonly sizeBytes: number;
}

/** Half an hour of telephone speech. */
const DEFAULT_MAX_BYTES = 32 * 1024 * 1024;

export function createSpeechCache(maxBytes = DEFAULT_MAX_BYTES): SpeechCache {
  // A map keeps its keys in the order of their insertion: a use takes one out and puts it at the end.
  const kept = new Map<string, Int16Array>();
  let sizeBytes = 0;
  const drop = (key: string) => {
    sizeBytes -= kept.get(key)?.byteLength ?? 0;
    kept.delete(key);
  };
  return {
    get sizeBytes() {
      return sizeBytes;
    },
    get(key) {
      const samples = kept.get(key);
      if (!samples) return undefined;
      kept.delete(key);
      kept.set(key, samples);
      return samples;
    },
    set(key, samples) {
      drop(key);
      if (samples.byteLength > maxBytes / 10) return;
      kept.set(key, samples);
      sizeBytes += samples.byteLength;
      for (const oldest of kept.keys()) {
        if (sizeBytes <= maxBytes) break;
        drop(oldest);
      }
    },
  };
}
