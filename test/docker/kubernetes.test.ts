import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';

import { settings } from '../../src/app/settings/settings.ts';

const folder = new URL('../../docker/kubernetes/', import.meta.url);
const files = readdirSync(folder).sort();
// biome-ignore lint/suspicious/noExplicitAny: manifests of several kinds
const manifests: any[] = files.flatMap((file) =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  }),
);
const ROLES = ['api', 'media', 'voice', 'worker'];
const VERSIONS: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
};

const of = (kind: string, name: string) => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};
const podOf = (role: string) => of('Deployment', `callway-${role}`).spec.template;
const containerOf = (role: string) => podOf(role).spec.containers[0];
const drainSeconds = Number(of('ConfigMap', 'callway').data.DRAIN_SECONDS);

test('there is one file per role, and each manifest has a known kind and version and a unique name', () => {
  expect(files).toEqual(['api.yaml', 'config.yaml', 'media.yaml', 'voice.yaml', 'worker.yaml']);
  expect(manifests.map(({ kind, apiVersion }) => [kind, apiVersion])).toEqual(
    manifests.map(({ kind }) => [kind, VERSIONS[kind]]),
  );
  const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(ROLES)('the role %s', (role) => {
  test('is set on its pods, and its budget and autoscaler select these pods', () => {
    const { spec } = of('Deployment', `callway-${role}`);
    expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
    expect(containerOf(role).env[0]).toEqual({ name: 'ROLES', value: role });
    expect(of('PodDisruptionBudget', `callway-${role}`).spec.selector).toEqual(spec.selector);
    expect(of('HorizontalPodAutoscaler', `callway-${role}`).spec.scaleTargetRef).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: `callway-${role}`,
    });
  });

  test('gets settings that exist', () => {
    const known = [...Object.keys(settings.shape), 'POD_IP'];
    const given = [
      ...containerOf(role).env.map(({ name }: { name: string }) => name),
      ...Object.keys(of('ConfigMap', 'callway').data),
    ];
    expect(given.filter((name: string) => !known.includes(name))).toEqual([]);
  });

  test('has time to drain, and liveness and readiness probes', () => {
    const { terminationGracePeriodSeconds } = podOf(role).spec;
    const { startupProbe, livenessProbe, readinessProbe, lifecycle, ports } = containerOf(role);
    const [, , script] = lifecycle.preStop.exec.command;
    const preStopSeconds = Number(/, (\d+)\)$/.exec(script)?.[1]) / 1000;
    expect(preStopSeconds).toBe(5);
    // The process itself ends remaining calls ten seconds after the drain time.
    expect(terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds + preStopSeconds + 10);
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
    expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
    expect(ports).toContainEqual({ name: 'http', containerPort: 3000 });
  });

  test('runs without unneeded privileges', () => {
    expect(podOf(role).spec.securityContext.runAsNonRoot).toBe(true);
    expect(containerOf(role).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
  });
});

test('calls and sessions drive the autoscalers, and scaling down drains', () => {
  const scaledBy = (role: string) =>
    of('HorizontalPodAutoscaler', `callway-${role}`).spec.metrics.map(
      (metric: { pods?: { metric: { name: string } } }) => metric.pods?.metric.name,
    );
  expect([scaledBy('media'), scaledBy('voice')]).toEqual([
    ['callway_calls_active'],
    ['callway_talks_active'],
  ]);
  for (const role of ['media', 'voice']) {
    const { policies } = of('HorizontalPodAutoscaler', `callway-${role}`).spec.behavior.scaleDown;
    expect(policies).toEqual([{ type: 'Pods', value: 1, periodSeconds: 300 }]);
  }
});

test('voice nodes register their URL, and media nodes are reachable by carriers', () => {
  expect(containerOf('voice').env).toContainEqual({ name: 'NODE_URL', value: 'http://$(POD_IP):3000' });
  expect(podOf('media').spec.hostNetwork).toBe(true);
  expect(containerOf('media').env.map(({ name }: { name: string }) => name)).toContain('PUBLIC_IP');
});

test('files shared between roles are in a bucket; a pod’s own folder is temporary', () => {
  expect(of('ConfigMap', 'callway').data.S3_BUCKET).toBeTruthy();
  for (const role of ROLES) {
    expect(containerOf(role).volumeMounts).toEqual([{ name: 'data', mountPath: '/data' }]);
    expect(podOf(role).spec.volumes).toEqual([{ name: 'data', emptyDir: {} }]);
  }
});

test('no manifest contains a secret', () => {
  expect(manifests.map(({ kind }) => kind)).not.toContain('Secret');
  for (const role of ROLES)
    expect(containerOf(role).envFrom).toContainEqual({ secretRef: { name: 'callway' } });
});
