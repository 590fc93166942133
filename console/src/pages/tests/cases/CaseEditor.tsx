import { Alert, Button, Group, List, Paper, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';

import { ApiError } from '../../../api/client.ts';
import { useScope } from '../../../session/session.ts';
import { textsIn } from '../../../texts.ts';
import type { CaseInput } from '../testData.ts';
import { CaseForm } from './CaseForm.tsx';

const texts = textsIn({
  en: {
    edit: 'Edit as',
    form: 'Form',
    yaml: 'YAML',
    yamlLabel: 'The case as YAML',
    yamlHelp: 'As in the files of callway test pull.',
    noCase: 'A case is a mapping with a name.',
    save: 'Save',
    create: 'Create the case',
  },
  'zh-TW': {
    edit: '編輯方式',
    form: '表單',
    yaml: 'YAML',
    yamlLabel: '以 YAML 表示的案例',
    yamlHelp: '與 callway test pull 的檔案相同。',
    noCase: '案例必須是含有 name 的對應。',
    save: '儲存',
    create: '建立測試案例',
  },
});

interface CaseEditorProps {
  projectId: string;
  initial: CaseInput;
  isNew: boolean;
  onSave: (input: CaseInput) => void;
  isPending: boolean;
  error: Error | null;
  /** Shown until the case is edited. */
  status?: string;
  /** Beside the button that saves. */
  children?: ReactNode;
}

/** Edits a case by its fields or as text; both edit the same. */
export function CaseEditor({
  projectId,
  initial,
  isNew,
  onSave,
  isPending,
  error,
  status,
  children,
}: CaseEditorProps) {
  const mayWrite = useScope('write');
  /** While the case is edited as text. The form needs no parser. */
  const [yaml, setYaml] = useState<typeof import('./caseYaml.ts')>();
  const [draft, setDraft] = useState(initial);
  const [text, setText] = useState('');
  const [textError, setTextError] = useState<string>();
  /** The case as it is edited now; undefined where the text is none. */
  const current = (): CaseInput | undefined => {
    if (!yaml) return draft;
    try {
      const read = yaml.caseOf(text);
      setTextError(read ? undefined : texts.noCase);
      return read;
    } catch (problem) {
      setTextError(problem instanceof Error ? problem.message : String(problem));
      return undefined;
    }
  };
  const change = async (chosen: 'form' | 'yaml') => {
    const edited = current();
    if (!edited) return;
    const next = chosen === 'yaml' ? await import('./caseYaml.ts') : undefined;
    if (next) setText(next.yamlOf(edited));
    setDraft(edited);
    setYaml(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const edited = current();
    if (edited) onSave(edited);
  };
  return (
    <Paper withBorder p="md" radius="md" component="form" onSubmit={submit}>
      <Stack>
        <SegmentedControl
          aria-label={texts.edit}
          w="fit-content"
          data={(['form', 'yaml'] as const).map((value) => ({ value, label: texts[value] }))}
          value={yaml ? 'yaml' : 'form'}
          onChange={(chosen) => void change(chosen)}
        />
        {yaml ? (
          <Textarea
            label={texts.yamlLabel}
            description={texts.yamlHelp}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={textError}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            spellCheck={false}
            autosize
            minRows={16}
          />
        ) : (
          <CaseForm projectId={projectId} value={draft} onChange={setDraft} />
        )}
        {error && <SaveError error={error} />}
        {mayWrite && (
          <Group>
            <Button type="submit" loading={isPending}>
              {isNew ? texts.create : texts.save}
            </Button>
            <Text size="sm" c="dimmed" role="status">
              {draft === initial && !yaml && status}
            </Text>
            {children}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

function SaveError({ error }: { error: Error }) {
  const details = error instanceof ApiError ? error.details : [];
  return (
    <Alert color="red" variant="outline" title={error.message}>
      {details.length > 0 && (
        <List size="sm">
          {details.map(({ path = '', message }) => (
            <List.Item key={`${path} ${message}`}>
              {path} {message}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}
