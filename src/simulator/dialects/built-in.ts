import { authenticate } from './authenticate.ts';
import { type Dialect, oneOf, PROFILE_NAMES, type ProfileName, type Traits } from './dialect.ts';
import { findDocumentedView } from './documented.ts';
import { findFormActionView, refuseForm } from './form-action.ts';
import { findRecord, shownRecord } from './identity.ts';
import { RESOURCES } from './resources.ts';
import { findRestView } from './rest.ts';

const DJANGO: Traits = {
  id: 'uuid',
  endsWithSlash: true,
  hasOptions: true,
  encodings: ['json', 'form'],
  trims: true,
  replaces: false,
};

/** A minimal server. */
const BARE = { hasOptions: false, trims: false, replaces: false };

const TRAITS: Readonly<Record<ProfileName, Traits>> = {
  documented: { ...DJANGO, encodings: ['form'] },
  drf: DJANGO,
  'generic-rest': { ...BARE, id: 'id', endsWithSlash: false, encodings: ['json'] },
  'form-action': { ...BARE, id: undefined, endsWithSlash: true, encodings: ['form'] },
};

const FIND_VIEW: Readonly<Record<ProfileName, Dialect['findView']>> = {
  documented: findDocumentedView,
  drf: findRestView,
  'generic-rest': findRestView,
  'form-action': findFormActionView,
};

/** @throws SimulatorError for an unknown name */
export function createDialect(name: string = 'documented'): Dialect {
  const profile = oneOf('profile', PROFILE_NAMES, name);
  return {
    profile,
    traits: TRAITS[profile],
    resources: RESOURCES[profile],
    shown: shownRecord,
    find: findRecord,
    findView: FIND_VIEW[profile],
    login: authenticate,
    refuse: profile === 'form-action' ? refuseForm : (_request, outcome) => outcome,
  };
}
