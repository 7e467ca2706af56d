import type { Case } from './cases.ts';
import type { Field, Model } from './model-device.ts';

/** The smallest cases in which devsh once said what was not so. */
const DOCUMENTED: readonly Field[] = [
  { name: 'first_name', kind: 'text', access: 'open' },
  { name: 'lastname', kind: 'text', access: 'open' },
  { name: 'lang', kind: 'text', access: 'open' },
];
const BLUE = { first_name: 'blue', lastname: 'blue', lang: 'de' };
const EVERY: Omit<Case, 'model' | 'devices' | 'lines'> = {
  isConfigured: false,
  isJson: true,
  allowsLoss: false,
};

function model(given: Pick<Model, 'way' | 'leftOut' | 'tells'>, ...fields: Field[]): Model {
  return { ...given, idField: 'uuid', fields: [...DOCUMENTED, ...fields] };
}

export const FOUND: readonly (readonly [title: string, found: Case])[] = [
  [
    'a part of a nested field that the record lacks',
    {
      ...EVERY,
      model: model(
        { way: 'form POST', leftOut: 'erased', tells: 'methods' },
        { name: 'limits', kind: 'nested', access: 'open' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE },
            { username: 'cyd', ...BLUE },
          ],
        },
      ],
      lines: [{ kind: 'set', key: 'ann', typed: { 'limits.zone': 'c' } }],
    },
  ],
  [
    'a field that is taken and never shown, and then lost with its record',
    {
      ...EVERY,
      isJson: false,
      model: model(
        { way: 'form POST', leftOut: 'erased', tells: 'nothing' },
        { name: 'verbose', kind: 'flag', access: 'hidden' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'bob', ...BLUE, verbose: false },
            { username: 'ann', ...BLUE, verbose: false },
          ],
        },
      ],
      lines: [
        { kind: 'set where', lang: 'de', typed: { verbose: 'true' } },
        { kind: 'delete', key: 'ann' },
      ],
    },
  ],
  [
    'a password that a write has erased, and its undo',
    {
      ...EVERY,
      isJson: false,
      model: model(
        { way: 'JSON POST', leftOut: 'erased', tells: 'fields' },
        { name: 'verbose', kind: 'flag', access: 'hidden' },
        { name: 'password', kind: 'text', access: 'open' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'dan', ...BLUE, verbose: false, password: 'pw1' },
            { username: 'ann', ...BLUE, verbose: false, password: 'pw1' },
          ],
        },
      ],
      lines: [{ kind: 'set', key: 'ann', typed: { verbose: 'true' } }, { kind: 'undo' }],
    },
  ],
  [
    'an undocumented field that no record shows',
    {
      ...EVERY,
      model: model(
        { way: 'form POST', leftOut: 'kept', tells: 'methods' },
        { name: 'quota', kind: 'number', access: 'hidden' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE, quota: 0 },
            { username: 'dan', ...BLUE, quota: 0 },
          ],
        },
      ],
      lines: [
        { kind: 'set', key: 'ann', typed: { quota: '3' } },
        { kind: 'add', key: 'ann', typed: { quota: '3' } },
      ],
    },
  ],
  [
    'the empty text of an undocumented field that no record shows',
    {
      ...EVERY,
      model: model(
        { way: 'JSON POST', leftOut: 'erased', tells: 'nothing' },
        { name: 'login_shell', kind: 'text', access: 'hidden' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE, login_shell: 'blue' },
            { username: 'dan', ...BLUE, login_shell: 'blue' },
          ],
        },
      ],
      lines: [{ kind: 'set', key: 'ann', typed: { login_shell: '' } }],
    },
  ],
  [
    'a field that no record shows, sent while the device erased another one',
    {
      ...EVERY,
      model: model(
        { way: 'JSON POST', leftOut: 'erased', tells: 'nothing' },
        { name: 'verbose', kind: 'flag', access: 'hidden' },
        { name: 'password', kind: 'text', access: 'masked' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE, verbose: false, password: 'pw1' },
            { username: 'dan', ...BLUE, verbose: false, password: 'pw1' },
          ],
        },
      ],
      lines: [
        { kind: 'set', key: 'ann', typed: { verbose: 'true' } },
        { kind: 'delete', key: 'ann' },
      ],
    },
  ],
  [
    'a described field that no record shows, after it was sent empty',
    {
      ...EVERY,
      model: model(
        { way: 'JSON POST', leftOut: 'erased', tells: 'fields' },
        { name: 'password', kind: 'text', access: 'open' },
        { name: 'login_shell', kind: 'text', access: 'hidden' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE, password: 'pw1', login_shell: 'blue' },
            { username: 'bob', ...BLUE, password: 'pw1', login_shell: 'blue' },
          ],
        },
      ],
      lines: [
        { kind: 'add', key: 'fay', typed: { login_shell: '' } },
        { kind: 'delete', key: 'ann' },
      ],
    },
  ],
  [
    'the undo of a write that may have erased what nobody shows',
    {
      ...EVERY,
      model: model(
        { way: 'JSON PUT', leftOut: 'erased', tells: 'nothing' },
        { name: 'quota', kind: 'number', access: 'hidden' },
        { name: 'password', kind: 'text', access: 'hidden' },
      ),
      devices: [
        {
          presence: 'here',
          records: [
            { username: 'ann', ...BLUE, quota: 1, password: 'pw1' },
            { username: 'cyd', ...BLUE, quota: 0, password: 'pw1' },
          ],
        },
      ],
      lines: [
        { kind: 'add', key: 'eve', typed: { quota: '3' } },
        { kind: 'set', key: 'ann', typed: { password: 'pw3' } },
        { kind: 'undo' },
      ],
    },
  ],
];
