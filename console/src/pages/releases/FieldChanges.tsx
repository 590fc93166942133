import { Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';

import { formatNumber } from '../../formats.ts';
import { nameOf } from '../../schemaForm/words.ts';
import { textsIn } from '../../texts.ts';
import type { FieldDiff } from './releaseData.ts';
import classes from './releases.module.css';

/** What is shown beside a change. */
const CONTEXT_CHARACTERS = 200;

const texts = textsIn({
  en: {
    removed: 'removed',
    added: 'added',
    none: 'nothing',
    hidden: (count: string) => `… ${count} characters are the same …`,
  },
  'zh-TW': {
    removed: '移除',
    added: '新增',
    none: '無',
    hidden: (count: string) => `… ${count} 個字元相同 …`,
  },
});

/** Field by field; of texts the words that went and came. */
export function FieldChanges({ fields }: { fields: readonly FieldDiff[] }) {
  return (
    <Stack gap="xs">
      {fields.map((field) => (
        <div key={field.path}>
          <Text size="xs" c="dimmed">
            {fieldName(field.path)}
          </Text>
          <Text size="sm" className={classes.change ?? ''}>
            <Change {...field} />
          </Text>
        </div>
      ))}
    </Stack>
  );
}

function Change({ from, to, words }: FieldDiff) {
  if (words === undefined) {
    return (
      <>
        <Removed>{valueText(from)}</Removed> → <Added>{valueText(to)}</Added>
      </>
    );
  }
  return words.map(({ kind, text }, index) => {
    const Part = { same: Same, added: Added, removed: Removed }[kind];
    const sides = { isFirst: index === 0, isLast: index === words.length - 1 };
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: the words of two texts that do not change.
      <Part key={index} {...sides}>
        {text}
      </Part>
    );
  });
}

interface SameProps {
  readonly children: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** What both texts say: of much of it only what is beside a change, and the rest on demand. */
function Same({ children, isFirst, isLast }: SameProps) {
  const [isOpen, panel] = useDisclosure();
  const before = isFirst ? '' : children.slice(0, CONTEXT_CHARACTERS).replace(/\w+$/, '');
  const after = isLast ? '' : children.slice(-CONTEXT_CHARACTERS).replace(/^\w+/, '');
  const hidden = children.length - before.length - after.length;
  if (isOpen || hidden < CONTEXT_CHARACTERS) return <span>{children}</span>;
  return (
    <>
      {before}
      <Button variant="default" size="compact-xs" mx={4} onClick={panel.open}>
        {texts.hidden(formatNumber(hidden))}
      </Button>
      {after}
    </>
  );
}

const Added = ({ children }: { children: string }) => (
  <ins className={classes.added} title={texts.added}>
    {children}
  </ins>
);

const Removed = ({ children }: { children: string }) => (
  <del className={classes.removed} title={texts.removed}>
    {children}
  </del>
);

function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return texts.none;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}

/** @param path - JSON pointer. */
function fieldName(path: string): string {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return (parts[0] === 'data' ? parts.slice(1) : parts).map(nameOf).join(' › ');
}
