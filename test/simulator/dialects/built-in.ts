import { authenticate } from '../../../src/simulator/authenticate.ts';
import { findDocumentedView } from '../../../src/simulator/documented.ts';
import type { StoredRecord } from './dialect-store.ts';
import { decodedPath, type View } from '../../../src/simulator/view.ts';
import {
  type Dialect,
  oneOf,
  PROFILE_NAMES,
  type ProfileName,
  type Site,
  tableOf,
  type Traits,
} from './site.ts';
import { findFormActionView, refuseForm } from './form-action.ts';
import { findRecord, shownRecord } from './identity.ts';
import { RESOURCES } from './resources.ts';
import { findRestView } from './rest.ts';
import { singleView } from './single.ts';

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
  documented: findDocumented,
  drf: findRestView,
  'generic-rest': findRestView,
  'form-action': findFormActionView,
};

/** The shipped API, with the single object `system`, and records as the dialect shows them. */
function findDocumented(site: Site, sent: string): View | undefined {
  const path = decodedPath(sent);
  const [users, system] = [tableOf(site, 'user'), tableOf(site, 'system')];
  if (system !== undefined && path === '/api/system/') return singleView(system);
  const view = findDocumentedView(site.store, sent);
  if (view === undefined || users === undefined || path === '/api/') return view;
  const shown = (record: StoredRecord) => site.dialect.shown(users, record);
  return {
    ...view,
    respond(request) {
      const outcome = view.respond(request);
      if (outcome.status >= 400 || outcome.value === undefined) return outcome;
      const value = outcome.value as StoredRecord | readonly StoredRecord[];
      return {
        ...outcome,
        value: Array.isArray(value) ? value.map(shown) : shown(value as StoredRecord),
      };
    },
  };
}

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
    login: ({ store }, request) => authenticate(store, request),
    refuse: profile === 'form-action' ? refuseForm : (_request, outcome) => outcome,
  };
}
