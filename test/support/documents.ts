import { strToU8, zipSync } from 'fflate';

/** A PDF without compression: one list of text lines per page, 72 points from the left. */
export function makePdf(pages: readonly (readonly string[])[], more = ''): Buffer {
  const objects: string[] = [];
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ');
  objects.push('<< /Type /Catalog /Pages 2 0 R >>');
  objects.push(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  objects.push('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  for (const [index, lines] of pages.entries()) {
    const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`).join('\n');
    const content = lines.length === 0 ? '' : `BT /F1 11 Tf 14 TL 72 770 Td\n${shown}\nET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
    );
    objects.push(`<< /Length ${Buffer.byteLength(content, 'latin1')} >>\nstream\n${content}\nendstream`);
  }
  return pdfOf(objects, more);
}

/** A PDF whose font names a predefined character map instead of embedding one, as East Asian PDFs do. */
export function makeJapanesePdf(text: string): Buffer {
  const utf16 = Buffer.from(text, 'utf16le').swap16().toString('hex');
  const content = `BT /F1 14 Tf 72 770 Td <${utf16}> Tj ET`;
  const system = '/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>';
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [6 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 ${system} /DW 1000 /FontDescriptor 7 0 R >>`,
    '<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /StemV 80 >>',
  ]);
}

/** A PDF of one page with this content, in the font `/F1`; further objects have the numbers from 6. */
export function makePage(
  content: string,
  parts: {
    readonly resources?: string;
    readonly page?: string;
    readonly catalog?: string;
    readonly more?: readonly string[];
  } = {},
): Buffer {
  const { resources = '', page = '', catalog = '', more = [] } = parts;
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> ${resources} >> ${page} >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    ...more,
  ]);
}

function pdfOf(objects: readonly string[], more = ''): Buffer {
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = Buffer.byteLength(body, 'latin1');
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = Buffer.byteLength(body, 'latin1');
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  body += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${more} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(body, 'latin1');
}

/** A password-protected PDF: it has an encryption dictionary, which readers check first. */
export function makeEncryptedPdf(): Buffer {
  const secret = '<0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef>';
  const encrypt = `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${secret} /U ${secret} /P -44 >>`;
  return makePdf(
    [['Secret']],
    `${encrypt} /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]`,
  );
}

const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** A Word document; paragraphs that begin with `# ` are headings. */
export function makeDocx(paragraphs: readonly string[]): Buffer {
  const body = paragraphs
    .map((text) => {
      const isHeading = text.startsWith('# ');
      const style = isHeading ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : '';
      return `<w:p>${style}<w:r><w:t xml:space="preserve">${xml(text.replace(/^# /, ''))}</w:t></w:r></w:p>`;
    })
    .join('');
  return archive({
    '[Content_Types].xml': contentTypes(
      '/word/document.xml',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
    ),
    '_rels/.rels': relations([['rId1', `${OFFICE}/officeDocument`, 'word/document.xml']]),
    'word/_rels/document.xml.rels': relations([['rId1', `${OFFICE}/styles`, 'styles.xml']]),
    'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`,
    'word/styles.xml': `<w:styles xmlns:w="${WORD}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
  });
}

/** A presentation whose slide files are named in reverse order. */
export function makePptx(
  slides: readonly { readonly title: string; readonly texts: readonly string[] }[],
): Buffer {
  const drawing = 'http://schemas.openxmlformats.org/drawingml/2006/main';
  const presentation = 'http://schemas.openxmlformats.org/presentationml/2006/main';
  const shape = (placeholder: string, texts: readonly string[]) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${placeholder}"/></p:nvPr></p:nvSpPr><p:txBody>${texts
      .map((text) => `<a:p><a:r><a:t>${xml(text)}</a:t></a:r></a:p>`)
      .join('')}</p:txBody></p:sp>`;
  const files: Record<string, string> = {
    '[Content_Types].xml': contentTypes(
      '/ppt/presentation.xml',
      'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
    ),
    '_rels/.rels': relations([['rId1', `${OFFICE}/officeDocument`, 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation xmlns:p="${presentation}" xmlns:r="${OFFICE}"><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 1}"/>`)
      .join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(
      slides.map((_, index) => [
        `rId${index + 1}`,
        `${OFFICE}/slide`,
        `slides/slide${slides.length - index}.xml`,
      ]),
    ),
  };
  for (const [index, { title, texts }] of slides.entries()) {
    files[`ppt/slides/slide${slides.length - index}.xml`] =
      `<p:sld xmlns:p="${presentation}" xmlns:a="${drawing}"><p:cSld><p:spTree>${shape('title', [title])}${shape('body', texts)}</p:spTree></p:cSld></p:sld>`;
  }
  return archive(files);
}

/** A spreadsheet with one sheet of text cells. */
export function makeXlsx(sheet: string, rows: readonly (readonly string[])[]): Buffer {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const cells = rows
    .map(
      (row, y) =>
        `<row r="${y + 1}">${row
          .map(
            (text, x) =>
              `<c r="${String.fromCharCode(65 + x)}${y + 1}" t="inlineStr"><is><t>${xml(text)}</t></is></c>`,
          )
          .join('')}</row>`,
    )
    .join('');
  return archive({
    '[Content_Types].xml': contentTypes(
      '/xl/workbook.xml',
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
    ),
    '_rels/.rels': relations([['rId1', `${OFFICE}/officeDocument`, 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${OFFICE}"><sheets><sheet name="${xml(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([['rId1', `${OFFICE}/worksheet`, 'worksheets/sheet1.xml']]),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${cells}</sheetData></worksheet>`,
  });
}

/** A deflated ZIP archive of these files. */
export function archive(files: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const entries = Object.entries(files).map(([name, content]) => [
    name,
    typeof content === 'string' ? strToU8(content) : content,
  ]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 9 }));
}

/** A Word document whose only part inflates to this many spaces. */
export function makeZipBomb(inflatedBytes: number): Buffer {
  return archive({ 'word/document.xml': new Uint8Array(inflatedBytes).fill(0x20) });
}

/** The compound file format of encrypted Office files and of Office before 2007. */
export function makeCompoundFile(stream: string): Buffer {
  const bytes = Buffer.alloc(2048);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes);
  Buffer.from(stream, 'utf16le').copy(bytes, 1024);
  return bytes;
}

function contentTypes(part: string, type: string): string {
  return `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="${part}" ContentType="${type}"/></Types>`;
}

function relations(list: readonly (readonly [id: string, type: string, target: string])[]): string {
  const items = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${items.join('')}</Relationships>`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
