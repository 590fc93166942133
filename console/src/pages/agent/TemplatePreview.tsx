import { Paper, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { ChevronDownIcon, ChevronRightIcon } from '@radix-ui/react-icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { useProjectId } from '../../components/useProjectId.ts';
import { textsIn } from '../../texts.ts';

/** After the last key. */
const RENDER_DELAY_MS = 300;
const MARKUP = /\{\{|\{%/;

const texts = textsIn({
  en: { preview: 'Preview', result: 'Preview of the text', empty: 'The text is empty.' },
  'zh-TW': { preview: '預覽', result: '文字預覽', empty: '文字是空的。' },
});

/** A template as a turn would render it, with values for its variables to try. */
export function TemplatePreview({ template }: { template: string }) {
  const [isOpen, { toggle }] = useDisclosure();
  if (!MARKUP.test(template)) return null;
  return (
    <div>
      <UnstyledButton fz="xs" py={4} onClick={toggle} aria-expanded={isOpen}>
        {isOpen ? <ChevronDownIcon /> : <ChevronRightIcon />} {texts.preview}
      </UnstyledButton>
      {isOpen && <Rendered template={template} />}
    </div>
  );
}

function Rendered({ template }: { template: string }) {
  const projectId = useProjectId();
  const api = useApi();
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [[settled, given]] = useDebouncedValue([template, values] as const, RENDER_DELAY_MS);
  const { data, error } = useQuery({
    queryKey: ['template-preview', projectId, settled, [...given]],
    queryFn: () =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/templates/preview', {
          params: { path: { projectId } },
          body: { template: settled, variables: variablesOf(given) },
        }),
      ),
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  // Of a list's entry, the list is what can be given.
  const names = [...new Set(data?.variables.map((path) => path.replace(/\[.*/, '')))];
  return (
    <Paper withBorder p="sm" radius="md">
      <Stack gap="xs">
        {names.map((name) => (
          <TextInput
            key={name}
            size="xs"
            label={name}
            value={values.get(name) ?? ''}
            onChange={({ currentTarget: { value } }) => setValues((all) => new Map(all).set(name, value))}
          />
        ))}
        <Text
          size="sm"
          component="output"
          aria-label={texts.result}
          {...(error && { c: 'var(--mantine-color-error)' })}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {error ? error.message : data && (data.text.trim() === '' ? texts.empty : data.text)}
        </Text>
      </Stack>
    </Paper>
  );
}

/** Nested as their names are: `call.fromNumber` is a property of `call`. */
function variablesOf(values: ReadonlyMap<string, string>): Record<string, unknown> {
  const variables = emptyObject();
  for (const [path, value] of values) if (value !== '') insert(variables, path.split('.'), value);
  return variables;
}

function insert(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: string): void {
  if (rest.length === 0) {
    into[name] = jsonOrText(value);
    return;
  }
  const known = Object.hasOwn(into, name) ? into[name] : undefined;
  const inner =
    typeof known === 'object' && known !== null ? (known as Record<string, unknown>) : emptyObject();
  into[name] = inner;
  insert(inner, rest, value);
}

/** Templates of others may name any property, such as `__proto__`. */
function emptyObject(): Record<string, unknown> {
  return Object.create(null);
}

/** Lists and objects can be given, too. */
function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
