/*
 * What shows that devices need a fact of profiles: the profiles of this package that state it, otherwise a product or a
 * page of its vendor. A fact with neither does not belong into the schema.
 */

/** Run on the products themselves, in `test/real`: each verb is compared with what the product holds. */
const RUN: readonly string[] = [
  'django',
  'json-server',
  'rabbitmq',
  'icinga',
  'powerdns',
  'syncthing',
];

const PAGES = {
  'Aruba OS-CX':
    'https://techhub.hpe.com/eginfolib/Aruba/OS-CX_10.03/5200-5967/GUID-44129D1F-7F88-4C7F-8351-C6442B91A024.html',
  'Cisco FMC':
    'https://www.cisco.com/c/en/us/support/docs/security/firepower-management-center/215918-how-to-generate-authentication-token-for.html',
  'Django REST Framework': 'https://www.django-rest-framework.org/api-guide/fields/',
  'DRF metadata': 'https://www.django-rest-framework.org/api-guide/metadata/',
  'dj-rest-auth': 'https://github.com/iMerica/dj-rest-auth/blob/3.0.0/docs/api_endpoints.rst',
  'Extreme SLX-OS':
    'https://documentation.extremenetworks.com/slxos/sw/20xx/20.2.1a/restapi/GUID-029F54B5-E4AB-4766-BBEA-EC50D1AB9DF4.shtml',
  FortiOS:
    'https://docs.ansible.com/ansible/latest/collections/fortinet/fortios/fortios_user_local_module.html',
  Gogs: 'https://gogs.io/api-reference/users/create-an-access-token',
  Ivanti:
    'https://help.ivanti.com/ch/help/en_US/CSM/10.4/documentation_bundle/system_administration/rest_api/csm_rest_oauth2_internal_authentication.html',
  'Lenovo SMM3': 'https://pubs.lenovo.com/smm3-restapi/properties_account_service',
  Omada: 'https://community.tp-link.com/en/business/forum/topic/857254',
  Okta: 'https://developer.okta.com/docs/api/openapi/okta-management/management/tag/User/',
  OneFS: 'https://docs.rs/crate/isilon/1.0.1/source/docs/UserChangePassword.md',
  ONTAP:
    'https://docs.netapp.com/us-en/ontap-restapi-9111/post-security-authentication-password.html',
  OPNsense: 'https://docs.opnsense.org/development/api.html',
  pfSense: 'https://pfrest.org/',
  PowerDNS: 'https://doc.powerdns.com/authoritative/http-api/zone.html',
  'PowerDNS TSIG keys': 'https://doc.powerdns.com/authoritative/http-api/tsigkey.html',
  'Proxmox VE': 'https://pve.proxmox.com/wiki/Proxmox_VE_API',
  RabbitMQ: 'https://www.rabbitmq.com/docs/http-api-reference',
  Redfish: 'https://www.dmtf.org/standards/redfish',
  TrueNAS: 'https://api.truenas.com/v25.04.1/api_methods_user.set_password.html',
} as const;

type Source = keyof typeof PAGES | 'the API document' | 'learned' | 'safety';

/** Facts that no profile states; of those that one states, whether devsh learns them. */
export const EVIDENCE: Readonly<Record<string, readonly Source[]>> = {
  'auth.login.encoding': ['Cisco FMC', 'Proxmox VE'],
  accounts: ['Redfish'],
  public: ['safety'],
  ids: ['pfSense', 'learned'],
  success_if: ['Omada'],
  offers: ['learned'],
  effects: ['learned'],
  'resources.NAME.single': ['learned'],
  'resources.NAME.named_by': ['learned'],
  'resources.NAME.fields': ['learned'],
  'resources.NAME.options': ['learned'],
  'resources.NAME.parent': ['RabbitMQ'],
  'resources.NAME.disabled_as': ['FortiOS'],
  'resources.NAME.rotate.path': ['TrueNAS', 'ONTAP'],
  'resources.NAME.rotate.fields': ['TrueNAS', 'dj-rest-auth'],
  'resources.NAME.rotate_token.path': ['Gogs'],
  'resources.NAME.rotate_token.answer': ['Gogs'],
  'resources.NAME.rotate_token.constants': ['Gogs'],
  'resources.NAME.deleted_as': ['Okta'],
  'list.post': ['OPNsense'],
  'list.summary': ['learned'],
  'list.hides': ['learned'],
  'list.detail': ['pfSense', 'learned'],
  'create.lists': ['Django REST Framework', 'learned'],
  'create.null_as': ['Django REST Framework', 'learned'],
};

/** Throws for a fact that nothing needs, and for evidence beside that of the profiles. */
export function factEvidence(fact: string, profiles: readonly string[]): string {
  const sources = EVIDENCE[fact] ?? [];
  const others = sources.filter((source) => source !== 'learned');
  if (profiles.length === 0 ? sources.length === 0 : others.length > 0) {
    throw new Error(
      `${fact} must be in a profile, or have its evidence in fact-evidence.ts, not both`,
    );
  }
  const run = RUN.filter((name) => profiles.includes(name));
  const written = profiles.filter((name) => !run.includes(name));
  const named = [
    ...run.map((name) => `\`${name}\` (run)`),
    ...written.slice(0, Math.max(0, 3 - run.length)).map((name) => `\`${name}\``),
  ];
  const more = profiles.length - named.length;
  const shown = sources.map((source) => (source in PAGES ? linkTo(source) : source));
  return [
    ...(named.length === 0 ? [] : [named.join(', ') + (more === 0 ? '' : ` +${more}`)]),
    ...shown,
  ].join(', ');
}

function linkTo(source: Source): string {
  return `[${source}](${PAGES[source as keyof typeof PAGES]})`;
}
