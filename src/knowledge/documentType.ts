/** Supported document types and their media types. */
export const DOCUMENT_TYPES = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  html: 'text/html',
  mail: 'message/rfc822',
  json: 'application/json',
  csv: 'text/csv',
  markdown: 'text/markdown',
  text: 'text/plain',
} as const;

export type DocumentType = keyof typeof DOCUMENT_TYPES;

/** The names in messages to users. */
export const TYPE_NAMES: Readonly<Record<DocumentType, string>> = {
  pdf: 'a PDF',
  docx: 'a Word document (DOCX)',
  pptx: 'a presentation (PPTX)',
  xlsx: 'a spreadsheet (XLSX)',
  html: 'an HTML page',
  mail: 'a mail (EML or MHT)',
  json: 'JSON',
  csv: 'a CSV table',
  markdown: 'Markdown',
  text: 'plain text',
};

const BY_EXTENSION: Readonly<Record<string, DocumentType>> = {
  pdf: 'pdf',
  docx: 'docx',
  pptx: 'pptx',
  xlsx: 'xlsx',
  html: 'html',
  htm: 'html',
  eml: 'mail',
  mht: 'mail',
  mhtml: 'mail',
  json: 'json',
  csv: 'csv',
  tsv: 'csv',
  md: 'markdown',
  markdown: 'markdown',
  txt: 'text',
};

export function typeOfMime(mimeType: string): DocumentType | undefined {
  const found = Object.entries(DOCUMENT_TYPES).find(([, value]) => value === mimeType);
  return found?.[0] as DocumentType | undefined;
}

/** The type that a file's extension claims. */
export function typeOfName(name: string): DocumentType | undefined {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(BY_EXTENSION, extension)
    ? BY_EXTENSION[extension]
    : undefined;
}
