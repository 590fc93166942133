import { Collapse, Stack, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDownIcon, ChevronRightIcon } from '@radix-ui/react-icons';
import { type ComponentType, type ReactNode, useMemo } from 'react';

import { textsIn } from '../texts.ts';
import { Field } from './Field.tsx';
import { FormContext } from './formContext.ts';
import { type JsonObject, type JsonSchema, withProperty } from './jsonSchema.ts';
import { ObjectFields } from './ObjectField.tsx';

const texts = textsIn({
  en: { more: (set: number) => (set === 0 ? 'More settings' : `More settings (${set} set)`) },
  'zh-TW': { more: (set: number) => (set === 0 ? '更多設定' : `更多設定（已設 ${set} 項）`) },
});

export interface SchemaFormProps {
  /** Of an object. */
  readonly schema: JsonSchema;
  /** In which `$ref` points. */
  readonly document?: unknown;
  readonly value: JsonObject;
  onChange(value: JsonObject, field: string): void;
  /** Properties in this order; the others follow. */
  readonly first?: readonly string[];
  /** Properties that are shown on demand. */
  readonly advanced?: readonly string[];
  /** Properties without a field. */
  readonly hidden?: readonly string[];
  /** By JSON pointer, as `details[].path` of the API's errors. */
  readonly errors?: ReadonlyMap<string, string>;
  readonly variables?: readonly string[];
  readonly isReadOnly?: boolean;
  readonly TemplatePreview?: ComponentType<{ readonly template: string }>;
  choices?(pointer: string): readonly { value: string; label: string }[] | undefined;
}

const NO_ERRORS: ReadonlyMap<string, string> = new Map();
const NONE: readonly string[] = [];
const noChoices = () => undefined;

/**
 * A form made of a JSON Schema, whose descriptions are the help. What the schema does not know is shown as JSON and
 * kept.
 */
export function SchemaForm({
  schema,
  document = schema,
  value,
  onChange,
  first = NONE,
  advanced = NONE,
  hidden = NONE,
  errors = NO_ERRORS,
  variables = NONE,
  isReadOnly = false,
  TemplatePreview,
  choices = noChoices,
}: SchemaFormProps) {
  const context = useMemo(
    () => ({ Field, document, errors, variables, isReadOnly, TemplatePreview, choices }),
    [document, errors, variables, isReadOnly, TemplatePreview, choices],
  );
  const names = Object.keys(schema.properties ?? {}).filter((name) => !hidden.includes(name));
  const ordered = [
    ...first.filter((name) => names.includes(name)),
    ...names.filter((name) => !first.includes(name)),
  ];
  const main = ordered.filter((name) => !advanced.includes(name));
  const more = ordered.filter((name) => advanced.includes(name));
  const fields = (shown: readonly string[]) => (
    <ObjectFields schema={schema} value={value} pointer="" names={shown} onChange={onChange} />
  );
  return (
    <FormContext value={context}>
      <Stack gap="md">
        {fields(main)}
        <UnknownFields schema={schema} value={value} hidden={hidden} onChange={onChange} />
        {more.length > 0 && (
          <More set={more.filter((name) => value[name] != null).length}>{fields(more)}</More>
        )}
      </Stack>
    </FormContext>
  );
}

function More({ set, children }: { set: number; children: ReactNode }) {
  const [isOpen, { toggle }] = useDisclosure();
  return (
    <div>
      <UnstyledButton fz="sm" fw={600} py={4} onClick={toggle} aria-expanded={isOpen}>
        {isOpen ? <ChevronDownIcon /> : <ChevronRightIcon />} {texts.more(set)}
      </UnstyledButton>
      <Collapse expanded={isOpen} keepMounted={false} pt="sm">
        <Stack gap="md">{children}</Stack>
      </Collapse>
    </div>
  );
}

/** What a newer service, or another program, has written. */
function UnknownFields({
  schema,
  value,
  hidden,
  onChange,
}: Pick<SchemaFormProps, 'schema' | 'value' | 'onChange'> & { hidden: readonly string[] }) {
  const known = schema.properties ?? {};
  const unknown = Object.keys(value).filter((name) => !(name in known) && !hidden.includes(name));
  return unknown.map((name) => (
    <Field
      key={name}
      name={name}
      schema={{}}
      value={value[name]}
      pointer={`/${name}`}
      isRequired={false}
      onChange={(next) => onChange(withProperty(value, name, next), name)}
    />
  ));
}
