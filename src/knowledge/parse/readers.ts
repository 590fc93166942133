import type { DocumentType } from '../documentType.ts';
import type { BlockReader } from './block.ts';
import type { RowReader } from './table.ts';

/** Parser libraries are large: only the one that the type needs is loaded. */
export const READERS: Readonly<Record<DocumentType, () => Promise<BlockReader>>> = {
  pdf: async () => (await import('./pdf/pdf.ts')).readPdf,
  docx: async () => (await import('./office/docx.ts')).readDocx,
  pptx: async () => (await import('./office/pptx.ts')).readPptx,
  xlsx: async () => (await import('./office/xlsx.ts')).readXlsx,
  html: async () => (await import('./html/html.ts')).readHtml,
  mail: async () => (await import('./mail.ts')).readMail,
  json: async () => (await import('./json.ts')).readJson,
  csv: async () => (await import('./csv.ts')).readCsv,
  markdown: async () => (await import('./plainText.ts')).readMarkdown,
  text: async () => (await import('./plainText.ts')).readPlainText,
};

/** Readers of tables whose rows are wanted as they are. */
export const ROW_READERS: Readonly<Record<'csv' | 'xlsx', () => Promise<RowReader>>> = {
  csv: async () => (await import('./csv.ts')).readCsvRows,
  xlsx: async () => (await import('./office/xlsx.ts')).readXlsxRows,
};
