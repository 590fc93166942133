import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../../api/apiContext.tsx';
import { bodyOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { FormError } from '../../../components/FormError.tsx';
import { handleSubmit } from '../../../components/handleSubmit.ts';
import { apiDocumentQuery, type JsonSchema, schemaAt } from '../../../schemaForm/jsonSchema.ts';
import { SchemaForm } from '../../../schemaForm/SchemaForm.tsx';
import { textsIn } from '../../../texts.ts';
import { errorsByPointer } from '../../agent/agentQueries.ts';
import { SessionFilterFields } from '../../sessions/SessionFilterFields.tsx';
import { readSessionFilters } from '../../sessions/sessionFilters.ts';
import { metricHelp, metricTexts } from '../insightData.ts';
import { ALERT_METRICS, type Alert, type AlertMetric, percentsOf } from './alertData.ts';

type NewAlert = components['schemas']['NewAlert'];
type Webhook = NonNullable<NewAlert['webhook']> | null;

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
    filter: 'Only of conversations with',
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
    filter: '只計算符合下列條件的對話',
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
  const { data: document } = useQuery(apiDocumentQuery);
  const [form, setForm] = useState<Form>(() => formOf(alert));
  const set = (change: Partial<Form>) => setForm((before) => ({ ...before, ...change }));
  const { metric } = form;
  const save = useMutation({
    mutationFn: () => {
      const body = bodyFrom(form);
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
  return (
    <Stack component="form" onSubmit={handleSubmit(() => save.mutate())}>
      <TextInput
        label={texts.name}
        value={form.name}
        maxLength={MAX_NAME_CHARACTERS}
        required
        data-autofocus
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <NativeSelect
        label={texts.metric}
        description={metricHelp[metric]}
        data={ALERT_METRICS.map((one) => ({ value: one, label: metricTexts[one] }))}
        value={metric}
        onChange={({ currentTarget }) =>
          set({ metric: ALERT_METRICS.find((one) => one === currentTarget.value) ?? metric })
        }
      />
      <Group grow>
        <NativeSelect
          label={texts.bound}
          data={(['below', 'above'] as const).map((one) => ({ value: one, label: texts.bounds[one] }))}
          value={form.bound}
          onChange={({ currentTarget }) =>
            set({ bound: currentTarget.value === 'above' ? 'above' : 'below' })
          }
        />
        <NumberInput
          label={texts.value}
          value={form.value}
          suffix={percentsOf(metric) === 100 ? ' %' : (UNITS[metric] ?? '')}
          required
          onChange={(value) => set({ value })}
        />
      </Group>
      <NumberInput
        label={texts.windowMinutes}
        value={form.windowMinutes}
        min={1}
        max={1_440}
        allowDecimal={false}
        required
        onChange={(windowMinutes) => set({ windowMinutes })}
      />
      <NumberInput
        label={texts.minCount}
        description={texts.minCountHelp}
        value={form.minCount}
        min={0}
        allowDecimal={false}
        required
        onChange={(minCount) => set({ minCount })}
      />
      <Fieldset legend={texts.filter}>
        <Group gap="sm" align="flex-end">
          <SessionFilterFields
            projectId={projectId}
            value={form.filter}
            onChange={(change) => set({ filter: { ...form.filter, ...change } })}
          />
        </Group>
      </Fieldset>
      {document !== undefined && (
        <SchemaForm
          schema={webhookSchema(document)}
          document={document}
          value={{ webhook: form.webhook }}
          errors={errorsByPointer(save.error)}
          onChange={({ webhook }) => set({ webhook: webhook as Webhook })}
        />
      )}
      <Checkbox
        label={texts.enabled}
        checked={form.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.checked })}
      />
      <FormError error={save.error} />
      <Button type="submit" loading={save.isPending}>
        {texts.save}
      </Button>
    </Stack>
  );
}

function formOf(alert: Alert | null) {
  return {
    name: alert?.name ?? '',
    metric: alert?.metric ?? ('success' as AlertMetric),
    bound: alert?.above === undefined ? ('below' as const) : ('above' as const),
    value: (alert ? enteredBound(alert) : 80) as string | number,
    windowMinutes: (alert?.windowMinutes ?? 60) as string | number,
    minCount: (alert?.minCount ?? 20) as string | number,
    filter: readSessionFilters(alert?.filter ?? {}),
    webhook: (alert?.webhook ?? null) as Webhook,
    enabled: alert?.enabled ?? true,
  };
}
type Form = Omit<ReturnType<typeof formOf>, 'bound'> & { readonly bound: 'above' | 'below' };

function bodyFrom({ bound, value, ...form }: Form) {
  return {
    ...form,
    name: form.name.trim(),
    [bound]: Number(value) / percentsOf(form.metric),
    windowMinutes: Number(form.windowMinutes),
    minCount: Number(form.minCount),
    filter: form.filter as NewAlert['filter'],
  };
}

/** Of a form with the webhook alone. */
function webhookSchema(document: unknown): JsonSchema {
  const { webhook = {} } = schemaAt(document, '#/components/schemas/NewAlert').properties ?? {};
  return { type: 'object', properties: { webhook } };
}

/** As a person enters it, without the digits that a product of floating-point numbers has too many. */
function enteredBound({ above, below, metric }: Alert): number {
  return Number(((above ?? below ?? 0) * percentsOf(metric)).toPrecision(12));
}
