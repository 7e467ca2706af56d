import { documentedProfile } from '../device/built-in-profiles.ts';
import { keyFieldOf } from '../device/profile.ts';
import type { View } from './output.ts';

/** How the records of a resource are shown as long as no line said otherwise. */
export function defaultView(resource: string): View {
  return {
    resource,
    layout: 'table',
    key: keyFieldOf(documentedProfile, resource),
    fold: true,
    perDevice: documentedProfile.idFields,
  };
}
