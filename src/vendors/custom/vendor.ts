import { z } from 'zod';
import type { Vendor } from '../../models/ports/vendor.ts';

/** A server of one's own has its own options. */
const OPTIONS = z.record(z.string(), z.unknown());

export const custom = {
  recognition: { options: () => OPTIONS },
  synthesis: { options: OPTIONS },
} satisfies Vendor;
