/** Spreadsheets take a cell that begins so for a formula, and run it. @see https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r\n]/;
/** Signed numbers, such as phone numbers in E.164, which no spreadsheet runs. */
const NUMBER = /^[+-]\d+(?:\.\d+)?$/;
const NEEDS_QUOTES = /[",\r\n']/;

/** Writes one line of a CSV file. @see RFC 4180 */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const isFormula = typeof value === 'string' && FORMULA.test(text) && !NUMBER.test(text);
  const safe = isFormula ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
