import { expect, test } from 'vitest';

import type { DocumentType } from '../../../src/knowledge/documentType.ts';
import { createTypeDetector } from '../../../src/knowledge/intake/typeDetector.ts';
import { archive, makeCompoundFile, makeDocx, makePdf, makePptx, makeXlsx } from '../../support/documents.ts';

/** Pushes the bytes in chunks of this size. */
function typeOf(name: string, content: Uint8Array | string, pieceBytes = 7): DocumentType {
  const bytes = Buffer.from(content);
  const detector = createTypeDetector(name, 'dataset');
  for (let at = 0; at < bytes.length; at += pieceBytes) detector.push(bytes.subarray(at, at + pieceBytes));
  return detector.type();
}

const docx = makeDocx(['Text']);

test.each<[DocumentType, string, Uint8Array | string]>([
  ['pdf', 'a.pdf', makePdf([['x']])],
  ['pdf', 'a.txt', makePdf([['x']])],
  ['pdf', 'no name', Buffer.concat([Buffer.from('rubbish before\n'), makePdf([['x']])])],
  ['docx', 'a.docx', docx],
  ['docx', 'a', docx],
  ['docx', 'a.docx', Buffer.concat([docx, Buffer.alloc(60_000)])],
  ['docx', 'of Word on the web', archive({ 'word/document2.xml': '<a/>' })],
  ['pptx', 'a.pptx', makePptx([{ title: 'x', texts: [] }])],
  ['xlsx', 'a.xlsx', makeXlsx('x', [['y']])],
  ['docx', 'a.docx', archive({ 'word\\document.xml': '<a/>' })],
  ['xlsx', 'a', archive({ 'xl/workbook1.xml': '<a/>' })],
  ['mail', 'a.eml', 'Subject: x\r\n\r\nwords'],
  ['mail', 'a.mht', 'From: <Saved by Blink>\r\nMIME-Version: 1.0\r\n\r\n<html>'],
  ['mail', 'a', 'Received: by x\n\tfor y\nFrom: a@b.c\nMessage-ID: <x>\nSubject: =?utf-8?Q?x?=\n\nwords'],
  ['text', 'a.txt', 'From: Ann\nTo: Bo\nDate: Monday\n\nPlease note.'],
  ['text', 'a.eml', 'just words'],
  ['html', 'a.html', '<!DOCTYPE html><p>x'],
  ['html', 'a.txt', '<!-- made by hand -->\n<html><p>x'],
  ['html', 'a.html', 'x <b>y</b>'],
  ['json', 'a.json', '{"a": 1}'],
  ['json', 'a.txt', '[{"a": 1}]'],
  ['json', 'a.json', 'no json'],
  ['text', 'a.txt', '[note] this is no JSON'],
  ['csv', 'a.csv', 'one column'],
  ['csv', 'a', 'a,b\n1,2\n3,4\n5,6\n'],
  ['csv', 'a.txt', 'a;b;c\n1;2;3\n4;5;6\n7;8;9\n'],
  ['text', 'a.txt', 'In May, we open.\nIn June, we close.\nOn Monday, too.\nOn Sunday, never.\n'],
  ['text', 'a', 'In May, we open.\nIn June, we close.\nOn Monday, too.\nOn Sunday, never.\n'],
  ['text', 'a.txt', 'Tea 3,50 euros\nMilk 1,20 euros\nJam 4,10 euros\nHam 6,30 euros\n'],
  ['markdown', 'a.md', '# PDF\n\nSuch a file begins with %PDF-1.7.'],
  ['pdf', 'a.txt', `\ufeff\n${makePdf([['x']])}`],
  ['markdown', 'a.md', 'x'],
  ['markdown', 'a.txt', '# Title\n\ntext'],
  ['text', 'a.txt', 'just words, nothing else'],
  ['text', 'a.log', Buffer.from('\ufeffwords', 'utf16le')],
  ['text', 'a.txt', 'x'],
])('%s: %s', (type, name, content) => {
  expect(typeOf(name, content)).toBe(type);
  expect(typeOf(name, content, 65_536)).toBe(type);
});

test.each<[string, string, Uint8Array | string]>([
  ['dataset_empty', 'a.txt', ''],
  ['dataset_type_mismatch', 'a.pdf', 'this is a text'],
  ['dataset_type_mismatch', 'a.docx', makeXlsx('x', [['y']])],
  ['dataset_type_mismatch', 'a.pdf', '<!doctype html><p>Please log in'],
  ['dataset_encrypted', 'a.docx', makeCompoundFile('EncryptedPackage')],
  ['dataset_type_unsupported', 'a.doc', makeCompoundFile('WordDocument')],
  ['dataset_truncated', 'a.docx', docx.subarray(0, docx.length - 30)],
  ['dataset_truncated', 'a.docx', Buffer.concat([docx, Buffer.alloc(70_000)])],
  ['dataset_type_unsupported', 'a.rtf', '{\\rtf1\\ansi words}'],
  ['dataset_type_unsupported', 'a.txt', '{\\rtf1\\ansi words}'],
  ['dataset_type_unsupported', 'a.zip', archive({ 'a.txt': 'x' })],
  ['dataset_type_unsupported', 'a.xlsb', archive({ 'xl/workbook.bin': 'x' })],
  ['dataset_type_unsupported', 'a.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ['dataset_encoding_unknown', 'a.txt', Buffer.from('\x01\x02\x03\x04text', 'latin1')],
  // UTF-16 without a byte order mark.
  ['dataset_encoding_unknown', 'a.md', Buffer.from('words', 'utf16le')],
  ['dataset_type_unsupported', 'a', Buffer.from('words', 'utf16le')],
])('%s: %s', (code, name, content) => {
  expect(() => typeOf(name, content)).toThrow(expect.objectContaining({ category: 'invalid', code }));
});
