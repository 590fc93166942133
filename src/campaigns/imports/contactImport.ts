import { z } from 'zod';

import type { Page, PageOf } from '../../base/values/page.ts';
import { SKIP_REASONS } from '../contact.ts';

/** Errors of an import that its resource shows. The file of errors has all of them. */
export const MAX_SHOWN_ERRORS = 1_000;

const IMPORT_STATUSES = ['running', 'done', 'failed'] as const;

const header = z.string().trim().min(1).max(1_000);

/** The columns of a file by their headers. */
export const contactMapping = z.strictObject({
  toNumber: header,
  timezone: header.optional(),
  externalId: header.optional(),
  notBefore: header.optional(),
});
export type ContactMapping = z.infer<typeof contactMapping>;

const importError = z.object({
  row: z.int().describe('From 1, after the header.'),
  code: z.enum(SKIP_REASONS),
  message: z.string(),
});
export type ImportError = z.infer<typeof importError>;

/** An import in lists of the API, which leave out its errors. */
export const listedImport = z
  .object({
    id: z.uuid(),
    campaignId: z.uuid().optional().describe('Absent for an import into a do-not-call list.'),
    status: z.enum(IMPORT_STATUSES),
    reason: z.string().optional().describe('Why it failed. Rows that were accepted before stay.'),
    rows: z.int().describe('Rows that were read so far, without the header.'),
    accepted: z.int(),
    skipped: z.int(),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'ListedContactImport' });

/** An import in the API. */
export const importResource = listedImport
  .extend({
    errors: z.array(importError).describe(`Why rows were skipped: the first ${MAX_SHOWN_ERRORS}.`),
  })
  .meta({ id: 'ContactImport' });

/** A file that is to be read into a campaign or into a do-not-call list. */
interface NewImport {
  readonly id: string;
  /** Null for the installation's do-not-call list. */
  readonly projectId: string | null;
  /** Null for a do-not-call list. */
  readonly campaignId: string | null;
  readonly fileKey: string;
  readonly fileType: 'csv' | 'xlsx';
  readonly mapping: ContactMapping;
  readonly createdAt: string;
}

/** An import with its progress. */
export interface ContactImport extends NewImport {
  readonly status: (typeof IMPORT_STATUSES)[number];
  readonly reason: string | null;
  readonly rows: number;
  readonly accepted: number;
  readonly skipped: number;
  readonly endedAt: string | null;
}

/** An import that is to be continued. */
export interface ImportTask extends ContactImport {
  /** How often it was begun since the last row that was read. */
  readonly attempts: number;
  /** Since when nodes have looked for its file, ISO 8601; null while the last one has found it. */
  readonly missingSince: string | null;
}

/** What became of rows that were read together. */
interface ImportStep {
  /** Rows that were read before. */
  readonly before: number;
  readonly rows: number;
  readonly errors: readonly ImportError[];
}

export interface ContactImportStore {
  /** Stores a running import, which is due at once. */
  insert(one: NewImport): Promise<void>;
  find(projectId: string | null, id: string): Promise<ContactImport | undefined>;
  /** Lists the imports into a campaign, newest first. */
  list(campaignId: string, page: Page): Promise<PageOf<ContactImport>>;
  /** Lists errors by row. @param after - The last row that is left out. */
  errors(id: string, after: number, limit: number): Promise<ImportError[]>;
  /** Counts an attempt. @returns Undefined when it has ended, or there is none. */
  begin(id: string): Promise<ImportTask | undefined>;
  /** Takes an attempt back that the node's stop has ended, or that has not found the file. @param missingSince - Then. */
  undoAttempt(id: string, missingSince: string | null): Promise<void>;
  /** Counts rows, in the transaction that takes them. @returns False when it has ended, or others have counted them. */
  advance(id: string, step: ImportStep): Promise<boolean>;
  /** Ends a running import, whose file is then removed. @param reason - Why it failed; null when it is done. */
  end(id: string, reason: string | null, at: string): Promise<void>;
}
