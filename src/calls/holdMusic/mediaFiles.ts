import { readFile } from 'node:fs/promises';

import { LRUCache } from 'lru-cache';
import type { HoldMusicChoice } from '../../agents/transferOptions.ts';
import type { DocumentFiles } from '../../knowledge/files.ts';
import { toMusicClip } from '../../media/musicClip.ts';
import { writePcm16 } from '../../media/pcm16.ts';
import { MUSIC_RATE_HZ, type MusicSource } from '../../media/session/holdMusic.ts';
import { parseWav, wavHeader } from '../../media/wav.ts';
import type { MediaFileStore } from './mediaFile.ts';

export interface MediaFilesDeps {
  readonly store: MediaFileStore;
  readonly files: DocumentFiles;
  readonly makeId: () => string;
  readonly onError: (error: unknown, what: string) => void;
}

/** The size of the cache, about an hour of music. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** The audio files of projects: takes uploads, and reads them for callers who wait. */
export class MediaFiles {
  readonly #deps: MediaFilesDeps;
  /** The clips by file key. The media threads share the samples. */
  readonly #clips = new LRUCache<string, Int16Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength,
  });

  constructor(deps: MediaFilesDeps) {
    this.#deps = deps;
  }

  /**
   * Stores an upload as it will be played.
   *
   * @throws {CallwayError} 400 `wav_invalid`; then nothing is stored.
   */
  async receive(bytes: Uint8Array): Promise<{ readonly fileKey: string; readonly durationMs: number }> {
    const clip = await toMusicClip(bytes);
    const { makeId, files } = this.#deps;
    const fileKey = `media/${makeId()}`;
    const data = writePcm16(clip);
    const header = wavHeader({ sampleRateHz: MUSIC_RATE_HZ, channels: 1 }, data.length);
    await files.write(fileKey, piecesOf(header, data));
    return { fileKey, durationMs: Math.round((clip.length * 1000) / MUSIC_RATE_HZ) };
  }

  /** Removes an upload that is not kept. Never fails. */
  async discard(fileKey: string): Promise<void> {
    const { files, onError } = this.#deps;
    await files.remove(fileKey).catch((error: unknown) => onError(error, 'rejected media file not removed'));
  }

  /** @returns Undefined for no music; the built-in music when the file cannot be read. */
  async music(projectId: string, choice: HoldMusicChoice): Promise<MusicSource | undefined> {
    if (choice === 'none') return undefined;
    if (choice === 'default') return { kind: 'default' };
    try {
      const file = await this.#deps.store.find(projectId, choice.mediaId);
      if (!file) throw new Error(`the project has no media file ${choice.mediaId}`);
      return { kind: 'clip', samples: await this.#read(file.fileKey) };
    } catch (error) {
      this.#deps.onError(error, 'hold music not read, the built-in one is played');
      return { kind: 'default' };
    }
  }

  async #read(fileKey: string): Promise<Int16Array> {
    const known = this.#clips.get(fileKey);
    if (known) return known;
    const { path, release } = await this.#deps.files.checkOut(fileKey);
    try {
      const { samples } = parseWav(await readFile(path));
      const shared = new Int16Array(new SharedArrayBuffer(samples.byteLength));
      shared.set(samples);
      this.#clips.set(fileKey, shared);
      return shared;
    } finally {
      await release();
    }
  }
}

async function* piecesOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}
