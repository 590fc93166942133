import { Button, Table, Text } from '@mantine/core';
import { useState } from 'react';

import { formatDay, formatHour, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import type { SessionSearch } from '../sessions/sessionSearch.ts';
import { type Insights, kappaText, type Series, valueIn } from './insightData.ts';
import type { Interval } from './insightSearch.ts';

/** Rows that are shown at first, and more at a time. */
const PAGE_SIZE = 31;

const texts = textsIn({
  en: {
    time: 'From (UTC)',
    hour: 'From',
    more: 'Show earlier ones',
    sessions: (value: string, name: string, at: string) => `${value}: conversations of ${name}, ${at}`,
    n: (n: string) => `n ${n}`,
  },
  'zh-TW': {
    time: '起始（UTC）',
    hour: '起始',
    more: '顯示更早的資料',
    sessions: (value: string, name: string, at: string) => `${value}：${name}的對話，${at}`,
    n: (n: string) => `n ${n}`,
  },
});

interface PointTableProps {
  readonly projectId: string;
  readonly label: string;
  readonly series: Insights['series'];
  readonly interval: Interval;
  nameOf(series: Series): string;
  format(value: number, series: Series): string;
  /** The conversations behind a point, where the list can show them. */
  linkOf(at: string, series: Series): SessionSearch | undefined;
}

/** The points of a plot, newest first, each with the way to its conversations. */
export function PointTable({ projectId, label, series, interval, nameOf, format, linkOf }: PointTableProps) {
  const [shown, setShown] = useState(PAGE_SIZE);
  const times = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at)))].toSorted().reverse();
  const columns = series.map((one) => ({
    one,
    name: nameOf(one),
    points: new Map(one.points.map((point) => [point.at, point])),
  }));
  const timeText = interval === 'hour' ? formatHour : formatDay;
  return (
    <>
      <Table.ScrollContainer minWidth={200}>
        <Table style={{ whiteSpace: 'nowrap' }} aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{interval === 'hour' ? texts.hour : texts.time}</Table.Th>
              {columns.map(({ one, name }) => (
                <Table.Th key={`${one.key} ${one.currency}`} ta="end">
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {times.slice(0, shown).map((at) => (
              <Table.Tr key={at}>
                <Table.Th scope="row" fw={400}>
                  {timeText(at)}
                </Table.Th>
                {columns.map(({ one, name, points }) => {
                  const point = points.get(at);
                  const value = point && valueIn(point);
                  if (!point || value == null) return <Table.Td key={`${one.key} ${one.currency}`} />;
                  const search = linkOf(at, one);
                  const text = format(value, one);
                  return (
                    <Table.Td key={`${one.key} ${one.currency}`} ta="end">
                      {search ? (
                        <PageLink
                          to="/projects/$projectId/sessions"
                          params={{ projectId }}
                          search={search}
                          inherit
                          aria-label={texts.sessions(text, name, timeText(at))}
                        >
                          {text}
                        </PageLink>
                      ) : (
                        text
                      )}{' '}
                      {notesOf(point, text) !== '' && (
                        <Text span size="xs" c="dimmed" ms="xs">
                          {notesOf(point, text)}
                        </Text>
                      )}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {times.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + PAGE_SIZE)}>
          {texts.more}
        </Button>
      )}
    </>
  );
}

/** What stands beside a value: its kappa, and of how many it is. */
const notesOf = (point: Series['points'][number], text: string): string =>
  [kappaText(point), text !== formatNumber(point.n) && texts.n(formatNumber(point.n))]
    .filter(Boolean)
    .join(' · ');
