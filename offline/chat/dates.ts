import { cjkNumber, numberWordsToDigits } from './numbers.ts';
import { normalize, normalizedPhrase, tokenize } from './terms.ts';

const DAY_MS = 86_400_000;
const DAYS_IN_WEEK = 7;

/** Days from today; longer phrases first, since some contain others. */
const RELATIVE: readonly (readonly [RegExp, number])[] = [
  [/\bday after tomorrow\b|\bpasado manana\b|\bubermorgen\b|\bapres demain\b|後天|后天|明後日|あさって/u, 2],
  [/\btomorrow\b|\bmanana\b|\bmorgen\b|\bdemain\b|明天|明日|あした/u, 1],
  [/\bday before yesterday\b|\bvorgestern\b|\bavant hier\b|前天|一昨日/u, -2],
  [/\byesterday\b|\bayer\b|\bgestern\b|\bhier\b|昨天|昨日/u, -1],
  [/\btoday\b|\btonight\b|\bhoy\b|\bheute\b|\baujourd hui\b|今天|今日|きょう/u, 0],
];

const WEEKDAYS: readonly RegExp[] = [
  /\bsun(?:day)?\b|\bdomingo\b|\bsonntag\b|\bdimanche\b|(?:星期|週|周|禮拜)[日天]|日曜/u,
  /\bmon(?:day)?\b|\blunes\b|\bmontag\b|\blundi\b|(?:星期|週|周|禮拜)一|月曜/u,
  /\btue(?:s|sday)?\b|\bmartes\b|\bdienstag\b|\bmardi\b|(?:星期|週|周|禮拜)二|火曜/u,
  /\bwed(?:nesday)?\b|\bmiercoles\b|\bmittwoch\b|\bmercredi\b|(?:星期|週|周|禮拜)三|水曜/u,
  /\bthu(?:rs|rsday)?\b|\bjueves\b|\bdonnerstag\b|\bjeudi\b|(?:星期|週|周|禮拜)四|木曜/u,
  /\bfri(?:day)?\b|\bviernes\b|\bfreitag\b|\bvendredi\b|(?:星期|週|周|禮拜)五|金曜/u,
  /\bsaturday\b|\bsabado\b|\bsamstag\b|\bsamedi\b|(?:星期|週|周|禮拜)六|土曜/u,
];

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
);
const MONTH_NAME = `(${MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|sept)`;
const DAY_MONTH = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH_NAME}\\b(?: (\\d{4}))?`);
const MONTH_DAY = new RegExp(`\\b${MONTH_NAME}(?: the)? (\\d{1,2})(?:st|nd|rd|th)?\\b(?: (\\d{4}))?`);
const YEAR_FIRST = /\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b|(\d{4})年(\d{1,2})月(\d{1,2})[日號号]/u;
const CJK_MONTH_DAY = /(\d{1,2}|[一二三四五六七八九十]{1,3})月(\d{1,2}|[一二三四五六七八九十]{1,3})[日號号]/u;
const IN_DAYS = /\bin (?:a|(\d{1,3})) (day|week)s?\b/;

/**
 * Finds a date in a text.
 *
 * @param today - `YYYY-MM-DD`; without it only dates with a year are found.
 * @returns `YYYY-MM-DD`; undefined when there is no date, or an impossible one.
 */
export function findDate(text: string, today: string | undefined): string | undefined {
  const plain = normalize(text);
  const full = YEAR_FIRST.exec(plain);
  if (full) return calendarDay(...numbersOf(full[1] ?? full[4], full[2] ?? full[5], full[3] ?? full[6]));
  const words = numberWordsToDigits(tokenize(plain)).join(' ');
  const named = monthAndDay(words, plain);
  if (named?.year !== undefined) return calendarDay(named.year, named.month, named.day);
  if (today === undefined) return undefined;
  const todayMs = Date.parse(`${today}T00:00:00Z`);
  if (Number.isNaN(todayMs)) return undefined;
  return named
    ? nextOccurrence(named.month, named.day, todayMs)
    : relativeDay(words, normalizedPhrase(text), todayMs);
}

interface NamedDay {
  readonly year: number | undefined;
  readonly month: number;
  readonly day: number;
}

function monthAndDay(words: string, plain: string): NamedDay | undefined {
  const dayFirst = DAY_MONTH.exec(words);
  if (dayFirst) return namedDay(dayFirst[3], monthNumber(dayFirst[2]), dayFirst[1]);
  const monthFirst = MONTH_DAY.exec(words);
  if (monthFirst) return namedDay(monthFirst[3], monthNumber(monthFirst[1]), monthFirst[2]);
  const cjk = CJK_MONTH_DAY.exec(plain);
  return cjk ? namedDay(undefined, cjkOrDigits(cjk[1]), cjk[2]) : undefined;
}

function namedDay(year: string | undefined, month: number, day: string | undefined): NamedDay {
  return { year: year === undefined ? undefined : Number(year), month, day: cjkOrDigits(day) };
}

function relativeDay(words: string, phrase: string, todayMs: number): string | undefined {
  const ahead = IN_DAYS.exec(words);
  if (ahead) {
    const count = Number(ahead[1] ?? 1) * (ahead[2] === 'week' ? DAYS_IN_WEEK : 1);
    return isoDay(todayMs + count * DAY_MS);
  }
  const relative = RELATIVE.find(([pattern]) => pattern.test(phrase));
  if (relative) return isoDay(todayMs + relative[1] * DAY_MS);
  const weekday = WEEKDAYS.findIndex((pattern) => pattern.test(phrase));
  if (weekday < 0) return undefined;
  // "Monday" on a Monday means the next one.
  const daysAhead = (weekday - new Date(todayMs).getUTCDay() + DAYS_IN_WEEK) % DAYS_IN_WEEK || DAYS_IN_WEEK;
  return isoDay(todayMs + daysAhead * DAY_MS);
}

/** A date without a year is the next such date, today included. */
function nextOccurrence(month: number, day: number, todayMs: number): string | undefined {
  const year = new Date(todayMs).getUTCFullYear();
  const thisYear = calendarDay(year, month, day);
  if (thisYear !== undefined && Date.parse(thisYear) >= todayMs) return thisYear;
  return calendarDay(year + 1, month, day);
}

function calendarDay(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? isoDay(date.getTime()) : undefined;
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function monthNumber(name = ''): number {
  return MONTHS.findIndex((month) => month.startsWith(name.slice(0, 3))) + 1;
}

function cjkOrDigits(text = ''): number {
  return /^\d+$/.test(text) ? Number(text) : (cjkNumber(text) ?? Number.NaN);
}

function numbersOf(...texts: readonly [string | undefined, string | undefined, string | undefined]) {
  return texts.map(Number) as [number, number, number];
}
