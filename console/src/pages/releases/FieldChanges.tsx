import { Stack, Text } from '@mantine/core';

import { nameOf } from '../../schemaForm/words.ts';
import { textsIn } from '../../texts.ts';
import type { FieldDiff } from './releaseData.ts';
import classes from './releases.module.css';

const texts = textsIn({
  en: { removed: 'removed', added: 'added', none: 'nothing' },
  'zh-TW': { removed: '移除', added: '新增', none: '無' },
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
    // biome-ignore lint/suspicious/noArrayIndexKey: the words of two texts that do not change.
    return <Part key={index}>{text}</Part>;
  });
}

const Same = ({ children }: { children: string }) => <span>{children}</span>;

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
