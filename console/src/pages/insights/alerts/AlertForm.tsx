import { Button, Checkbox, Group, NativeSelect, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';

import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import { textsIn } from '../../../texts.ts';
import { metricHelp, metricTexts } from '../insightData.ts';
import { ALERT_METRICS, type Alert, type AlertMetric, percentsOf } from './alertData.ts';

const MAX_NAME_CHARACTERS = 128;

const texts = textsIn({
  en: {
    name: 'Name',
    metric: 'Metric',
    bound: 'Fires',
    bounds: { above: 'above', below: 'below' },
    value: 'Bound',
    windowMinutes: 'Within the last minutes',
    minCount: 'Only from conversations, calls or turns',
    minCountHelp: 'With a few, chance alone moves a share by tens of points.',
    webhook: 'Webhook (optional)',
    webhookHelp: 'Gets the events, signed like event webhooks.',
    enabled: 'Is looked at',
    save: 'Save the alert',
  },
  'zh-TW': {
    name: '名稱',
    metric: '指標',
    bound: '觸發於',
    bounds: { above: '高於', below: '低於' },
    value: '界限',
    windowMinutes: '最近多少分鐘',
    minCount: '至少多少段對話、通話或輪次',
    minCountHelp: '數量少時，比率會因偶然而變動數十個百分點。',
    webhook: 'Webhook（選填）',
    webhookHelp: '接收事件，簽章方式與事件 webhook 相同。',
    enabled: '啟用檢查',
    save: '儲存警示',
  },
});

/** Milliseconds of the API. */
const UNITS: Readonly<Partial<Record<AlertMetric, string>>> = { latencyP95: ' ms', duration: ' ms' };

interface AlertFormProps {
  readonly projectId: string;
  /** Null for a new one. */
  readonly alert: Alert | null;
  onSaved(): void;
}

export function AlertForm({ projectId, alert, onSaved }: AlertFormProps) {
  const api = useApi();
  const queries = useQueryClient();
  const [name, setName] = useState(alert?.name ?? '');
  const [metric, setMetric] = useState<AlertMetric>(alert?.metric ?? 'success');
  const [bound, setBound] = useState<'above' | 'below'>(alert?.above === undefined ? 'below' : 'above');
  const [value, setValue] = useState<string | number>(alert ? enteredBound(alert) : 80);
  const [windowMinutes, setWindowMinutes] = useState<string | number>(alert?.windowMinutes ?? 60);
  const [minCount, setMinCount] = useState<string | number>(alert?.minCount ?? 20);
  const [url, setUrl] = useState(alert?.webhook?.url ?? '');
  const [enabled, setEnabled] = useState(alert?.enabled ?? true);
  const headers = alert?.webhook?.headers ?? [];
  const save = useMutation({
    mutationFn: () => {
      const webhook = url.trim() === '' ? null : { url: url.trim(), headers: headers.flatMap(knownHeader) };
      const body = {
        name: name.trim(),
        metric,
        [bound]: Number(value) / percentsOf(metric),
        windowMinutes: Number(windowMinutes),
        minCount: Number(minCount),
        // It stays as it is where nothing of it is sent.
        ...(url.trim() === (alert?.webhook?.url ?? '') ? {} : { webhook }),
        enabled,
      };
      return alert
        ? bodyOf(
            api.PATCH('/v1/projects/{projectId}/alerts/{alertId}', {
              params: { path: { projectId, alertId: alert.id } },
              body,
            }),
          )
        : bodyOf(api.POST('/v1/projects/{projectId}/alerts', { params: { path: { projectId } }, body }));
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['alerts', projectId] });
      onSaved();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <TextInput
        label={texts.name}
        value={name}
        maxLength={MAX_NAME_CHARACTERS}
        required
        data-autofocus
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label={texts.metric}
        description={metricHelp[metric]}
        data={ALERT_METRICS.map((one) => ({ value: one, label: metricTexts[one] }))}
        value={metric}
        onChange={({ currentTarget }) =>
          setMetric(ALERT_METRICS.find((one) => one === currentTarget.value) ?? metric)
        }
      />
      <Group grow>
        <NativeSelect
          label={texts.bound}
          data={(['below', 'above'] as const).map((one) => ({ value: one, label: texts.bounds[one] }))}
          value={bound}
          onChange={({ currentTarget }) => setBound(currentTarget.value === 'above' ? 'above' : 'below')}
        />
        <NumberInput
          label={texts.value}
          value={value}
          suffix={percentsOf(metric) === 100 ? ' %' : (UNITS[metric] ?? '')}
          required
          onChange={setValue}
        />
      </Group>
      <NumberInput
        label={texts.windowMinutes}
        value={windowMinutes}
        min={1}
        max={1_440}
        allowDecimal={false}
        required
        onChange={setWindowMinutes}
      />
      <NumberInput
        label={texts.minCount}
        description={texts.minCountHelp}
        value={minCount}
        min={0}
        allowDecimal={false}
        required
        onChange={setMinCount}
      />
      <TextInput
        label={texts.webhook}
        description={texts.webhookHelp}
        type="url"
        value={url}
        // Another address could not have the headers whose values are not shown.
        readOnly={headers.some(({ value: shown }) => shown === null)}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Checkbox
        label={texts.enabled}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
      {save.error && (
        <Text c="var(--mantine-color-error)" size="sm" role="alert">
          {save.error.message}
        </Text>
      )}
      <Button type="submit" loading={save.isPending}>
        {texts.save}
      </Button>
    </Stack>
  );
}

/** As a person enters it, without the digits that a product of floating-point numbers has too many. */
function enteredBound({ above, below, metric }: Alert): number {
  return Number(((above ?? below ?? 0) * percentsOf(metric)).toPrecision(12));
}

function knownHeader({ key, value }: { readonly key: string; readonly value: string | null }) {
  return value === null ? [] : [{ key, value }];
}
