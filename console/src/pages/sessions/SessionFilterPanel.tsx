import { Button, Collapse, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';

import { textsIn } from '../../texts.ts';
import { SessionFilterFields } from './SessionFilterFields.tsx';
import { readSessionFilters, type SessionFilters } from './sessionFilters.ts';

const texts = textsIn({
  en: {
    filters: 'Filters',
    show: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
    clear: 'Clear the filters',
  },
  'zh-TW': {
    filters: '篩選',
    show: (count: number) => (count === 0 ? '篩選' : `篩選（${count}）`),
    clear: '清除篩選',
  },
});

interface SessionFilterPanelProps {
  readonly projectId: string;
  readonly value: SessionFilters;
  onChange(change: SessionFilters): void;
  /** What is always shown before the button. */
  readonly children: ReactNode;
}

/** The filters of a page of conversations, shown on demand, or at once where some are set. */
export function SessionFilterPanel({ projectId, value, onChange, children }: SessionFilterPanelProps) {
  const given = Object.keys(readSessionFilters(value));
  const [isOpen, panel] = useDisclosure(given.length > 0);
  return (
    <Stack gap="xs" role="search" aria-label={texts.filters}>
      <Group gap="sm" align="flex-end">
        {children}
        <Button variant="default" onClick={panel.toggle} aria-expanded={isOpen}>
          {texts.show(given.length)}
        </Button>
        {given.length > 0 && (
          <Button
            variant="subtle"
            onClick={() => onChange(Object.fromEntries(given.map((name) => [name, undefined])))}
          >
            {texts.clear}
          </Button>
        )}
      </Group>
      <Collapse expanded={isOpen}>
        <Group gap="sm" align="flex-end">
          <SessionFilterFields projectId={projectId} value={value} onChange={onChange} />
        </Group>
      </Collapse>
    </Stack>
  );
}
