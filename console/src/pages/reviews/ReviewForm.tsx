import {
  Button,
  Group,
  Loader,
  Paper,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  Textarea,
} from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';

import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import { resultReasonText } from '../../codes/codeText.ts';
import { FormError } from '../../components/FormError.tsx';
import { ErrorPage } from '../../layout/ErrorPage.tsx';
import { PageLink } from '../../layout/links.tsx';
import { textsIn } from '../../texts.ts';
import { STATES } from '../call/colors.ts';
import type { SessionToReview, Verdict } from './reviewData.ts';

const MAX_NOTE_CHARACTERS = 4_000;
const MAX_LABELS = 20;

const texts = textsIn({
  en: {
    good: 'Good',
    bad: 'Bad',
    note: 'Note',
    labels: 'Labels',
    labelsHelp: 'Enter adds one. By them bad conversations are found again.',
    whole: 'The whole conversation',
    caller: 'Caller',
    agent: 'Agent',
    words: 'What was said',
    silent: 'Nothing was said.',
    judge: 'What the judge said, and what you say',
    met: 'met',
    missed: 'not met',
    judged: (name: string, verdict: string) => `${name}: the judge says ${verdict}`,
    unsaid: '–',
  },
  'zh-TW': {
    good: '好',
    bad: '不好',
    note: '備註',
    labels: '標籤',
    labelsHelp: '按 Enter 新增。可用標籤再找到不好的對話。',
    whole: '完整對話',
    caller: '來電者',
    agent: '代理',
    words: '說過的話',
    silent: '沒有說話。',
    judge: '評審模型的判斷與您的判斷',
    met: '符合',
    missed: '不符合',
    judged: (name: string, verdict: string) => `${name}：評審判斷為${verdict}`,
    unsaid: '–',
  },
});

interface ReviewFormProps {
  readonly projectId: string;
  readonly session: SessionToReview;
  readonly mayWrite: boolean;
}

/** What was said, and a person's verdict on it. */
export function ReviewForm({ projectId, session: { sessionId, callId }, mayWrite }: ReviewFormProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [note, setNote] = useState('');
  const [labels, setLabels] = useState<string[]>([]);
  const [criteria, setCriteria] = useState<Readonly<Record<string, Verdict>>>({});
  const noteField = useRef<HTMLTextAreaElement>(null);
  const labelField = useRef<HTMLInputElement>(null);
  const { data, error } = useQuery({
    queryKey: ['reviews', projectId, 'session', sessionId],
    queryFn: () =>
      bodyOf(
        api.GET('/v1/projects/{projectId}/session-history/{sessionId}', {
          params: { path: { projectId, sessionId } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const review = useMutation({
    mutationFn: (verdict: Verdict) =>
      bodyOf(
        api.POST('/v1/projects/{projectId}/session-history/{sessionId}/review', {
          params: { path: { projectId, sessionId } },
          body: {
            verdict,
            note: note.trim() || undefined,
            labels: labels.length > 0 ? labels : undefined,
            criteria: Object.keys(criteria).length > 0 ? criteria : undefined,
          },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['reviews', projectId] }),
  });
  const give = (verdict: Verdict) => {
    if (mayWrite && data && !review.isPending) review.mutate(verdict);
  };
  useHotkeys([
    ['g', () => give('good')],
    ['b', () => give('bad')],
    ['n', () => noteField.current?.focus()],
    ['l', () => labelField.current?.focus()],
  ]);
  if (!data) return error ? <ErrorPage error={error} /> : <Loader aria-label={texts.words} />;
  const { analysis, evaluation, messages } = data;
  const judged = (evaluation?.criteria ?? []).flatMap((one) => ('passed' in one ? [one] : []));
  const said = messages.filter(({ role, content }) => role !== 'tool' && content);
  return (
    <Stack gap="sm">
      {analysis?.summary !== undefined && <Text size="sm">{analysis.summary}</Text>}
      <Paper
        withBorder
        p="sm"
        mah={320}
        style={{ overflow: 'auto' }}
        component="section"
        aria-label={texts.words}
        tabIndex={0}
      >
        {said.length === 0 && <Text size="sm">{texts.silent}</Text>}
        {said.map(({ role, content, at }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the words of an ended conversation do not change.
          <Text key={`${at} ${place}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Text span fw={600} size="sm">
              {role === 'user' ? texts.caller : texts.agent}
            </Text>{' '}
            {content}
          </Text>
        ))}
      </Paper>
      <PageLink
        to="/projects/$projectId/calls/$callId"
        params={{ projectId, callId: callId ?? sessionId }}
        size="sm"
      >
        {texts.whole}
      </PageLink>
      {mayWrite && (
        <>
          {judged.length > 0 && (
            <Stack gap="xs" role="group" aria-label={texts.judge}>
              {judged.map(({ name, passed, reason }) => (
                <Group key={name} justify="space-between" wrap="wrap" gap="xs">
                  <Text size="sm" title={resultReasonText(reason)}>
                    {texts.judged(name, passed ? texts.met : texts.missed)}
                  </Text>
                  <SegmentedControl
                    size="xs"
                    aria-label={name}
                    data={[
                      { value: '', label: texts.unsaid },
                      { value: 'good', label: texts.met },
                      { value: 'bad', label: texts.missed },
                    ]}
                    value={criteria[name] ?? ''}
                    onChange={(value) => setCriteria(withVerdict(criteria, name, value))}
                  />
                </Group>
              ))}
            </Stack>
          )}
          <Textarea
            ref={noteField}
            label={texts.note}
            value={note}
            maxLength={MAX_NOTE_CHARACTERS}
            autosize
            minRows={1}
            maxRows={6}
            onChange={(event) => setNote(event.currentTarget.value)}
            onKeyDown={leaveByEscape}
          />
          <TagsInput
            ref={labelField}
            label={texts.labels}
            description={texts.labelsHelp}
            value={labels}
            maxTags={MAX_LABELS}
            onChange={setLabels}
            onKeyDown={leaveByEscape}
          />
          <FormError error={review.error} />
          <Group>
            <Button color={STATES.good} loading={review.isPending} onClick={() => give('good')}>
              {texts.good}
            </Button>
            <Button color={STATES.bad} loading={review.isPending} onClick={() => give('bad')}>
              {texts.bad}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

/** The keys of the queue are letters, which a field takes for itself. */
function leaveByEscape({ key, currentTarget }: { key: string; currentTarget: HTMLElement }): void {
  if (key === 'Escape') currentTarget.blur();
}

function withVerdict(
  criteria: Readonly<Record<string, Verdict>>,
  name: string,
  value: string,
): Readonly<Record<string, Verdict>> {
  const { [name]: _, ...others } = criteria;
  return value === 'good' || value === 'bad' ? { ...others, [name]: value } : others;
}
