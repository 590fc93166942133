import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

import type { DocumentType } from '../../../src/knowledge/documentType.ts';
import { readCsvRows } from '../../../src/knowledge/parse/csv.ts';
import { reflow } from '../../../src/knowledge/parse/pdf/pdf.ts';
import { TableLimits, type TableSize } from '../../../src/knowledge/parse/table.ts';
import { arrayFromAsync } from '../../support/arrayFromAsync.ts';
import {
  archive,
  makeDocx,
  makeJapanesePdf,
  makePptx,
  makeXlsx,
  makeZipBomb,
} from '../../support/documents.ts';
import { tempDir } from '../../support/tempDir.ts';
import { read, texts } from './support.ts';

describe('Plain text', () => {
  const encodings: [string, Uint8Array, string][] = [
    ['UTF-8', Buffer.from('Grüße, 世界'), 'Grüße, 世界'],
    ['UTF-8 with its mark', Buffer.from('\ufeffGrüße'), 'Grüße'],
    ['UTF-16 LE', Buffer.from('\ufeffGrüße, 世界', 'utf16le'), 'Grüße, 世界'],
    ['UTF-16 BE', Buffer.from('\ufeffGrüße', 'utf16le').swap16(), 'Grüße'],
    [
      'Latin-1',
      Buffer.from('Grüße aus München, schöne Straßen über Köln', 'latin1'),
      'Grüße aus München, schöne Straßen über Köln',
    ],
    // One short sentence each, too short for byte frequencies.
    ['GB 18030', Buffer.from('cbaebaf8b5c4b1a3d0dec6daceaac8fdc4ea', 'hex'), '水壶的保修期为三年'],
    ['Big5', Buffer.from('a4f4b3fdaabaab4fa954b4c1acb0a454a67e', 'hex'), '水壺的保固期為三年'],
    ['Shift JIS', Buffer.from('82b182f182c982bf82cd90a28a458142', 'hex'), 'こんにちは世界。'],
    ['Big5, at length', Buffer.from('c163c5e9a4a4a4e5a141'.repeat(400), 'hex'), '繁體中文，'.repeat(400)],
  ];
  test.each(encodings)('in %s', async (_, bytes, expected) => {
    expect(texts(await read('text', bytes))).toEqual([expected]);
  });

  test.each([
    // Names, which have other characters than prose.
    [
      'GB 18030',
      'd0d5c3fb2cd1debeb22cc7bfcdf52cc3f7d1ee2cbddcb7bc2cc0dab8d5',
      '姓名,艳静,强王,明杨,杰芳,磊刚',
    ],
    ['Big5', 'a96da6572cacfcaae22cacc2b6ae2ca9c9a7672cae61bba82cb251b440', '姓名,美芬,玲雅,怡君,家豪,淑婷'],
    [
      'Shift JIS',
      '8e8196bc2c8d828bb482e482dd2c9363928682b382ad82e72c97e996d891be98592c8db293a189d48e71',
      '氏名,高橋ゆみ,田中さくら,鈴木太郎,佐藤花子',
    ],
    [
      'Mac OS Roman',
      '4e6f6d2c52656e8e652c5a6f8e2c4672616e8d6f69732c4c65668f767265',
      'Nom,Renée,Zoé,François,Lefèvre',
    ],
  ])('of names in %s', async (_, hex, expected) => {
    const bytes = Buffer.from(`${hex}0a`.repeat(20), 'hex');
    const text = texts(await read('text', bytes)).join('');
    expect(new Set(text.trim().split('\n'))).toEqual(new Set([expected]));
  });

  test('with a little invalid UTF-8 is read without it', async () => {
    const bytes = Buffer.concat([Buffer.from('世界 '.repeat(300)), Buffer.from([0xe4, 0xb8, 0x20])]);
    const [text = ''] = texts(await read('text', bytes));
    expect(text.startsWith('世界 世界')).toBe(true);
  });

  test('is split at empty lines of any line ending', async () => {
    expect(texts(await read('text', 'a\r\nb\r\n\r\nc\n \n\n\nd\r\re'))).toEqual(['a\nb', 'c', 'd', 'e']);
  });

  test('in one huge line is split without loss', async () => {
    const line = '天地玄黃宇宙洪荒'.repeat(30_000);
    const blocks = texts(await read('text', line));
    expect(blocks.join('')).toBe(line);
    expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThanOrEqual(16_384);
  });
});

test('Markdown has headings', async () => {
  expect(await read('markdown', 'Intro\n# One #\ntext\n\n## Two\n\n#no heading')).toEqual([
    { kind: 'paragraph', text: 'Intro' },
    { kind: 'heading', text: 'One' },
    { kind: 'paragraph', text: 'text' },
    { kind: 'heading', text: 'Two' },
    { kind: 'paragraph', text: '#no heading' },
  ]);
});

