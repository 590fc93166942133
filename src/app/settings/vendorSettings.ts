import { z } from 'zod';
import { RECOGNITION_PROVIDERS, recognitionVendor, VENDORS } from '../../vendors/registry.ts';
import { httpUrl } from './formats.ts';

type Vendors = typeof VENDORS;
/** The vendors whose settings are a key and an address. */
type ServiceName = {
  [Name in keyof Vendors]: Vendors[Name] extends { service: unknown } ? Name : never;
}[keyof Vendors];
type KeyName = `${Uppercase<ServiceName>}_API_KEY`;
type VendorSettings = Record<KeyName, z.ZodOptional<z.ZodString>> &
  Record<`${Uppercase<ServiceName>}_BASE_URL`, z.ZodOptional<ReturnType<typeof httpUrl>>>;

const services = Object.entries(VENDORS).flatMap(([name, vendor]) =>
  'service' in vendor ? [{ prefix: name.toUpperCase(), ...vendor.service }] : [],
);

/** `NAME_API_KEY` and `NAME_BASE_URL` of each vendor of speech that is a service. */
export const vendorSettings = Object.fromEntries(
  services.flatMap(({ prefix, name, baseUrl }) => [
    [`${prefix}_API_KEY`, z.string().optional().describe(`API key of ${name}.`)],
    [`${prefix}_BASE_URL`, httpUrl().optional().describe(`Base URL of ${name}; default \`${baseUrl}\`.`)],
  ]),
) as VendorSettings;

export const vendorKeys = services.map(({ prefix }) => `${prefix}_API_KEY` as KeyName);

/** The default models of the vendors that tell them, for a setting's description. */
export function defaultRecognitionModels(): string {
  const or = new Intl.ListFormat('en', { type: 'disjunction' });
  return RECOGNITION_PROVIDERS.flatMap((name) => {
    const { models } = recognitionVendor(name);
    return models ? [`${or.format(models.map((model) => `\`${model}\``))} for \`${name}\``] : [];
  }).join(', ');
}
