const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const EVERY_DAY = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WEEK = EVERY_DAY.slice(0, 5);
/** The windows of the four campaigns; those of the first are the project's calling hours. */
export const WINDOWS = [
  [{ days: EVERY_DAY, from: '08:00', to: '21:00' }],
  [
    { days: EVERY_DAY, from: '09:00', to: '12:00' },
    { days: EVERY_DAY, from: '13:00', to: '17:30' },
  ],
  [{ days: [...WEEK, 'sun'], from: '10:00', to: '19:00' }],
  [{ days: EVERY_DAY, from: '17:00', to: '20:45' }],
];
const ZONES =
  `Pacific/Honolulu America/Anchorage America/Los_Angeles America/Phoenix America/Denver America/Chicago
  America/Mexico_City America/New_York America/Lima America/Bogota America/Halifax America/Caracas America/St_Johns
  America/Sao_Paulo America/Argentina/Buenos_Aires Atlantic/Azores Atlantic/Reykjavik Europe/London Europe/Lisbon Africa/Lagos
  Europe/Berlin Europe/Madrid Europe/Athens Africa/Cairo Africa/Johannesburg Europe/Istanbul Africa/Nairobi Asia/Tehran
  Asia/Dubai Asia/Karachi Asia/Kolkata Asia/Kathmandu Asia/Dhaka Asia/Bangkok Asia/Singapore Asia/Taipei Asia/Tokyo
  Australia/Adelaide Australia/Sydney Pacific/Auckland`.split(/\s+/);
const formats = new Map(
  ZONES.map((timeZone) => {
    const fields = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    return [timeZone, new Intl.DateTimeFormat('en-US', { timeZone, ...fields })];
  }),
);

/** The zone of a contact. */
export function zoneOf(number: string): string {
  return ZONES[Number(number.slice(-8)) % ZONES.length] ?? 'UTC';
}

/** Tells whether a campaign may call a contact of a zone, by Intl alone. */
export function isInside(campaign: number, zone: string, atMs: number): boolean {
  const { day, minutes } = localTime(zone, atMs);
  const holds = (windows: (typeof WINDOWS)[number] = []) =>
    windows.some(
      ({ days, from, to }) => days.includes(day) && minutesOf(from) <= minutes && minutes < minutesOf(to),
    );
  return holds(WINDOWS[campaign]) && holds(WINDOWS[0]);
}

/** The next moment at which each window of each zone opens or closes. */
export function edgesAfter(fromMs: number): number[] {
  const times = WINDOWS.flat().flatMap(({ from, to }) => [from, to]);
  return ZONES.flatMap((zone) => {
    const { minutes } = localTime(zone, fromMs);
    const minuteMs = fromMs - (fromMs % MINUTE_MS);
    return times.map(
      (time) => minuteMs + ((minutesOf(time) - minutes + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS,
    );
  });
}

function localTime(zone: string, atMs: number): { readonly day: string; readonly minutes: number } {
  const parts = formats.get(zone)?.formatToParts(atMs) ?? [];
  const part = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return { day: part.weekday?.toLowerCase() ?? '', minutes: Number(part.hour) * 60 + Number(part.minute) };
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}