describe('HTML', () => {
  test('is read in blocks, without invisible elements', async () => {
    const page = `<!doctype html><html><head><title>Shop</title><style>p{}</style></head><body><script>alert(1)</script>
      <h1>Warranty &amp; more</h1><p>It lasts <b>three</b> years.<br>Truly.</p><ul><li>One<li>Two</ul>
      <table><tr><th>Item<th>Price<tr><td>Kettle<td>20 €</table><pre>a  b</pre></body></html>`;
    expect(await read('html', page)).toEqual([
      { kind: 'heading', text: 'Shop' },
      { kind: 'heading', text: 'Warranty & more' },
      { kind: 'paragraph', text: 'It lasts three years.\nTruly.' },
      { kind: 'row', text: 'One' },
      { kind: 'row', text: 'Two' },
      { kind: 'row', text: 'Item | Price' },
      { kind: 'row', text: 'Kettle | 20 €' },
      { kind: 'paragraph', text: 'a  b' },
    ]);
  });

  test('is decoded in its declared encoding', async () => {
    const page = Buffer.concat([
      Buffer.from('<!doctype html><meta charset="big5"><p>'),
      Buffer.from('c163c5e9a4a4a4e5', 'hex'),
    ]);
    expect(texts(await read('html', page))).toEqual(['繁體中文']);
  });
});

test('HTML that is nested too deeply is rejected', async () => {
  const page = `<!doctype html>${'<div>'.repeat(200_000)}x`;
  await expect(read('html', page)).rejects.toThrow('nested more than 10000 levels');
});

test('PDF with a predefined character map is read', async () => {
  const text = '返金は十日以内に行われます。';
  expect(texts(await read('pdf', makeJapanesePdf(text)))).toEqual([text]);
});

describe('CSV', () => {
  test.each([
    ['commas and titles', 'Name,Age\n"Doe, Ann",41\nBo,\n', ['Name: Doe, Ann; Age: 41', 'Name: Bo']],
    ['semicolons', 'Name;Age\nAnn;41', ['Name: Ann; Age: 41']],
    ['tabs', 'Name\tAge\nAnn\t41', ['Name: Ann; Age: 41']],
    ['no titles', '1,2\n3,4', ['1; 2', '3; 4']],
    ['titles alone', 'Name,Age\n', ['Name; Age']],
    ['a line that names the separator', 'sep=;\r\nName;Preis\r\nTee;1,50', ['Name: Tee; Preis: 1,50']],
    ['rows of other lengths', 'Name,Age\nAnn,41,x', ['Name: Ann; Age: 41; x']],
  ])('with %s', async (_, content, expected) => {
    expect(texts(await read('csv', content))).toEqual(expected);
  });

  test('with an unclosed quote is rejected', async () => {
    await expect(read('csv', `a,b\n"${'x\n'.repeat(1_000_000)}`)).rejects.toThrow(
      /row is too long|not closed/,
    );
  });
});

test('A table of 25 million commas is refused', async () => {
  await expect(read('csv', ','.repeat(25_000_000))).rejects.toThrow(/more than 1000 columns/);
});

test.each<[string, TableSize, string]>([
  ['rows', { rows: 2, columns: 9, cells: 9 }, 'more than 2 rows'],
  ['cells', { rows: 9, columns: 9, cells: 5 }, 'more than 5 cells'],
])('A table of too many %s is refused', async (_, size, reason) => {
  const path = join(tempDir(), 'a.csv');
  writeFileSync(path, 'a,b\n'.repeat(3));
  await expect(arrayFromAsync(readCsvRows(path, new TableLimits(size)))).rejects.toMatchObject({
    name: 'DocumentError',
    message: expect.stringContaining(reason),
  });
});

describe('JSON', () => {
  test('is read as values with their paths', async () => {
    expect(texts(await read('json', '{"shop": {"name": "A", "open": [1, 2]}, "x": null, "y": ""}'))).toEqual([
      'shop.name: A',
      'shop.open: 1',
      'shop.open: 2',
    ]);
  });

  test('Lines are read as values', async () => {
    expect(texts(await read('json', '{"a":1}\n{"a":2}\n'))).toEqual(['a: 1', 'a: 2']);
  });

  test('that is invalid is rejected when the name claims JSON, and else read as text', async () => {
    await expect(read('json', '{"a": ')).rejects.toThrow('named like JSON but is not valid JSON');
    expect(texts(await read('json', '{"a": ', 'notes.txt'))).toEqual(['{"a": ']);
  });

  test('that is nested too deeply is rejected', async () => {
    await expect(read('json', `${'['.repeat(500)}1${']'.repeat(500)}`)).rejects.toThrow('64 levels');
  });
});

