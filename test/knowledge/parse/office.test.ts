import { describe, expect, test } from 'vitest';

import { archive } from '../../support/documents.ts';
import { read, readTexts } from './support.ts';

const MAIN = {
  transitional: 'http://schemas.openxmlformats.org',
  strict: 'http://purl.oclc.org/ooxml',
} as const;
type Namespace = keyof typeof MAIN;

function relationships(
  list: Readonly<Record<string, readonly [type: string, target: string]>>,
  namespace: Namespace = 'transitional',
): string {
  const base =
    namespace === 'strict' ? `${MAIN.strict}/officeDocument` : `${MAIN.transitional}/officeDocument/2006`;
  const items = Object.entries(list).map(
    ([id, [type, target]]) =>
      `<Relationship Id="${id}" Type="${base}/relationships/${type}" Target="${target}"/>`,
  );
  return `<Relationships>${items.join('')}</Relationships>`;
}

const W = 'xmlns:w="w" xmlns:r="r" xmlns:mc="mc" xmlns:wps="wps" xmlns:a="a"';
const run = (text: string, properties = '') =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const para = (text: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`;
const docx = (body: string, more: Record<string, string> = {}) =>
  archive({ 'word/document.xml': `<w:document ${W}><w:body>${body}</w:body></w:document>`, ...more });

describe('Word documents', () => {
  test.each<[string, string, string[]]>([
    [
      'a link without its relation',
      `<w:p><w:hyperlink r:id="rId9">${run('Book here')}</w:hyperlink>${run(' or call.')}</w:p>`,
      ['Book here or call.'],
    ],
    [
      'an image without its relation',
      `<w:p>${run('Before')}<w:r><w:drawing><a:blip r:embed="rId9"/></w:drawing></w:r>${run(' after')}</w:p>`,
      ['Before after'],
    ],
    [
      'a style, a list and a note that are not defined',
      `${para('Text', '<w:pStyle w:val="Gone"/><w:numPr><w:numId w:val="9"/></w:numPr>')}<w:p>${run('Note')}<w:r><w:footnoteReference w:id="9"/></w:r></w:p>`,
      ['Text', 'Note'],
    ],
    [
      'a page header without its part',
      `${para('Text')}<w:sectPr><w:headerReference w:type="default" r:id="rId9"/></w:sectPr>`,
      ['Text'],
    ],
    [
      'hidden text',
      `<w:p>${run('Seen')}${run(' PLANTED', '<w:vanish/>')}${run(' too', '<w:vanish w:val="0"/>')}</w:p>`,
      ['Seen too'],
    ],
    [
      'deleted and moved text',
      `<w:p>${run('Now')}<w:del>${run('PLANTED')}</w:del><w:moveFrom>${run('PLANTED')}</w:moveFrom><w:ins>${run(' new')}</w:ins></w:p>`,
      ['Now new'],
    ],
    [
      'a deleted row',
      `<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>${para('PLANTED')}</w:tc></w:tr><w:tr><w:tc>${para('Kept')}</w:tc></w:tr></w:tbl>`,
      ['Kept'],
    ],
    [
      'white text on paper, and on a dark ground',
      `<w:p>${run('PLANTED', '<w:color w:val="FFFFFF"/>')}${run('Seen', '<w:color w:val="FFFFFF"/><w:shd w:fill="000000"/>')}</w:p>`,
      ['Seen'],
    ],
    ['text of half a point', `<w:p>${run('Seen')}${run('PLANTED', '<w:sz w:val="1"/>')}</w:p>`, ['Seen']],
    [
      'a table',
      `<w:tbl><w:tr><w:tc>${para('Kettle')}</w:tc><w:tc>${para('20')}${para('euros')}</w:tc></w:tr></w:tbl>`,
      ['Kettle | 20 euros'],
    ],
    [
      'a merged cell in each of its rows',
      `<w:tbl>${[
        ['<w:vMerge w:val="restart"/>', 'Monday', 'Lin'],
        ['<w:vMerge/>', '', 'Chen'],
        ['', 'Friday', 'Wu'],
      ]
        .map(
          ([merge, day, name]) =>
            `<w:tr><w:tc><w:tcPr>${merge}</w:tcPr>${para(day ?? '')}</w:tc><w:tc>${para(name ?? '')}</w:tc></w:tr>`,
        )
        .join('')}</w:tbl>`,
      ['Monday | Lin', 'Monday | Chen', 'Friday | Wu'],
    ],
    [
      'a content control',
      `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${para('Inside')}</w:sdtContent></w:sdt>`,
      ['Inside'],
    ],
    [
      'a text box, and its copy for older programs',
      `<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx><w:txbxContent>${para('Box')}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>${para('Box')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>${run('Around')}</w:p>`,
      ['Box', 'Around'],
    ],
  ])('with %s', async (_, body, expected) => {
    expect(await readTexts('docx', docx(body))).toEqual(expected);
  });

  test('are white on a dark page, and keep notes without relations', async () => {
    const file = archive({
      'word/document.xml': `<w:document ${W}><w:background w:color="000000"/><w:body><w:p>${run('Seen', '<w:color w:val="FFFFFF"/>')}</w:p></w:body></w:document>`,
      'word/footnotes.xml': `<w:footnotes ${W}><w:footnote>${para('Note')}</w:footnote></w:footnotes>`,
    });
    expect(await readTexts('docx', file)).toEqual(['Seen', 'Note']);
  });

  const part = (name: string, text: string) => `<w:${name} ${W}>${para(text)}</w:${name}>`;
  const section = (more: string) =>
    `${para('Body')}<w:sectPr><w:headerReference w:type="default" r:id="h1"/><w:headerReference w:type="first" r:id="h2"/><w:headerReference w:type="even" r:id="h3"/><w:footerReference w:type="default" r:id="f1"/>${more}</w:sectPr>`;
  const parts = {
    'word/_rels/document.xml.rels': relationships({
      h1: ['header', '/word/header1.xml'],
      h2: ['header', 'header2.xml'],
      h3: ['header', 'header3.xml'],
      h4: ['header', 'header4.xml'],
      f1: ['footer', '..\\word\\footer1.xml'],
      n1: ['footnotes', 'footnotes.xml'],
      c1: ['comments', 'comments.xml'],
    }),
    'word/header1.xml': part('hdr', 'Telephone 5550'),
    'word/header2.xml': part('hdr', 'First'),
    'word/header3.xml': part('hdr', 'Even'),
    'word/header4.xml': part('hdr', 'PLANTED'),
    'word/footer1.xml': part('ftr', 'Page'),
    'word/comments.xml': part('comment', 'PLANTED'),
    'word/footnotes.xml': `<w:footnotes ${W}><w:footnote w:type="separator">${para('-')}</w:footnote><w:footnote>${para('By law.')}</w:footnote></w:footnotes>`,
  };
  test.each<[string, string, Record<string, string>, string[]]>([
    ['the default ones', '', {}, ['Body', 'Telephone 5550', 'Page', 'By law.']],
    ['that of the first page', '<w:titlePg/>', {}, ['Body', 'Telephone 5550', 'First', 'Page', 'By law.']],
    [
      'that of even pages',
      '',
      { 'word/settings.xml': `<w:settings ${W}><w:evenAndOddHeaders/></w:settings>` },
      ['Body', 'Telephone 5550', 'Even', 'Page', 'By law.'],
    ],
  ])('have the page headers and footers that pages show: %s', async (_, properties, more, expected) => {
    expect(await readTexts('docx', docx(section(properties), { ...parts, ...more }))).toEqual(expected);
  });

  test('are read with strict namespaces, other prefixes, backslashes, absolute targets and UTF-16', async () => {
    const body = `\ufeff<?xml version="1.0" encoding="UTF-16"?><x:document xmlns:x="${MAIN.strict}/wordprocessingml/main"><x:body><x:p><x:r><x:t>Ünï</x:t></x:r></x:p></x:body></x:document>`;
    const file = archive({
      '_rels\\.rels': relationships({ a: ['officeDocument', '/Word/Main.xml'] }, 'strict'),
      'word\\main.xml': Buffer.from(body, 'utf16le'),
    });
    expect(await readTexts('docx', file)).toEqual(['Ünï']);
  });

  test('have headings by the names and the outline levels of styles, also of those that others are based on', async () => {
    const styles = `<w:styles ${W}><w:style w:styleId="a"><w:name w:val="heading 2"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style><w:style w:styleId="c"><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:styleId="d"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>`;
    const body = ['b', 'c', 'x', 'd'].map((style) => para(style, `<w:pStyle w:val="${style}"/>`)).join('');
    expect(await read('docx', docx(body, { 'word/styles.xml': styles }))).toEqual([
      { kind: 'heading', text: 'b' },
      { kind: 'heading', text: 'c' },
      { kind: 'paragraph', text: 'x' },
    ]);
  });

  test('with a table of more than 1,000 columns are refused', async () => {
    const row = `<w:tbl><w:tr>${'<w:tc/>'.repeat(1_001)}</w:tr></w:tbl>`;
    await expect(read('docx', docx(row))).rejects.toThrow('more than 1000 columns');
  });
});

const inline = (text: string, more = '') => `<c ${more} t="inlineStr"><is><t>${text}</t></is></c>`;
const number = (value: string | number, style = 0) => `<c s="${style}"><v>${value}</v></c>`;
const row = (cells: string, more = '') => `<row ${more}>${cells}</row>`;
interface Book {
  readonly formats?: readonly (string | number)[];
  readonly sheets?: string;
  readonly strings?: string;
  readonly properties?: string;
  readonly around?: string;
}

/** A workbook whose first sheet has these rows. */
function xlsx(
  rows: string,
  { formats = [], sheets = '', strings = '', properties = '', around = '' }: Book = {},
): Buffer {
  const codes = formats.map((code, index) =>
    typeof code === 'string' ? `<numFmt numFmtId="${200 + index}" formatCode="${code}"/>` : '',
  );
  const styles = formats.map(
    (code, index) => `<xf numFmtId="${typeof code === 'string' ? 200 + index : code}"/>`,
  );
  return archive({
    'xl/workbook.xml': `<workbook xmlns:r="r">${properties}<sheets><sheet name="Hours" r:id="rId1"/>${sheets}</sheets></workbook>`,
    'xl/styles.xml': `<styleSheet><numFmts>${codes.join('')}</numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${styles.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst>${strings}</sst>`,
    'xl/worksheets/sheet1.xml': `<worksheet>${around}<sheetData>${rows}</sheetData></worksheet>`,
    'xl/worksheets/sheet2.xml': `<worksheet><sheetData>${row(inline('Second'))}</sheetData></worksheet>`,
  });
}

describe('Spreadsheets', () => {
  test.each<[string | number, number, string]>([
    [20, 0.375, '9:00'],
    [18, 0.75, '6:00 PM'],
    [46, 1.5, '36:00:00'],
    [9, 0.25, '25%'],
    [10, 0.125, '12.50%'],
    [14, 45_000, '2023-03-15'],
    [22, 45_000.5, '2023-03-15 12:00'],
    [15, 45_000, '15-Mar-23'],
    [12, 0.5, '1/2'],
    [4, 1_234.5, '1,234.50'],
    ['dd.mm.yyyy', 45_000, '15.03.2023'],
    ['#,##0.00\\ [$€-407]', 1_234.5, '1.234,50 €'],
    ['[$NT$-404]#,##0', 1_500, 'NT$1,500'],
    ['0 &quot;rooms&quot;', 3, '3 rooms'],
    ['00000', 123, '00123'],
    ['#,##0;(#,##0)', -7, '(7)'],
    ['[[[', 7, '7'],
    [0, 886_912_345_678, '886912345678'],
    [11, 886_912_345_678, '886912345678'],
    ['0.00E+00', 0.00123, '1.23E-03'],
    [0, 0.30000000000000004, '0.3'],
  ])('show %s of %s as %s', async (code, value, expected) => {
    expect(await readTexts('xlsx', xlsx(row(number(value, 1)), { formats: [code] }))).toEqual([
      'Hours',
      expected,
    ]);
  });

  test.each<[string, string, Book, string[]]>([
    [
      'shared strings in runs, without their pronunciation',
      row('<c t="s"><v>0</v></c>'),
      { strings: '<si><r><t>To</t></r><r><t>kyo</t></r><rPh><t>PLANTED</t></rPh></si>' },
      ['Tokyo'],
    ],
    ['a shared string that is missing', row(`<c t="s"><v>7</v></c>${inline('x')}`), {}, ['x']],
    [
      'formulas, booleans, errors and dates as text',
      row(
        '<c t="str"><f>A1</f><v>text</v></c><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2026-03-01T00:00:00</v></c>',
      ),
      {},
      ['text; TRUE; #N/A; 2026-03-01'],
    ],
    [
      'cells and rows without references, and with gaps',
      row(`${number(1)}${number(2, 0).replace('<c', '<c r="D1"')}`) + row(number(3)),
      {},
      ['1; 2', '3'],
    ],
    [
      'a merged cell, whose value holds for each of its rows',
      row(inline('Day') + inline('Opens')) +
        row(inline('Mon') + inline('9')) +
        row(`<c/>${inline('14')}`) +
        row(inline('Tue')),
      { around: '<mergeCells><mergeCell ref="A2:A3"/></mergeCells>' },
      ['Day: Mon; Opens: 9', 'Day: Mon; Opens: 14', 'Day: Tue'],
    ],
    [
      'hidden rows and columns',
      row(inline('A') + inline('PLANTED') + inline('PLANTED') + inline('B')) +
        row(inline('PLANTED'), 'hidden="1"') +
        row(inline('PLANTED'), 'ht="0"'),
      { around: '<cols><col min="2" max="2" hidden="1"/><col min="3" max="3" width="0"/></cols>' },
      ['A; B'],
    ],
    ['a format that hides', row(inline('PLANTED', 's="1"') + inline('x')), { formats: [';;;'] }, ['x']],
    [
      'dates from 1904',
      row(number(43_538, 1)),
      { formats: [14], properties: '<workbookPr date1904="1"/>' },
      ['2023-03-15'],
    ],
    [
      'hidden sheets, and one that is shown',
      row(inline('x')),
      { sheets: '<sheet name="Two" state="veryHidden" r:id="rId2"/><sheet name="Two" r:id="rId9"/>' },
      ['x'],
    ],
    [
      'a reference to a sheet that is not there',
      row(inline('x')),
      { sheets: '<sheet name="Two" r:id="rId9"/>' },
      ['x', 'Two', 'Second'],
    ],
    [
      '100,000 sheets that are one',
      row(inline('x')),
      { sheets: '<sheet name="Two" r:id="rId9" state="hidden"/>'.repeat(100_000) },
      ['x'],
    ],
  ])('with %s', async (_, rows, book, expected) => {
    expect(await readTexts('xlsx', xlsx(rows, book))).toEqual(['Hours', ...expected]);
  });

  test('with more than 1,000 columns are refused, and empty cells do not count', async () => {
    expect(await readTexts('xlsx', xlsx(row(`${inline('x')}<c r="XFD1" s="1"/>`)))).toEqual(['Hours', 'x']);
    await expect(read('xlsx', xlsx(row('<c r="XFD1"><v>1</v></c>')))).rejects.toThrow(
      'more than 1000 columns',
    );
  });
});

const shape = (text: string, hidden = '') =>
  `<p:sp><p:nvSpPr><p:cNvPr id="1" ${hidden}/></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
const slide = (content: string, more = '') => `<p:sld ${more}><p:spTree>${content}</p:spTree></p:sld>`;

test('Presentations are read without hidden slides and shapes, and with relations that lead nowhere', async () => {
  const file = archive({
    'ppt\\presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="a"/><p:sldId id="2" r:id="gone"/><p:sldId id="3" r:id="b"/><p:sldId id="4" r:id="c"/></p:sldIdLst></p:presentation>',
    'ppt\\_rels\\presentation.xml.rels': relationships({
      a: ['slide', 'slides/slide1.xml'],
      b: ['slide', '/ppt/slides/slide2.xml'],
      c: ['slide', 'slides/gone.xml'],
    }),
    'ppt\\slides\\slide1.xml': slide(shape('Seen') + shape('PLANTED', 'hidden="1"')),
    'ppt\\slides\\slide2.xml': slide(shape('PLANTED'), 'show="0"'),
    'ppt\\slides\\_rels\\slide1.xml.rels': relationships({ n: ['notesSlide', '../notesSlides/gone.xml'] }),
  });
  expect(await readTexts('pptx', file)).toEqual(['Seen']);
});

test('Each row of a presentation’s table has the cells that are merged down', async () => {
  const cell = (text: string, merge = '') =>
    `<a:tc ${merge}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const rows = [
    cell('Monday', 'rowSpan="2"') + cell('Lin'),
    cell('', 'vMerge="1"') + cell('Chen'),
    cell('Friday') + cell('Wu'),
  ];
  const table = `<p:graphicFrame><a:tbl>${rows.map((cells) => `<a:tr>${cells}</a:tr>`).join('')}</a:tbl></p:graphicFrame>`;
  const file = archive({
    'ppt/presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="a"/></p:sldIdLst></p:presentation>',
    'ppt/slides/slide1.xml': slide(table),
  });
  expect(await readTexts('pptx', file)).toEqual(['Monday | Lin', 'Monday | Chen', 'Friday | Wu']);
});

test('Presentations without relations are read by the usual names of slides, without what lies beside them', async () => {
  const at = (x: number, text: string) =>
    `<p:sp><p:spPr><a:xfrm><a:off x="${x}" y="0"/><a:ext cx="10" cy="10"/></a:xfrm></p:spPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const file = archive({
    'ppt/presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="a"/></p:sldIdLst><p:sldSz cx="100" cy="100"/></p:presentation>',
    'ppt/slides/slide1.xml': slide(
      at(5, 'Seen') + at(-10, 'PLANTED') + at(100, 'PLANTED') + at(-9, 'Partly'),
    ),
  });
  expect(await readTexts('pptx', file)).toEqual(['Seen', 'Partly']);
});

test('Office files do not expand entities, and are not nested without end', async () => {
  const laughs = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>${para('&b;')}`;
  expect(await readTexts('docx', docx(laughs))).toEqual(['&b;']);
  await expect(read('docx', docx('<w:sdt>'.repeat(100_000)))).rejects.toThrow('nested more than 1000 levels');
});
