import { z } from 'zod';
import { milliseconds } from '../../base/validation.ts';
import type { Page, PageOf } from '../../base/values/page.ts';

export const MAX_MEDIA_BYTES = 10 * 1024 * 1024;

/** A project's audio file in the API. */
export const mediaFile = z
  .object({
    id: z.uuid(),
    name: z.string(),
    bytes: z.int().describe('Of the upload.'),
    durationMs: milliseconds,
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'MediaFile' });

export type MediaFile = z.infer<typeof mediaFile>;

export interface MediaFileStore {
  insert(projectId: string, file: MediaFile, fileKey: string): Promise<void>;
  find(projectId: string, id: string): Promise<(MediaFile & { readonly fileKey: string }) | undefined>;
  /** Lists the files, oldest first. */
  list(projectId: string, page: Page): Promise<PageOf<MediaFile>>;
  /** Removes a media file; its bytes are removed later. @returns True when there was one. */
  remove(projectId: string, id: string): Promise<boolean>;
}
