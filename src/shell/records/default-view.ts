import { documentedProfile } from '../../device/built-in-profiles.ts';
import { keyFieldOf } from '../../device/profile.ts';
import type { View } from '../output.ts';

/**
 * How the records of a resource are shown as long as no line said otherwise.
 *
 * @param recalled the columns of the last time
 */
export function defaultView(resource: string, recalled?: readonly string[]): View {
  return {
    resource,
    layout: 'table',
    ...(recalled !== undefined && { recalled }),
    key: keyFieldOf(documentedProfile, resource),
    fold: true,
    perDevice: documentedProfile.idFields,
  };
}
