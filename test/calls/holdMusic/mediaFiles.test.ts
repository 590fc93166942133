import { describe, expect, test } from 'vitest';
import type { MediaFileStore } from '../../../src/calls/holdMusic/mediaFile.ts';
import { MediaFiles } from '../../../src/calls/holdMusic/mediaFiles.ts';
import { localDocuments } from '../../../src/infra/objectStore/documents/localDocuments.ts';
import { toMusicClip } from '../../../src/media/musicClip.ts';
import { wavHeader } from '../../../src/media/wav.ts';
import { tone, tonePower } from '../../media/support/signals.ts';
import { tempDir } from '../../support/tempDir.ts';
import { unused } from '../../support/unused.ts';

/** A tone of one second. */
function wavOf(sampleRateHz: number, channels: 1 | 2 = 1, seconds = 1): Buffer {
  const mono = tone(sampleRateHz, 600, Math.round(sampleRateHz * seconds));
  const samples =
    channels === 1 ? mono : Int16Array.from({ length: 2 * mono.length }, (_, n) => mono[n >> 1] ?? 0);
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ sampleRateHz, channels }, data.length), data]);
}

describe('A WAV file becomes music', () => {
  test.each([
    [8000, 1],
    [16_000, 1],
    [44_100, 2],
    [48_000, 2],
    [11_025, 1],
  ] as const)('from %i Hz with %i channels', async (rateHz, channels) => {
    const clip = await toMusicClip(wavOf(rateHz, channels));
    expect(Math.abs(clip.length - 8000)).toBeLessThan(40);
    const expected = tonePower(tone(8000, 600, 4000), 8000, 600);
    expect(tonePower(clip.subarray(2000, 6000), 8000, 600) / expected).toBeGreaterThan(0.8);
  });

  test.each([
    ['no WAV file', Buffer.from('MP3 of a song'), 'not a WAV file'],
    ['an empty one', wavOf(8000, 1, 0), 'shorter than 100 ms'],
    ['one at a rate that nobody needs', wavOf(96_000), 'sample rate of 96000 Hz'],
    ['one that says it has no rate', wavHeader({ sampleRateHz: 0, channels: 1 }, 0), 'sample rate of 0 Hz'],
  ])('but not from %s', async (_what, bytes, message) => {
    await expect(toMusicClip(bytes)).rejects.toThrow(message);
  });
});

describe('Hold music', () => {
  async function makeFiles() {
    const errors: unknown[] = [];
    const known = new Map<string, string>();
    const store: Pick<MediaFileStore, 'find'> = {
      async find(_project, id) {
        const fileKey = known.get(id);
        return fileKey === undefined
          ? undefined
          : { id, name: '', bytes: 1, durationMs: 1, createdAt: '', fileKey };
      },
    };
    const files = new MediaFiles({
      store: unused<MediaFileStore>('store', store),
      files: localDocuments(tempDir()),
      makeId: () => 'one',
      onError: (error) => errors.push(error),
    });
    return { files, known, errors };
  }

  test('is a file of the project by its mediaId, shared by all calls that play it', async () => {
    const { files, known, errors } = await makeFiles();
    const { fileKey, durationMs } = await files.receive(wavOf(16_000));
    known.set('song', fileKey);
    const music = await files.music('project', { mediaId: 'song' });
    expect(music).toEqual(await files.music('project', { mediaId: 'song' }));
    expect(music?.kind === 'clip' && music.samples.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect([durationMs, errors]).toEqual([1000, []]);
  });

  test('is the built-in one in place of a file that is gone', async () => {
    const { files, errors } = await makeFiles();
    expect(await files.music('project', { mediaId: 'song' })).toEqual({ kind: 'default' });
    expect(errors).toHaveLength(1);
  });

  test('may be none', async () => {
    const { files } = await makeFiles();
    expect(await files.music('project', 'none')).toBeUndefined();
  });
});
