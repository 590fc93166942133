import { expect, test } from 'vitest';

import { makePage } from '../../support/documents.ts';
import { readTexts } from './support.ts';

const text = (words: string, before = '') => `${before} (${words}) Tj 0 -20 Td`;
const page = (...shown: string[]) => makePage(`BT /F1 12 Tf 50 700 Td ${shown.join(' ')} ET`);

test.each<[string, Buffer]>([
  ['without ink', page(text('Seen'), text('PLANTED', '3 Tr'))],
  ['white on paper', page(text('Seen'), text('PLANTED', '1 g'))],
  ['of no size', page(text('Seen'), text('PLANTED', '/F1 0.1 Tf'))],
  ['off the page', page(text('Seen'), text('PLANTED', '0 900 Td'))],
  [
    'transparent',
    makePage(`BT /F1 12 Tf 50 700 Td ${text('Seen')} /G0 gs ${text('PLANTED')} ET`, {
      resources: '/ExtGState << /G0 << /ca 0 >> >>',
    }),
  ],
  [
    'on a layer that is off',
    makePage(
      `BT /F1 12 Tf 50 700 Td ${text('Seen')} ET /OC /L0 BDC BT /F1 12 Tf 50 600 Td ${text('PLANTED')} ET EMC`,
      {
        resources: '/Properties << /L0 6 0 R >>',
        catalog: '/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >>',
        more: ['<< /Type /OCG /Name (x) >>'],
      },
    ),
  ],
])('PDF text that is %s is left out', async (_, file) => {
  expect(await readTexts('pdf', file)).toEqual(['Seen']);
});

const IMAGE =
  '<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nA\nendstream';
const scan = (content: string) =>
  makePage(content, { resources: '/XObject << /Im0 6 0 R >>', more: [IMAGE] });

test.each<[string, string, string]>([
  [
    'before its text',
    `q 612 0 0 792 0 0 cm /Im0 Do Q BT 3 Tr /F1 12 Tf 50 700 Td ${text('Scanned words')} ET`,
    'Scanned words',
  ],
  [
    'after its text',
    `BT 3 Tr /F1 12 Tf 50 700 Td ${text('Scanned words')} ET q 612 0 0 792 0 0 cm /Im0 Do Q`,
    'Scanned words',
  ],
  [
    'elsewhere, beside text with ink',
    `q 50 0 0 50 0 0 cm /Im0 Do Q BT /F1 12 Tf 50 700 Td ${text('Seen')} 3 Tr ${text('PLANTED')} ET`,
    'Seen',
  ],
])('PDF text without ink over a scan is read: the image %s', async (_, content, expected) => {
  expect(await readTexts('pdf', scan(content))).toEqual([expected]);
});

test('PDF text in white on a dark ground is read', async () => {
  expect(
    await readTexts(
      'pdf',
      makePage(`0 0 1 rg 0 650 300 100 re f BT 1 g /F1 12 Tf 50 700 Td ${text('Seen')} ET`),
    ),
  ).toEqual(['Seen']);
});

const widget = (fields: string, rect: string) =>
  `<< /Type /Annot /Subtype /Widget /F 4 ${fields} /Rect [${rect}] >>`;
const form = (content: string, annotation: string) =>
  makePage(content, {
    page: '/Annots [6 0 R]',
    catalog: '/AcroForm << /Fields [6 0 R] /DA (/F1 12 Tf 0 g) >>',
    more: [annotation],
  });
const LABEL = `BT /F1 12 Tf 50 700 Td ${text('Hours')} ET`;

test.each<[string, string, string[]]>([
  [
    'text beside its label',
    widget('/FT /Tx /T (a) /V (nine to five)', '150 690 300 710'),
    ['Hours nine to five'],
  ],
  ['text below its label', widget('/FT /Tx /T (a) /V (nine)', '50 670 200 690'), ['Hours nine']],
  [
    'text without a label',
    widget('/FT /Tx /T (a) /TU (Fax) /V (55)', '150 90 300 110'),
    ['Hours', 'Fax: 55'],
  ],
  [
    'a choice',
    widget('/FT /Ch /T (a) /V (m) /Opt [[(m) (Monday)] [(t) (Tuesday)]]', '150 690 300 710'),
    ['Hours Monday'],
  ],
  [
    'a ticked box',
    widget('/FT /Btn /T (a) /V /Yes /AS /Yes /AP << /N << /Yes 4 0 R /Off 4 0 R >> >>', '30 698 42 710'),
    ['[x] Hours'],
  ],
  [
    'an empty box',
    widget('/FT /Btn /T (a) /V /Off /AS /Off /AP << /N << /Yes 4 0 R /Off 4 0 R >> >>', '30 698 42 710'),
    ['[ ] Hours'],
  ],
  [
    'a hidden field',
    widget('/FT /Tx /T (a) /V (PLANTED)', '150 690 300 710').replace('/F 4', '/F 2'),
    ['Hours'],
  ],
  [
    'free text',
    '<< /Type /Annot /Subtype /FreeText /DA (/F1 12 Tf) /Contents (Closed in May) /Rect [150 90 300 110] >>',
    ['Hours', 'Closed in May'],
  ],
  [
    'a note',
    '<< /Type /Annot /Subtype /Text /Contents (Ring twice) /Rect [150 90 170 110] >>',
    ['Hours', 'Ring twice'],
  ],
])('PDF with %s has its value', async (_, annotation, expected) => {
  expect(await readTexts('pdf', form(LABEL, annotation))).toEqual(expected);
});

test('A PDF that is an XFA form is refused with what to do', async () => {
  const file = makePage(LABEL, {
    catalog: '/AcroForm << /Fields [] /XFA 6 0 R >>',
    more: ['<< /Length 2 >>\nstream\n<>\nendstream'],
  });
  await expect(readTexts('pdf', file)).rejects.toThrow('XFA form');
});
