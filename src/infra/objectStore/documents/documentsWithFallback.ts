import type { DocumentFiles } from '../../../knowledge/files.ts';

/**
 * Files whose place was changed by the settings: new ones go to the new place, and what was kept before is still read
 * from the old one, and removed from it.
 */
export function documentsWithFallback(place: DocumentFiles, before: DocumentFiles): DocumentFiles {
  return {
    write: (key, source) => place.write(key, source),
    async checkOut(key) {
      try {
        return await place.checkOut(key);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        return await before.checkOut(key);
      }
    },
    async remove(key) {
      await Promise.all([place.remove(key), before.remove(key)]);
    },
  };
}
