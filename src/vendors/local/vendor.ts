import { z } from 'zod';
import { languageCodes, type Vendor } from '../../models/ports/vendor.ts';

const OPTIONS = z.strictObject({});
const ENGLISH = languageCodes('en');

export const local = {
  recognition: {
    options: () => OPTIONS,
    languages: () => ENGLISH,
    takesKeyterms: () => false,
    tellsLanguages: () => false,
  },
  synthesis: { options: OPTIONS, isMonolingual: true },
} satisfies Vendor;
