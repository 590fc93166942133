import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/apiContext.tsx';
import { bodyOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { codeText } from '../../codes/codeText.ts';
import { FormError } from '../../components/FormError.tsx';
import { handleSubmit } from '../../components/handleSubmit.ts';
import { textsIn } from '../../texts.ts';
import { REASONS, type Reason } from './reviewData.ts';

type Rules =
  paths['/v1/projects/{projectId}']['get']['responses'][200]['content']['application/json']['reviewRules'];

const ALL = 100;
/** What a person can look at, where the rule holds for any conversation. */
const BY_CHANCE = 2;

const texts = textsIn({
  en: {
    about: 'Which conversations wait for a person. A rule holds for those that end from now on.',
    percent: (reason: string) => `${reason}: share in percent`,
    save: 'Save the rules',
    saved: 'The rules are saved.',
  },
  'zh-TW': {
    about: '哪些對話需要有人審查。規則適用於之後結束的對話。',
    percent: (reason: string) => `${reason}：比例（%）`,
    save: '儲存規則',
    saved: '規則已儲存。',
  },
});

/** What is queued by itself. */
export function ReviewRules({ projectId, mayWrite }: { projectId: string; mayWrite: boolean }) {
  const api = useApi();
  const { data: project } = useQuery({
    queryKey: ['project', projectId],
    queryFn: () => bodyOf(api.GET('/v1/projects/{projectId}', { params: { path: { projectId } } })),
  });
  if (!project) return null;
  return <RulesForm projectId={projectId} rules={project.reviewRules} mayWrite={mayWrite} />;
}

function RulesForm({ projectId, rules, mayWrite }: { projectId: string; rules: Rules; mayWrite: boolean }) {
  const api = useApi();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<ReadonlyMap<Reason, string | number>>(
    () => new Map(rules.map(({ when, percent = ALL }) => [when, percent])),
  );
  const save = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/v1/projects/{projectId}', {
          params: { path: { projectId } },
          body: { reviewRules: [...chosen].map(([when, percent]) => ({ when, percent: Number(percent) })) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  });
  const set = (reason: Reason, percent: string | number | undefined) => {
    const next = new Map(chosen);
    if (percent === undefined) next.delete(reason);
    else next.set(reason, percent);
    setChosen(next);
  };
  return (
    <Stack component="form" onSubmit={handleSubmit(() => save.mutate())} maw={560}>
      <Text size="sm" c="dimmed">
        {texts.about}
      </Text>
      {REASONS.map((reason) => {
        const percent = chosen.get(reason);
        return (
          <Group key={reason} justify="space-between" mih={36}>
            <Checkbox
              label={codeText('reviewReason', reason)}
              checked={percent !== undefined}
              disabled={!mayWrite}
              onChange={(event) =>
                set(reason, event.currentTarget.checked ? (reason === 'random' ? BY_CHANCE : ALL) : undefined)
              }
            />
            {percent !== undefined && (
              <NumberInput
                aria-label={texts.percent(codeText('reviewReason', reason))}
                value={percent}
                min={0.01}
                max={ALL}
                suffix=" %"
                disabled={!mayWrite}
                required
                onChange={(value) => set(reason, value)}
                w={110}
              />
            )}
          </Group>
        );
      })}
      <FormError error={save.error} />
      {save.isSuccess && <Text role="status">{texts.saved}</Text>}
      {mayWrite && (
        <Group>
          <Button type="submit" loading={save.isPending}>
            {texts.save}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
