import { LANGUAGES, type Store, type User } from './store.ts';

/** Texts per field, as in the body of a 400. */
export type FormErrors = Readonly<Record<string, readonly string[]>>;

/** What a POST asks for. */
export type UserForm =
  | { readonly kind: 'create'; readonly fields: Omit<User, 'uuid'> }
  | { readonly kind: 'update'; readonly user: User }
  | { readonly kind: 'unknown-uuid' }
  | { readonly kind: 'invalid'; readonly errors: FormErrors };

const FIELDS = ['uuid', 'first_name', 'lastname', 'username', 'lang'] as const;
const MAX_LENGTH = 150;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const USERNAME = /^[\p{L}\p{N}_.@+-]+$/u;

/** Reads a form strictly: all five fields, every wrong one named. Unknown fields are ignored. */
export function readUserForm(body: string, store: Store): UserForm {
  const form = new URLSearchParams(body);
  // The last of a repeated field counts, and text is trimmed, as in Django.
  const text = (field: string): string => form.getAll(field).at(-1)?.trim() ?? '';
  const fields = {
    first_name: text('first_name'),
    lastname: text('lastname'),
    username: text('username'),
    lang: form.getAll('lang').at(-1) ?? '',
  };
  const isNew = text('uuid') === 'null';
  const uuid = text('uuid').toLowerCase();
  if (!isNew && UUID.test(uuid) && store.get(uuid) === undefined) return { kind: 'unknown-uuid' };

  const errors: Record<string, string[]> = {};
  for (const field of FIELDS) {
    const found = form.has(field)
      ? problems(field, field === 'uuid' ? text('uuid') : fields[field])
      : ['This field is required.'];
    if (found.length > 0) errors[field] = found;
  }
  const holder = store.named(fields.username);
  if (errors.username === undefined && holder !== undefined && (isNew || holder.uuid !== uuid)) {
    errors.username = ['A user with that username already exists.'];
  }
  if (Object.keys(errors).length > 0) return { kind: 'invalid', errors };
  return isNew ? { kind: 'create', fields } : { kind: 'update', user: { uuid, ...fields } };
}

function problems(field: (typeof FIELDS)[number], value: string): string[] {
  switch (field) {
    case 'uuid':
      return value === 'null' || UUID.test(value) ? [] : ['Must be a valid UUID.'];
    case 'lang':
      return LANGUAGES.some((lang) => lang === value) ? [] : [`"${value}" is not a valid choice.`];
    case 'username':
      if (value === '') return ['This field may not be blank.'];
      return USERNAME.test(value)
        ? textProblems(value)
        : [
            'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
            ...textProblems(value),
          ];
    case 'first_name':
    case 'lastname':
      return textProblems(value);
  }
}

function textProblems(value: string): string[] {
  return [
    ...(value.includes('\0') ? ['Null characters are not allowed.'] : []),
    ...(Array.from(value).length > MAX_LENGTH
      ? [`Ensure this field has no more than ${MAX_LENGTH} characters.`]
      : []),
  ];
}
