import { Button, Group, Stack, Table, Text, Textarea, TextInput } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { codeText } from '../../codes/codeText.ts';
import { ConfirmButton } from '../../components/ConfirmButton.tsx';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { listQuery, PagedTable } from '../../components/PagedTable.tsx';
import { Section } from '../../components/Section.tsx';
import { formatDateTime, formatNumber } from '../../formats.ts';
import { PageLink } from '../../layout/links.tsx';
import { useScope } from '../../session/session.ts';
import { textsIn } from '../../texts.ts';
import { type DoNotCallList, useDoNotCallList } from './doNotCallList.ts';
import { ImportList } from './imports/ImportList.tsx';

/** That people write between digits. */
const MARKS = /[\s().-]/g;

const texts = textsIn({
  en: {
    title: 'Numbers that are never called',
    about:
      'By no campaign, callback or order of this project. People who ask not to be called again are listed here by themselves.',
    aboutAll: 'By no project of this installation, beside the numbers on the list of each project.',
    none: 'No number is listed. Add those of people who asked not to be called, for example from your earlier system.',
    numbers: 'Numbers to add',
    format: 'With country code, one a line: +886912345678',
    reason: 'Reason',
    add: 'Add to the list',
    added: (added: string, known: string) => `${added} added, ${known} were listed already`,
    lookUp: 'Look a number up',
    find: 'Look up',
    listed: (number: string, at: string) => `${number} has been listed since ${at}.`,
    unlisted: 'This number is not listed.',
    number: 'Number',
    source: 'Source',
    since: 'Since',
    actions: 'Actions',
    remove: 'Remove',
    removeQuestion: (number: string) => `Remove ${number} from the list? It may be called again.`,
    call: 'Call',
    erased: 'Of an erased customer',
  },
  'zh-TW': {
    title: '絕不撥打的號碼',
    about: '此專案的外撥活動、回電與撥號要求都不會撥打。表示不願再接到電話的人會自動列入。',
    aboutAll: '此安裝環境的任何專案都不會撥打；各專案另有自己的名單。',
    none: '名單上沒有號碼。請加入曾要求不再致電者的號碼，例如來自舊系統的名單。',
    numbers: '要加入的號碼',
    format: '含國碼，每行一個：+886912345678',
    reason: '原因',
    add: '加入名單',
    added: (added: string, known: string) => `已加入 ${added} 個，${known} 個原已在名單上`,
    lookUp: '查詢號碼',
    find: '查詢',
    listed: (number: string, at: string) => `${number} 自 ${at} 起在名單上。`,
    unlisted: '這個號碼不在名單上。',
    number: '號碼',
    source: '來源',
    since: '加入時間',
    actions: '操作',
    remove: '移除',
    removeQuestion: (number: string) => `要從名單移除 ${number} 嗎？之後可能再次撥打。`,
    call: '通話',
    erased: '已清除資料的客戶',
  },
});

/** The do-not-call list of a project. @param projectId - Undefined for the installation's. */
export function DoNotCall({ projectId }: { projectId: string | undefined }) {
  const mayWrite = useScope('write');
  const list = useDoNotCallList(projectId);
  return (
    <Stack>
      <Section title={texts.title} description={projectId === undefined ? texts.aboutAll : texts.about}>
        {mayWrite && <AddNumbers list={list} />}
        <LookUp list={list} />
        <NumberTable list={list} mayWrite={mayWrite} />
      </Section>
      {mayWrite && (
        <ImportList target={{ kind: 'numbers', projectId, path: list.path, queryKey: list.queryKey }} />
      )}
    </Stack>
  );
}

const withoutMarks = (number: string) => number.replace(MARKS, '');

function AddNumbers({ list }: { list: DoNotCallList }) {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const [reason, setReason] = useState('');
  const numbers = text.split(/[\n,;]+/).flatMap((line) => withoutMarks(line) || []);
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => list.add({ numbers, reason: reason.trim() || undefined }),
    onSuccess: async () => {
      setText('');
      await queries.invalidateQueries({ queryKey: list.queryKey });
    },
  });
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())} gap="xs">
      <Textarea
        label={texts.numbers}
        description={texts.format}
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group align="flex-end">
        <TextInput
          label={texts.reason}
          maxLength={1_000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          flex="1 1 200px"
        />
        <Button type="submit" loading={isPending} disabled={numbers.length === 0}>
          {texts.add}
        </Button>
      </Group>
      <FormError error={error} />
      {data && 'added' in data && (
        <Text role="status">{texts.added(formatNumber(data.added), formatNumber(data.known))}</Text>
      )}
    </Stack>
  );
}

function LookUp({ list }: { list: DoNotCallList }) {
  const [number, setNumber] = useState('');
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => list.find(withoutMarks(number)),
  });
  const isUnlisted = error instanceof ApiError && error.status === 404;
  return (
    <Stack component="form" onSubmit={handleSubmit(() => mutate())} gap="xs">
      <Group align="flex-end">
        <TextInput
          label={texts.lookUp}
          inputMode="tel"
          maxLength={64}
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={isPending} disabled={number.trim() === ''}>
          {texts.find}
        </Button>
      </Group>
      {data && <Text role="status">{texts.listed(data.number ?? number, formatDateTime(data.at))}</Text>}
      {isUnlisted && <Text role="status">{texts.unlisted}</Text>}
      <FormError error={isUnlisted ? null : error} />
    </Stack>
  );
}

function NumberTable({ list, mayWrite }: { list: DoNotCallList; mayWrite: boolean }) {
  const queries = useQueryClient();
  const pages = useInfiniteQuery(listQuery(list.queryKey, list.read));
  const remove = async (number: string) => {
    await list.remove(number);
    await queries.invalidateQueries({ queryKey: list.queryKey });
  };
  return (
    <PagedTable
      label={texts.title}
      pages={pages}
      none={texts.none}
      minWidth={520}
      headings={[texts.number, texts.source, texts.since, mayWrite && texts.actions]}
    >
      {({ number, source, reason, callId, at }) => (
        <Table.Tr key={number ?? at}>
          <Table.Td>{number ?? texts.erased}</Table.Td>
          <Table.Td style={{ overflowWrap: 'anywhere' }}>
            {codeText('doNotCallSource', source)}
            {reason && <Text size="xs">{reason}</Text>}
            {callId && list.projectId !== undefined && (
              <PageLink
                to="/projects/$projectId/calls/$callId"
                params={{ projectId: list.projectId, callId }}
                size="xs"
              >
                {texts.call}
              </PageLink>
            )}
          </Table.Td>
          <Table.Td>{formatDateTime(at)}</Table.Td>
          {mayWrite && (
            <Table.Td>
              {number !== null && (
                <ConfirmButton
                  question={texts.removeQuestion(number)}
                  action={() => remove(number)}
                  aria-label={`${texts.remove} ${number}`}
                >
                  {texts.remove}
                </ConfirmButton>
              )}
            </Table.Td>
          )}
        </Table.Tr>
      )}
    </PagedTable>
  );
}
