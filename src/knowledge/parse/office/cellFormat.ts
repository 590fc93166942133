import { format, getFormatFromId, isDateFormat } from 'numfmt';

import { attribute, type OfficePackage } from './officePackage.ts';

/** Dates of these built-in formats look different in every country; all would read as one here. */
const DATES_OF_A_COUNTRY = new Set([14, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58]);
const DATE_AND_TIME_OF_A_COUNTRY = 22;
/** Days from 1 January 1900, as Excel counts, to 1 January 1904. */
const DAYS_TO_1904 = 1462;
/** Columns that are too narrow get this format; an integer in it is a number to call, or an id. */
const SCIENTIFIC = /^0(?:\.0+)?E\+0+$/i;
/** Digits that a double holds: beyond, sums such as 0.1 + 0.2 show their rounding. */
const DIGITS = 15;

/**
 * Reads the number formats of a workbook's cells.
 *
 * @returns Shows a value as the style shows it; dates whose form depends on the country as ISO 8601 writes them.
 * @see ECMA-376 part 1, sections 18.8.10 and 18.8.30
 */
export async function readCellFormats(
  office: OfficePackage,
  part: string,
  has1904Dates: boolean,
): Promise<(value: number | string, style: number) => string> {
  const codes = new Map<number, string>();
  const styles: number[] = [];
  let isInCellStyles = false;
  await office.read(part, {
    open(name, attributes) {
      const id = Number(attribute(attributes, 'numFmtId') ?? 0);
      if (name === 'numFmt') codes.set(id, attribute(attributes, 'formatCode') ?? '');
      if (name === 'cellXfs') isInCellStyles = true;
      if (name === 'xf' && isInCellStyles) styles.push(id);
      return true;
    },
    close(name) {
      if (name === 'cellXfs') isInCellStyles = false;
    },
  });
  return (value, style) => {
    const code = codeOf(styles[style] ?? 0, codes);
    if (/^(?:general|@)?$/i.test(code) || (SCIENTIFIC.test(code) && Number.isSafeInteger(value)))
      return plain(value);
    try {
      const days = typeof value === 'number' && has1904Dates && isDateFormat(code) ? DAYS_TO_1904 : 0;
      return format(code, typeof value === 'number' ? value + days : value).trim();
    } catch {
      // A format that is written wrong.
      return plain(value);
    }
  };
}

function codeOf(id: number, codes: ReadonlyMap<number, string>): string {
  const custom = codes.get(id);
  if (custom !== undefined) return custom;
  if (DATES_OF_A_COUNTRY.has(id)) return 'yyyy-mm-dd';
  return id === DATE_AND_TIME_OF_A_COUNTRY ? 'yyyy-mm-dd h:mm' : getFormatFromId(id);
}

/** Long numbers, such as telephone numbers, keep their digits. */
function plain(value: number | string): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(DIGITS))) : value;
}