describe('Office documents', () => {
  test('DOCX is read in blocks', async () => {
    expect(await read('docx', makeDocx(['# Terms', 'Three years & more.']))).toEqual([
      { kind: 'heading', text: 'Terms' },
      { kind: 'paragraph', text: 'Three years & more.' },
    ]);
  });

  test('PPTX is read in slide order, not file order', async () => {
    const slides = [
      { title: 'First', texts: ['One', 'Two'] },
      { title: 'Second', texts: ['Three'] },
    ];
    expect(texts(await read('pptx', makePptx(slides)))).toEqual(['First', 'One', 'Two', 'Second', 'Three']);
  });

  test('XLSX is read by sheet and row', async () => {
    const rows = [['Item', 'Price'], ['Kettle', '20 €'], ['Cup']];
    expect(await read('xlsx', makeXlsx('Prices', rows))).toEqual([
      { kind: 'heading', text: 'Prices' },
      { kind: 'row', text: 'Item: Kettle; Price: 20 €' },
      { kind: 'row', text: 'Item: Cup' },
    ]);
  });

  const whole = makeDocx(['Text']);
  test('XLSX with only a header keeps it', async () => {
    expect(texts(await read('xlsx', makeXlsx('Prices', [['Item', 'Price']])))).toEqual([
      'Prices',
      'Item; Price',
    ]);
  });

  test.each<[string, DocumentType, Buffer, RegExp]>([
    ['a zip bomb', 'docx', makeZipBomb(12_000_000), /unpacks to far more/],
    ['a Word document without its text', 'docx', archive({ 'word/other.xml': '<a/>' }), /damaged/],
    ['one cut off', 'docx', whole.subarray(0, whole.length - 40), /damaged or cut off/],
    ['one with other bytes in its middle', 'docx', spoilt(whole), /damaged/],
    ['an encrypted archive', 'docx', encryptedEntry(), /password/],
    [
      'a presentation without slides’ list',
      'pptx',
      archive({ 'ppt/x.xml': '<a/>' }),
      /list of slides is missing/,
    ],
    ['a spreadsheet without sheets', 'xlsx', archive({ 'xl/workbook.xml': '<a' }), /damaged/],
    ['more parts than a document has', 'docx', manyEntries(), /more than 10000 parts/],
  ])('%s is refused with a reason', async (_, type, content, reason) => {
    await expect(read(type, content)).rejects.toMatchObject({
      name: 'DocumentError',
      message: expect.stringMatching(reason),
    });
  });

  test('Archive with wrong declared sizes is rejected', async () => {
    const content = deflateRawSync(Buffer.alloc(50_000_000));
    await expect(read('docx', zipThatClaims(content, 1000))).rejects.toThrow(/damaged|unpacks to far more/);
  });
});

describe('PDF lines', () => {
  test.each<[string, string, string[]]>([
    [
      'go on where they are full',
      'The kettle boils a litre of water in\nsome minutes and then it rests.\nShort.',
      ['The kettle boils a litre of water in some minutes and then it rests.', 'Short.'],
    ],
    [
      'join a broken word',
      'All of this is of a very great impor-\ntance to us here, as it stands.',
      ['All of this is of a very great importance to us here, as it stands.'],
    ],
    [
      'join Chinese without a space',
      '今天天氣很好我們\n一起去公園散步吧',
      ['今天天氣很好我們一起去公園散步吧'],
    ],
    ['end with an empty one', 'One two three\n\nFour five six', ['One two three', 'Four five six']],
  ])('%s', (_, page, expected) => {
    expect(reflow(page).map(({ text }) => text)).toEqual(expected);
  });
});

function spoilt(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0x55, 60, 160);
  return copy;
}

function manyEntries(): Buffer {
  return archive(Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`word/${index}`, ''])));
}

/** Sets the flag of an encrypted entry in the archive's directory. @see APPNOTE 4.4.4 */
function encryptedEntry(): Buffer {
  const bytes = Buffer.from(archive({ 'word/document.xml': '<a/>' }));
  const entry = bytes.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
  bytes.writeUInt16LE(1, entry + 8);
  return bytes;
}

/** One deflated entry whose headers claim another size than it unpacks to. */
function zipThatClaims(deflated: Buffer, claimedBytes: number): Buffer {
  const name = Buffer.from('word/document.xml');
  const local = Buffer.alloc(30);
  local.write('PK\x03\x04', 'latin1');
  local.writeUInt16LE(20, 4);
  local.writeUInt16LE(8, 8);
  local.writeUInt32LE(deflated.length, 18);
  local.writeUInt32LE(claimedBytes, 22);
  local.writeUInt16LE(name.length, 26);
  const central = Buffer.alloc(46);
  central.write('PK\x01\x02', 'latin1');
  central.writeUInt16LE(20, 6);
  central.writeUInt16LE(8, 10);
  central.writeUInt32LE(deflated.length, 20);
  central.writeUInt32LE(claimedBytes, 24);
  central.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length + name.length, 12);
  end.writeUInt32LE(local.length + name.length + deflated.length, 16);
  return Buffer.concat([local, name, deflated, central, name, end]);
}
