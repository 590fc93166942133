import { ActionIcon, Button, Group, Input, List, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

import { locale, textsIn } from '../../texts.ts';
import {
  DAYS,
  type Day,
  HOURS_PER_DAY,
  type HoursWindow,
  hourSpan,
  opennessOf,
  type Week,
  weekOf,
  windowsOf,
  withSpan,
} from './week.ts';
import classes from './weekGrid.module.css';

const texts = textsIn({
  en: {
    hour: 'Hour',
    help: 'Click an hour to open or close it; drag over several. By keyboard: arrows and Space.',
    none: 'No hour is open.',
    exact: 'Open exact hours',
    days: 'Days',
    from: 'From',
    to: 'Until',
    add: 'Open these hours',
    remove: (hours: string) => `Close ${hours}`,
    between: ', ',
  },
  'zh-TW': {
    hour: '時',
    help: '點一下可開放或關閉一小時，拖曳可選多個小時。鍵盤操作：方向鍵與空白鍵。',
    none: '沒有開放的時段。',
    exact: '開放精確的時段',
    days: '日',
    from: '從',
    to: '到',
    add: '開放這些時段',
    remove: (hours: string) => `關閉 ${hours}`,
    between: '、',
  },
});

const ARROWS: Readonly<Record<string, readonly [days: number, hours: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Monday, January 1, 2024, is the first of them. */
const dayNames = DAYS.map((_, place) =>
  new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, place + 1)),
);
const nameOf = (day: Day) => dayNames[DAYS.indexOf(day)] ?? day;
const timeOf = (hour: number) => `${String(hour).padStart(2, '0')}:00`;

interface WeekGridProps {
  /** For screen readers. */
  readonly label: string;
  readonly windows: readonly HoursWindow[];
  readonly onChange: (windows: HoursWindow[]) => void;
  readonly isReadOnly?: boolean;
}

/** The hours of a week: by clicks on a grid of hours, and to the minute below it. */
export function WeekGrid({ label, windows, onChange, isReadOnly = false }: WeekGridProps) {
  return (
    <Input.Wrapper label={label} labelElement="div" description={isReadOnly ? undefined : texts.help}>
      <Stack gap="xs" mt={4}>
        <HourCells label={label} windows={windows} onChange={onChange} isReadOnly={isReadOnly} />
        {windows.length === 0 && <Text size="sm">{texts.none}</Text>}
        <List size="sm" listStyleType="none">
          {windowsOf(weekOf(windows)).map((window) => (
            <WindowLine
              key={`${window.from}-${window.to}`}
              window={window}
              onRemove={
                isReadOnly
                  ? undefined
                  : () => onChange(windowsOf(weekOf(windows)).filter((one) => textOf(one) !== textOf(window)))
              }
            />
          ))}
        </List>
        {!isReadOnly && <ExactHours onAdd={(window) => onChange(windowsOf(weekOf([...windows, window])))} />}
      </Stack>
    </Input.Wrapper>
  );
}

function HourCells({ label, windows, onChange, isReadOnly = false }: WeekGridProps) {
  const week = weekOf(windows);
  const grid = useRef<HTMLTableElement>(null);
  /** The cell that the Tab key reaches. */
  const [reached, setReached] = useState<readonly [place: number, hour: number]>([0, 9]);
  /** What a mouse that is held down does to the cells it passes. */
  const painted = useRef<{ opens: boolean; week: Week } | undefined>(undefined);
  const paint = (place: number, hour: number) => {
    if (!painted.current) return;
    painted.current.week = withSpan(painted.current.week, place, hourSpan(hour), painted.current.opens);
    onChange(windowsOf(painted.current.week));
  };
  const toggle = (place: number, hour: number) => {
    const opens = opennessOf(week, place, hourSpan(hour)) !== 'open';
    onChange(windowsOf(withSpan(week, place, hourSpan(hour), opens)));
  };
  const onPointerDown = ({ pointerType, button }: PointerEvent, place: number, hour: number) => {
    painted.current = undefined;
    if (pointerType !== 'mouse' || button !== 0) return;
    painted.current = { opens: opennessOf(week, place, hourSpan(hour)) !== 'open', week };
    paint(place, hour);
  };
  const onKeyDown = (event: KeyboardEvent, place: number, hour: number) => {
    painted.current = undefined;
    const [days, hours] = ARROWS[event.key] ?? [0, 0];
    if (days === 0 && hours === 0) return;
    event.preventDefault();
    const next = [(place + days + DAYS.length) % DAYS.length, (hour + hours + HOURS_PER_DAY) % HOURS_PER_DAY];
    grid.current?.querySelector<HTMLElement>(`[data-cell="${next}"]`)?.focus();
  };
  return (
    <table className={classes.grid} aria-label={label} ref={grid}>
      <thead>
        <tr>
          <th className={classes.hour}>{texts.hour}</th>
          {dayNames.map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Array.from({ length: HOURS_PER_DAY }, (_, hour) => (
          <tr key={timeOf(hour)}>
            <th scope="row">{timeOf(hour)}</th>
            {dayNames.map((name, place) => {
              const openness = opennessOf(week, place, hourSpan(hour));
              return (
                <td key={name}>
                  <button
                    type="button"
                    className={classes.cell}
                    data-hours={openness}
                    data-cell={`${place},${hour}`}
                    aria-label={`${name} ${timeOf(hour)}`}
                    aria-pressed={openness === 'part' ? 'mixed' : openness === 'open'}
                    disabled={isReadOnly}
                    tabIndex={reached[0] === place && reached[1] === hour ? 0 : -1}
                    onFocus={() => setReached([place, hour])}
                    onKeyDown={(event) => onKeyDown(event, place, hour)}
                    onPointerDown={(event) => onPointerDown(event, place, hour)}
                    onPointerEnter={({ buttons }) => buttons === 1 && paint(place, hour)}
                    // A mouse has painted it already.
                    onClick={() => painted.current === undefined && toggle(place, hour)}
                  />
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const textOf = ({ days, from, to }: HoursWindow): string =>
  `${days.map(nameOf).join(texts.between)} ${from}–${to}`;

function WindowLine({ window, onRemove }: { window: HoursWindow; onRemove: (() => void) | undefined }) {
  return (
    <List.Item>
      {textOf(window)}{' '}
      {onRemove && (
        <ActionIcon
          variant="subtle"
          color="gray"
          onClick={onRemove}
          aria-label={texts.remove(textOf(window))}
        >
          <Cross2Icon />
        </ActionIcon>
      )}
    </List.Item>
  );
}

function ExactHours({ onAdd }: { onAdd: (window: HoursWindow) => void }) {
  const [days, setDays] = useState<Day[]>([]);
  const [from, setFrom] = useState('09:00');
  const [until, setUntil] = useState('17:30');
  // A day ends at 24:00, which a time field calls 00:00.
  const to = until === '00:00' ? '24:00' : until;
  return (
    <Group role="group" aria-label={texts.exact} align="flex-end" gap="xs">
      <MultiSelect
        label={texts.days}
        data={DAYS.map((day) => ({ value: day, label: nameOf(day) }))}
        value={days}
        onChange={(chosen) => setDays(DAYS.filter((day) => chosen.includes(day)))}
        flex="1 1 180px"
      />
      <TextInput
        type="time"
        label={texts.from}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        type="time"
        label={texts.to}
        value={until}
        onChange={(event) => setUntil(event.currentTarget.value)}
      />
      <Button
        variant="default"
        disabled={days.length === 0 || from === '' || to <= from}
        onClick={() => onAdd({ days, from, to })}
      >
        {texts.add}
      </Button>
    </Group>
  );
}
