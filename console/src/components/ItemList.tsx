import { ActionIcon, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { ArrowDownIcon, ArrowUpIcon, Cross2Icon, PlusIcon } from '@radix-ui/react-icons';
import { type ReactNode, useRef, useState } from 'react';

import { textsIn } from '../texts.ts';

const texts = textsIn({
  en: {
    up: (item: string) => `Move ${item} up`,
    down: (item: string) => `Move ${item} down`,
    remove: (item: string) => `Remove ${item}`,
  },
  'zh-TW': {
    up: (item: string) => `上移${item}`,
    down: (item: string) => `下移${item}`,
    remove: (item: string) => `移除${item}`,
  },
});

interface ItemListProps<Item> {
  label: string;
  description?: string;
  /** @param number - From 1. */
  nameOf: (number: number) => string;
  addLabel: string;
  items: readonly Item[];
  onChange: (items: Item[]) => void;
  makeItem: () => Item;
  children: (item: Item, change: (item: Item) => void) => ReactNode;
}

/** A list whose items are added, moved and removed. */
export function ItemList<Item>(props: ItemListProps<Item>) {
  const { label, description, nameOf, addLabel, items, onChange, makeItem, children } = props;
  // Fields keep what is being typed in their item, wherever it moves.
  const [keys, setKeys] = useState(() => items.map((_, place) => place));
  const lastKey = useRef(items.length);
  const set = (all: readonly { item: Item; key: number }[]) => {
    setKeys(all.map(({ key }) => key));
    onChange(all.map(({ item }) => item));
  };
  const all = items.map((item, place) => ({ item, key: keys[place] ?? place }));
  const add = () => {
    lastKey.current += 1;
    set([...all, { item: makeItem(), key: lastKey.current }]);
  };
  const move = (from: number, to: number) => {
    const moved = all.toSpliced(from, 1);
    set(moved.toSpliced(to, 0, ...all.slice(from, from + 1)));
  };
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      <Text fw={600}>{label}</Text>
      {description !== undefined && (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      {all.map(({ item, key }, place) => (
        <Paper key={key} withBorder p="sm" radius="md" role="group" aria-label={nameOf(place + 1)}>
          <Group justify="space-between" mb={4} wrap="nowrap">
            <Text size="sm" c="dimmed">
              {nameOf(place + 1)}
            </Text>
            <Group gap={4} wrap="nowrap">
              <ActionIcon
                variant="subtle"
                color="gray"
                disabled={place === 0}
                onClick={() => move(place, place - 1)}
                aria-label={texts.up(nameOf(place + 1))}
              >
                <ArrowUpIcon />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                disabled={place === all.length - 1}
                onClick={() => move(place, place + 1)}
                aria-label={texts.down(nameOf(place + 1))}
              >
                <ArrowDownIcon />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                onClick={() => set(all.toSpliced(place, 1))}
                aria-label={texts.remove(nameOf(place + 1))}
              >
                <Cross2Icon />
              </ActionIcon>
            </Group>
          </Group>
          {children(item, (changed) => onChange(items.toSpliced(place, 1, changed)))}
        </Paper>
      ))}
      <Button variant="default" leftSection={<PlusIcon />} onClick={add} style={{ alignSelf: 'start' }}>
        {addLabel}
      </Button>
    </Stack>
  );
}
